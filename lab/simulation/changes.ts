import type { KubeObject } from '../../runtime/kube/objects.ts';
import { GROUP } from '../../runtime/api/shadow/names.ts';

/** Book-keeping of the API server, which says nothing. */
const BOOKS = /^metadata\.(resourceVersion|managedFields|generation|uid|creationTimestamp)\b/;
/** What is written again and again to say that somebody is alive. */
const HEARTBEAT = /(renewTime|lastHeartbeatTime|lastTransitionTime)$/;
const MOST_SHOWN = 8;
const LONGEST = 400;

/** What differs between two versions of an object, one short text for each field; empty where nothing of interest does. */
export function changesBetween(before: KubeObject | undefined, after: KubeObject | undefined): readonly string[] {
  const [old, now] = [leaves(before), leaves(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter(
    (path) => !BOOKS.test(path) && old.get(path) !== now.get(path),
  );
  if (paths.every((path) => HEARTBEAT.test(path))) return [];
  const shown = paths
    .filter((path) => !HEARTBEAT.test(path))
    .map((path) => `${short(path)}: ${shownValue(now.get(path))}`);
  const more = shown.length - MOST_SHOWN;
  return more > 0 ? [...shown.slice(0, MOST_SHOWN), `and ${more} more`] : shown;
}

const short = (path: string): string => path.replace(/^metadata\./, '').replaceAll(`${GROUP}/`, '');

function shownValue(value: string | undefined): string {
  if (value === undefined) return 'gone';
  return value.length > LONGEST ? `${value.slice(0, LONGEST)}...` : value;
}

/** Every leaf by its path; what is null is as good as absent. */
function leaves(object: unknown): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (value === null || value === undefined) return;
    if (typeof value !== 'object') found.set(path, typeof value === 'string' ? value : JSON.stringify(value));
    else
      for (const [key, part] of Object.entries(value))
        walk(part, path === '' ? key : `${path}.${keyOf(value, key, part)}`);
  };
  walk(object, '');
  return found;
}

/** Members of lists are told by their type or name, where they have one, as conditions and containers do. */
function keyOf(list: object, key: string, part: unknown): string {
  if (!Array.isArray(list) || typeof part !== 'object' || part === null) return key;
  const { type, name } = part as { readonly type?: unknown; readonly name?: unknown };
  const id = type ?? name;
  return typeof id === 'string' ? id : key;
}
