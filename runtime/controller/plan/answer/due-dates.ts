import { HOUR_MS, instantOf } from '../../../lib/clock.ts';
import { countNodes } from '../facts/node.ts';
import { type Reason, traitsOf } from '../facts/reasons.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import { atTime } from '../facts/verdict.ts';
import type { World } from '../gates/asking.ts';
import { isStarting, type Starts } from '../gates/starts.ts';
import type { Group } from '../groups/groups.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { OsRelease } from '../releases/os-release.ts';

/**
 * Whether releases will be complete under a policy by its date. This is no forecast, but a bound that a plan can afford: it counts how long nodes last took,
 * how many go at once, and what is waited for now. What it calls late is late; windows and zones may make it later still.
 */

/** A condition without its times. */
export interface ConditionReport {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface DueDateKnown extends Pick<World, 'ledgers' | 'places'> {
  readonly starts: Starts;
}

export interface DueDate {
  readonly condition: ConditionReport;
  /** Of the release that is late by the most. */
  readonly late: Late | undefined;
  readonly changesAt: number;
}

export interface Late {
  /** At least. */
  readonly ms: number;
  /** What most of the time goes to: a verdict and its setting, or either. */
  readonly because: string;
}

export const ON_TIME: ConditionReport = {
  status: 'False',
  reason: 'OnTime',
  message: 'no release is known to become late',
};

/** Undefined where the policy has no date. */
export function dueDateOf(group: Group, known: DueDateKnown): DueDate | undefined {
  const { completeWithinMs } = group.rules;
  if (completeWithinMs === undefined) return undefined;
  const all = group.releases.all
    .filter(({ wanted, isUnderWay }) => wanted || isUnderWay)
    .map((release) => estimateOf(release, group, known));
  const late = all.filter(({ endsAt, dueAt }) => endsAt > dueAt);
  const [worst] = late.toSorted((a, b) => lateMs(b) - lateMs(a));
  const condition = worst ? { status: 'True' as const, reason: 'WillMissDeadline', message: textOf(worst) } : ON_TIME;
  const turns = late.map(({ turnsAt }) => turnsAt);
  return {
    condition,
    late: worst && { ms: lateMs(worst), because: worst.because },
    changesAt: nextAfter(group.now, [...all.map(changesAtOf), ...turns]),
  };
}

interface Estimate {
  readonly release: OsRelease;
  readonly left: number;
  readonly dueAt: number;
  /** The earliest. */
  readonly endsAt: number;
  /** From when on its end goes with time: nothing is waited for any more that has an end. */
  readonly movesFrom: number;
  /** From when on what is waited for takes less of the time than something else; it gets shorter while it is waited for. */
  readonly turnsAt: number;
  readonly because: string;
}

const lateMs = ({ endsAt, dueAt }: Estimate): number => endsAt - dueAt;

function estimateOf(release: OsRelease, group: Group, known: DueDateKnown): Estimate {
  const { now, rules } = group;
  const nodes = group.members.filter((info) => isBehind(info, release));
  const left = countNodes(nodes);
  // What is offered from now on is in no ledger yet, and due once it is.
  const offeredAt = instantOf(known.ledgers.of(release)?.ledger.firstOfferedAt) ?? NEVER;
  const { limit } = known.places.all;
  const atOnce = Math.min(group.capacity, limit);
  const pauses = { ms: Math.max(0, left - 1) * rules.pauseBetweenMs, because: 'pauseBetween' };
  const perUpdate = medianMs(nodes);
  const rounds = rules.pauseBetweenMs > 0 ? left : Math.ceil(left / atOnce);
  const work = {
    ms: rounds * perUpdate,
    because: group.capacity <= limit ? 'maxConcurrent' : 'MAX_CONCURRENT_UPDATE',
  };
  const wait = waitOf({ release, nodes }, group, known);
  const most = [wait, pauses, work].reduce((a, b) => (b.ms > a.ms ? b : a));
  const endsAt = now + wait.ms + pauses.ms + work.ms;
  const dueAt = offeredAt + (rules.completeWithinMs ?? NEVER);
  const movesFrom = now + wait.ms;
  const turnsAt = wait.ms > 0 ? movesFrom - Math.max(pauses.ms, work.ms) + 1 : NEVER;
  return { release, left, dueAt, endsAt, movesFrom, turnsAt, because: most.ms > 0 ? most.because : wait.because };
}

function isBehind({ node, shadow }: AssessedNode, { family, version }: OsRelease): boolean {
  const { current_version: current, target_version: target } = shadow?.status ?? {};
  return node.family === family && current !== version && (target === version || shadow?.spec.version === version);
}

interface Waiting {
  readonly release: OsRelease;
  readonly nodes: readonly AssessedNode[];
}

/** What has to pass before the last of them can start. */
function waitOf({ release, nodes }: Waiting, group: Group, { starts }: DueDateKnown): { ms: number; because: string } {
  const { now, rules } = group;
  const nearest = isStarting(starts, group) ? undefined : starts.nearest.get(group);
  const because = nearest ? `${nearest.reason}${settingText(nearest.reason)}` : 'updates that are under way';
  const ms = Math.max(0, (nearest?.until ?? now) - now);
  const interval = release.book.people.isExpedited ? 0 : (rules.minIntervalMs ?? 0);
  const lastAt = interval === 0 ? -Infinity : Math.max(...nodes.map(({ shadow }) => shadow?.finishedAt ?? -Infinity));
  const rest = lastAt + interval - now;
  return rest > ms ? { ms: rest, because: `RecentlyUpdated${settingText('RecentlyUpdated')}` } : { ms, because };
}

function settingText(reason: Reason): string {
  const { setting } = traitsOf(reason);
  return setting === undefined ? '' : ` (${setting})`;
}

/** How long their last updates took, 0 where that is not known of any. */
function medianMs(nodes: readonly AssessedNode[]): number {
  const sorted = nodes.flatMap(({ shadow }) => shadow?.lastUpdateMs ?? []).toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

/** The same for an hour: it is written to the cluster. */
function textOf(estimate: Estimate): string {
  const { left, dueAt, because } = estimate;
  const { family, version } = estimate.release;
  const hours = Math.ceil(lateMs(estimate) / HOUR_MS);
  const nodes = left === 1 ? '1 node is' : `${left} nodes are`;
  return `${version} on ${family} will be late by ${hours} h at least: it was due at ${atTime(dueAt)}, ${nodes} left, and most of the time goes to ${because}`;
}

/** When it becomes late, or later by an hour. */
const changesAtOf = (estimate: Estimate): number =>
  estimate.movesFrom + Math.max(0, Math.ceil(lateMs(estimate) / HOUR_MS)) * HOUR_MS - lateMs(estimate) + 1;
