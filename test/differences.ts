import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

export interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

export function objectsIn(file: string): KubeObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as KubeObject);
}

/**
 * A line for each place in which the second list of objects is another than the first. What holds of many objects in the same way is one
 * line that counts them; of an object that only one list has (`-` the first, `+` the second), its name is all that is told.
 */
export function differences(from: readonly KubeObject[], to: readonly KubeObject[]): string[] {
  const [before, after] = [byName(from), byName(to)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const found = names.flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === undefined || now === undefined) return [{ change: `${now ? '+' : '-'} ${name}`, of: '' }];
    return changes(leaves(old), leaves(now)).map((change) => ({ change, of: name }));
  });
  const objects = Map.groupBy(found, ({ change }) => change);
  return [...objects].map(([change, all]) => `${change}${ofWhom(all.map(({ of }) => of))}`);
}

const FEW = 3;

function ofWhom(names: readonly string[]): string {
  if (names[0] === '') return '';
  return `  (${names.length <= FEW ? names.join(', ') : `${names.length} objects`})`;
}

export const nameOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

function byName(objects: readonly KubeObject[]): Map<string, KubeObject> {
  return new Map(objects.map((object) => [nameOf(object), object]));
}

function changes(old: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path));
  return paths.map((path) => `${path}: ${old.get(path) ?? 'none'} -> ${now.get(path) ?? 'none'}`);
}

/** The values of an object by their paths; items of a list by their names, where they have any. */
function leaves(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[path, JSON.stringify(value)]]);
  const entries = Array.isArray(value)
    ? value.map((item: unknown, index) => named(item) ?? ([String(index), item] as const))
    : Object.entries(value);
  return new Map(entries.flatMap(([key, inner]) => Array.from(leaves(inner, path === '' ? key : `${path}.${key}`))));
}

/** An item that has a name, by it: its place says nothing. */
function named(item: unknown): readonly [name: string, rest: unknown] | undefined {
  if (typeof item !== 'object' || item === null || !('name' in item)) return undefined;
  const { name, ...rest } = item;
  return [String(name), Object.keys(rest).length === 0 ? true : rest];
}
