import { changesBetween } from './changes.ts';
import { isLasting } from './faults/catalogue.ts';
import type { Entry, HostEntry, Instant, RequestEntry, Violation, WriteEntry } from './types.ts';
import { HOUR } from './units.ts';

/** `+5:03:07.250`. */
export const timeOf = (at: Instant): string =>
  `+${Math.floor(at / HOUR)}:${new Date(at).toISOString().slice('2026-03-02T00:'.length, -1)}`;

/**
 * The last events before a violation: one line each, those about its node and about everybody, as far as they say anything. Before them stand
 * the faults that have begun earlier and last; what happens again and again is told once.
 */
export function timeline(history: readonly Entry[], violation: Violation, most: number): readonly string[] {
  const node = /\bnode-\d+\b/.exec(violation.what)?.[0];
  const concerned = history.filter(
    (entry) => !isOver(entry, violation) && (node === undefined || byKind(CONCERNS, entry, node)),
  );
  const { lines, before } = lastLines(concerned, most);
  const last = { at: violation.at, text: `VIOLATION of "${violation.invariant}": ${violation.what}`, times: 1 };
  return [...lasting(before), ...lines, last].map(lineOf);
}

/** The last entries that say anything, and those before them. */
function lastLines(
  history: readonly Entry[],
  most: number,
): { readonly lines: readonly Line[]; readonly before: readonly Entry[] } {
  const lines: Line[] = [];
  let left = history.length;
  while (left > 0 && lines.length < most) {
    left -= 1;
    const { at } = history[left]!;
    const text = told(history[left]!);
    const next = lines.at(-1);
    if (text !== undefined && next?.text === text) lines[lines.length - 1] = { at, text, times: next.times + 1 };
    else if (text !== undefined) lines.push({ at, text, times: 1 });
  }
  return { lines: lines.toReversed(), before: history.slice(0, left) };
}

interface Line {
  readonly at: Instant;
  readonly text: string;
  readonly times: number;
}

const lineOf = ({ at, text, times }: Line): string =>
  `${timeOf(at).padStart(13)}  ${text}${times === 1 ? '' : ` (${times} times)`}`;

/** A violation in the storm ends it: what ends with it says nothing. */
function isOver(entry: Entry, { at }: Violation): boolean {
  if (entry.at !== at) return entry.at > at;
  return entry.kind === 'calm' || (entry.kind === 'fault' && entry.phase === 'ends');
}

/** The faults that have begun and not ended. */
function lasting(history: readonly Entry[]): readonly Line[] {
  const begun = new Map<number, Of<'fault'>>();
  for (const entry of history) {
    if (entry.kind !== 'fault') continue;
    if (entry.phase === 'begins') begun.set(entry.id, entry);
    else begun.delete(entry.id);
  }
  return [...begun.values()]
    .filter(({ name }) => isLasting(name))
    .map((entry) => ({ at: entry.at, text: told(entry) ?? '', times: 1 }));
}

type Of<Kind extends Entry['kind']> = Extract<Entry, { readonly kind: Kind }>;
type ByKind<T> = { readonly [Kind in Entry['kind']]: (entry: Of<Kind>, node: string) => T };

const byKind = <T>(table: ByKind<T>, entry: Entry, node = ''): T =>
  (table[entry.kind] as (entry: Entry, node: string) => T)(entry, node);

/** Whether it is about the node, or about everybody: what happens to other nodes is left out. */
const CONCERNS: ByKind<boolean> = {
  host: (entry, node) => entry.node === node,
  process: ({ process }, node) => !process.includes('agent-') || names(process, node),
  request: ({ by, resource, name = '' }, node) => resource === 'leases' || names(name, node) || names(by, node),
  sent: () => false,
  asked: () => false,
  write: (entry, node) =>
    isAboutAll(entry) || names(entry.name, node) || names(entry.by, node) || podNode(entry) === node,
  fault: ({ about }, node) => !/\bnode-\d+\b/.test(about) || names(about, node),
  calm: () => true,
};

const isAboutAll = ({ resource }: WriteEntry): boolean =>
  resource === 'leases' || resource === 'namespaces' || resource === 'poddisruptionbudgets';

/** `brs-node-1` and `agent-node-1` name node-1, and node-12 does not. */
const names = (text: string, node: string): boolean => new RegExp(`\\b${node}\\b`).test(text);

function podNode({ resource, before, after }: WriteEntry): string | undefined {
  if (resource !== 'pods') return undefined;
  return ((after ?? before) as { readonly spec?: { readonly nodeName?: string } } | undefined)?.spec?.nodeName;
}

const TOLD: ByKind<string | undefined> = {
  write: (entry) => (entry.resource === 'events' ? undefined : toldWrite(entry)),
  request: (entry) => (entry.code < 400 ? undefined : toldRequest(entry)),
  sent: () => undefined,
  asked: () => undefined,
  host: (entry) => `${entry.node}: ${toldHost(entry)}`,
  fault: ({ id, name, about, phase }) => `${phase === 'begins' ? 'FAULT' : 'fault'} ${id} ${phase}: ${name}: ${about}`,
  process: ({ process, event, why }) => `${process} ${event}${why === undefined ? '' : `: ${why}`}`,
  calm: () => 'CALM: no fault is left',
};

/** Undefined for what says nothing: signs of life, and reads that were answered. */
export const told = (entry: Entry): string | undefined => byKind(TOLD, entry);

const objectOf = ({ resource, name, subresource }: Pick<RequestEntry, 'resource' | 'name' | 'subresource'>): string =>
  [resource, name, subresource].filter((part) => part !== undefined).join('/');

function toldWrite(entry: Of<'write'>): string | undefined {
  const { by, before, after, at, sentAt } = entry;
  const late = at - sentAt > 1000 ? ` (sent at ${timeOf(sentAt)})` : '';
  if (!after) return `${by} deletes ${objectOf(entry)}${late}`;
  const changes = changesBetween(before, after);
  if (before && changes.length === 0) return undefined;
  const shown = entry.resource === 'pods' && !before ? '' : `: ${changes.join(', ')}`;
  return `${by} ${before ? 'changes' : 'creates'} ${objectOf(entry)}${shown}${late}`;
}

const toldRequest = (entry: RequestEntry): string =>
  `${entry.by} is answered ${entry.code}: ${entry.verb} ${objectOf(entry)}`;

function toldHost({ event }: HostEntry): string {
  switch (event.kind) {
    case 'up':
      return `up with ${event.version}, boot ${event.bootId}`;
    case 'down':
      return event.asked ? 'down, as asked' : 'down, unasked';
    case 'settings':
      return `settings, by ${event.by}: version-lock ${event.lock}, ignore-waves ${event.ignoresWaves}`;
    case 'activation':
      return event.on ? 'boots another image next' : 'boots what it runs next';
    case 'call':
      return `host API: ${event.method} ${event.path}: ${event.status}`;
  }
  return '';
}
