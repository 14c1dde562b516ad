import { byWallClock, MINUTE_MS, type Moment } from '../../lib/clock.ts';
import { isCalledOff, isRefused, type Phase, phaseOf } from '../plan/facts/phase.ts';
import type { DrainRefusal, NodeView, ShadowView, Snapshot } from '../plan/facts/snapshot.ts';

/** The longest pause. Another try costs only a permit for a while, and nothing tells the controller that a budget was repaired. */
const LONGEST_PAUSE_MINUTES = 60;

/** Times are monotonic: setting the wall clock neither ends a pause nor prolongs it. */
type ObservedRefusal = {
  /** Its name. */
  readonly shadow: string;
  /** How often its update was called off. */
  readonly calledOff: number;
} & ({ readonly kind: 'refused'; readonly since: number } | { readonly kind: 'called-off'; readonly retryAt: number });

type ConcernedShadow = Pick<ShadowView, 'name' | 'uid' | 'spec' | 'status'>;

/**
 * Remembers since when a node's drain is refused, and until when a node is left alone whose update was called off for that (rule L8). A new
 * process starts to count again.
 */
export class DrainRefusals {
  /** By UID of the shadow. */
  #entries = new Map<string, ObservedRefusal>();

  /** To be called with each change of the cluster. @param now monotonic */
  observe(nodes: readonly NodeView[], shadows: readonly ConcernedShadow[], now: number): void {
    const before = this.#entries;
    this.#entries = new Map();
    const concerned = shadows.filter(({ uid, spec }) => spec.state === 'RebootedIntoUpdate' || before.has(uid));
    if (concerned.length === 0) return;
    const nodesByShadow = new Map(nodes.map((node) => [node.shadowName, node]));
    for (const shadow of concerned) {
      const node = nodesByShadow.get(shadow.name);
      const last = before.get(shadow.uid);
      const entry = node && entryOf(shadow.name, phaseOf(shadow, node), { node, before: last, now });
      if (entry) this.#entries.set(shadow.uid, entry);
    }
  }

  /** What a plan has to know, by name of the shadow. */
  view(moment: Moment): Snapshot['drainRefusals'] {
    return new Map([...this.#entries.values()].map((entry) => [entry.shadow, viewOf(entry, moment)]));
  }
}

interface Observed {
  readonly node: Pick<NodeView, 'marks'>;
  readonly before: ObservedRefusal | undefined;
  readonly now: number;
}

function entryOf(shadow: string, phase: Phase, { node, before, now }: Observed): ObservedRefusal | undefined {
  if (isRefused(phase)) {
    if (before?.kind === 'refused') return before;
    return { kind: 'refused', shadow, since: now, calledOff: before?.calledOff ?? 0 };
  }
  if (before?.kind === 'refused') return isCalledOff(phase) ? calledOffAt(now, before) : undefined;
  // A drain that has begun leaves marks.
  return node.marks ? undefined : before;
}

function calledOffAt(now: number, { shadow, calledOff: before }: ObservedRefusal): ObservedRefusal {
  const calledOff = before + 1;
  const pauseMs = Math.min(2 ** calledOff, LONGEST_PAUSE_MINUTES) * MINUTE_MS;
  return { kind: 'called-off', shadow, calledOff, retryAt: now + pauseMs };
}

function viewOf(entry: ObservedRefusal, moment: Moment): DrainRefusal {
  const { kind } = entry;
  return kind === 'refused'
    ? { kind, since: byWallClock(entry.since, moment) }
    : { kind, retryAt: byWallClock(entry.retryAt, moment) };
}
