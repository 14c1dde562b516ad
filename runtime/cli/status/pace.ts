import { VERDICTS } from '../../controller/plan/facts/reasons.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { concurrency } from '../../api/policy/quantity.ts';
import type { Inspection } from '../inspect.ts';
import type { Member } from './members.ts';

/** The speed of the rollout, and its estimated end. */
export interface Pace {
  /** Updates that were finished within the last hour. */
  readonly finishedLastHour: number;
  /** Median duration of the nodes' last updates, milliseconds; undefined where none is known. */
  readonly typicalMs: number | undefined;
  /** Nodes that are being updated, or will start by themselves. */
  readonly left: number;
  /** Nodes with an update that a person must act on before it goes on. */
  readonly stuck: number;
  /** Milliseconds since the Unix epoch; undefined where it cannot be estimated. */
  readonly endsAt: number | undefined;
}

export function paceOf(members: readonly Member[], { snapshot, plan, noLeader, now }: Inspection): Pace {
  const finished = members.filter(({ info }) => (info.shadow?.finishedAt ?? -Infinity) > now - HOUR_MS);
  const ahead = members.filter(isAhead);
  const left = ahead.filter(goesByItself);
  const typicalMs = medianOf(members.flatMap(({ info }) => info.shadow?.lastUpdateMs ?? []));
  const endsAt =
    typicalMs === undefined || noLeader ? undefined : endOf(left, { typicalMs, members, snapshot, plan, now });
  return { finishedLastHour: finished.length, typicalMs, left: left.length, stuck: ahead.length - left.length, endsAt };
}

const isAhead = ({ standing }: Member): boolean => !['upToDate', 'unreported'].includes(standing);

/** Time ends it, or it ends when other nodes are done. */
const goesByItself = ({ verdict }: Member): boolean => VERDICTS[verdict.reason].ends !== 'person';

/** The median; undefined for no durations. */
export function medianOf(durations: readonly number[]): number | undefined {
  return durations.toSorted((a, b) => a - b)[durations.length >> 1];
}

interface Known extends Pick<Inspection, 'snapshot' | 'plan' | 'now'> {
  readonly typicalMs: number;
  readonly members: readonly Member[];
}

/**
 * Each policy updates as many nodes at a time as its own budget and the fleet's budget allow. Windows, zones and proof are left out, so the
 * real end may be later.
 */
function endOf(left: readonly Member[], { typicalMs, members, snapshot, plan, now }: Known): number | undefined {
  if (left.length === 0) return undefined;
  const over = Math.max(1, plan.budget.capacity);
  const ruled = Map.groupBy(members, ({ verdict }) => verdict.policy);
  const ends = [...Map.groupBy(left, ({ verdict }) => verdict.policy)].map(([name, those]) => {
    const quantity = snapshot.policies.find(({ policy }) => policy.name === name);
    const own = quantity?.kind === 'valid' ? quantity.policy.maxConcurrent : undefined;
    const atOnce = own ? Math.min(over, concurrency(own, ruled.get(name)?.length ?? 0)) : 1;
    return beginOf(those, now) + Math.ceil(those.length / Math.max(1, atOnce)) * typicalMs;
  });
  return Math.max(...ends, now + Math.ceil(left.length / over) * typicalMs);
}

/** The earliest start: now, or the first time for which a node waits where all of them wait. */
function beginOf(members: readonly Member[], now: number): number {
  return Math.max(now, Math.min(...members.map(({ verdict }) => verdict.until ?? now)));
}
