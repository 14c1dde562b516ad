import type { Clock } from '../lib/clock.ts';
import { isCalledOff, isRefused } from './plan/machine.ts';
import type { DrainRefusal, NodeView, ShadowView, Snapshot } from './plan/snapshot.ts';

const MINUTE_MS = 60_000;
/** A drain that is refused costs no more than a place for a while, and nobody hears of a budget that was mended. */
const LONGEST_PAUSE_MINUTES = 60;

/** Times are monotonic: a wall clock that is set neither ends a pause nor makes a long one of it. */
type Entry = { readonly calledOff: number } & (
  { readonly kind: 'refused'; readonly since: number } | { readonly kind: 'called-off'; readonly retryAt: number }
);

/**
 * Remembers since when nodes are refused their drain, and how long those are left alone whose update was called off for that (rule L8). A new
 * process starts counting anew.
 */
export class RefusedDrains {
  readonly #clock: Clock;
  /** By UID of the shadow. */
  #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What a plan has to know, by name of the shadow. */
  view({ nodes, shadows }: Pick<Snapshot, 'nodes' | 'shadows'>): Snapshot['drainRefusals'] {
    const before = this.#entries;
    this.#entries = new Map();
    const concerned = shadows.filter(({ uid, spec }) => spec.state === 'RebootedIntoUpdate' || before.has(uid));
    if (concerned.length === 0) return new Map();
    const now = this.#clock.monotonic();
    const nodesByShadow = new Map(nodes.map((node) => [node.shadowName, node]));
    for (const shadow of concerned) {
      const entry = entryOf(shadow, {
        marks: nodesByShadow.get(shadow.name)?.marks,
        before: before.get(shadow.uid),
        now,
      });
      if (entry) this.#entries.set(shadow.uid, entry);
    }
    const ahead = this.#clock.now() - now;
    return new Map(concerned.flatMap(({ uid, name }) => told(name, this.#entries.get(uid), ahead)));
  }
}

interface Seen {
  readonly marks: NodeView['marks'];
  readonly before: Entry | undefined;
  readonly now: number;
}

function entryOf(shadow: ShadowView, { marks, before, now }: Seen): Entry | undefined {
  if (isRefused(shadow, marks)) return before?.kind === 'refused' ? before : refusedSince(now, before);
  if (before?.kind === 'refused') return isCalledOff(shadow) ? calledOffAt(now, before) : undefined;
  // A drain that has begun leaves marks.
  return marks ? undefined : before;
}

const refusedSince = (now: number, before: Entry | undefined): Entry => ({
  kind: 'refused',
  since: now,
  calledOff: before?.calledOff ?? 0,
});

function calledOffAt(now: number, before: Entry): Entry {
  const calledOff = before.calledOff + 1;
  return { kind: 'called-off', calledOff, retryAt: now + Math.min(2 ** calledOff, LONGEST_PAUSE_MINUTES) * MINUTE_MS };
}

function told(shadow: string, entry: Entry | undefined, ahead: number): [string, DrainRefusal][] {
  if (!entry) return [];
  const { kind } = entry;
  return [
    [shadow, kind === 'refused' ? { kind, since: entry.since + ahead } : { kind, retryAt: entry.retryAt + ahead }],
  ];
}
