import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import { conditionUpToDate } from '../facts/conditions.ts';
import type { Soak } from '../facts/machine.ts';
import { isInHands } from '../facts/node.ts';
import type { SetbackReason } from '../facts/reasons.ts';
import { NEVER } from '../facts/requeue.ts';
import type { NodeInfo, NodeView, Settings, ShadowView } from '../facts/snapshot.ts';

/** What one node is measured by. `probationMs`: for how long after its update an outage of the node is blamed on its release. */
export type Measures = Settings &
  Pick<UpdatePolicy, 'soakMs' | 'settleMs' | 'settleFails'> & {
    readonly probationMs: () => number;
    /** UIDs of the owners of pods that the drains of other nodes have evicted, and that are not known to be back. */
    readonly displacedElsewhere: () => ReadonlySet<string>;
    /** How the checks of a node that is back go. */
    readonly checked: () => 'waiting' | 'passed' | 'failed' | undefined;
    /** Until when nobody knows which checks these are. */
    readonly unclearUntil: number;
  };

/** So many changes to not Ready soon after an update are blamed on its release. */
const UNREADY_TIMES = 3;

/** Of a node that has changed since: one that was Ready is not any more, or was not in between. */
export function unreadyTimes(before: NodeView | undefined, now: number): readonly number[] {
  const { ready = false, unreadyAt = [] } = before ?? {};
  return ready ? [...unreadyAt, now].slice(-UNREADY_TIMES) : unreadyAt;
}

/** What the node is watched for after its update. */
interface Trial {
  readonly endsAt: number;
  readonly meanwhile: Soak;
  readonly result: Soak;
}

export const NO_TRIAL: Trial = { endsAt: NEVER, meanwhile: undefined, result: undefined };

export function trialOf({ node, shadow, phase }: NodeInfo, measures: Measures): Trial {
  if (shadow && phase.kind === 'resting') return relapseOf(node, shadow, measures);
  const isSoaking = phase.kind === 'monitoring' && phase.at === 'soaking';
  return shadow && isSoaking ? soakOf(node, shadow, measures) : NO_TRIAL;
}

/** A reboot can be too short for the node to be seen not Ready, so both times count from the entry into MonitoringUpdate. */
function soakOf(node: NodeView, shadow: ShadowView, { soakMs, soakTimeoutMs }: Measures): Trial {
  const { stale, stateSeenAt } = shadow;
  const since = Math.max(stateSeenAt, node.readinessSeenAt);
  if (node.ready) return { endsAt: stale ? NEVER : since + soakMs, meanwhile: 'waiting', result: 'passed' };
  return { endsAt: dueAt('SoakFailed', shadow, since + soakTimeoutMs), meanwhile: 'waiting', result: 'failed' };
}

/**
 * A node that has finished its update still fails its soak where it went not Ready soon after. Later outages are no fault of the release.
 */
function relapseOf(
  { ready, readinessSeenAt }: NodeView,
  shadow: ShadowView,
  { soakTimeoutMs, probationMs }: Measures,
): Trial {
  const { finishedAt } = shadow;
  if (ready || finishedAt === undefined) return NO_TRIAL;
  const failsAt = readinessSeenAt <= finishedAt + probationMs() ? readinessSeenAt + soakTimeoutMs : NEVER;
  return { endsAt: dueAt('SoakFailed', shadow, failsAt), meanwhile: undefined, result: 'failed' };
}

/** Since it has finished its update. */
export function hasFlapped({ node: { unreadyAt = [] }, shadow, phase }: NodeInfo): boolean {
  const [first = -Infinity] = unreadyAt;
  return unreadyAt.length === UNREADY_TIMES && phase.kind === 'resting' && first >= (shadow?.finishedAt ?? NEVER);
}

export function unstableUntilOf(info: NodeInfo, { soakMs, soakTimeoutMs, probationMs }: Measures): number {
  const { node, shadow } = info;
  if (isInHands(node) || !hasFlapped(info)) return -Infinity;
  if ((node.unreadyAt?.at(-1) ?? NEVER) > (shadow?.finishedAt ?? NEVER) + probationMs()) return -Infinity;
  return node.ready ? node.readyFrom + Math.max(soakMs, soakTimeoutMs) : NEVER;
}

/**
 * When a verdict is due: at `instant`, or long ago (-Infinity) where the condition already says it. A new leader starts to count again, but
 * a release that was halted must stay halted.
 */
export function dueAt(reason: SetbackReason, { status }: ShadowView, instant: number): number {
  return conditionUpToDate(status)?.reason === reason ? -Infinity : instant;
}

/** Since when a node that is Ready, and whose agent runs, is known to be well; NEVER where that is not known. */
export function wellSince({ node, shadow }: NodeInfo): number {
  // Its agent is back, and its condition says so only with the next write. Until then it is not known since when the node has been well.
  if (!shadow || conditionUpToDate(shadow.status)?.reason === 'AgentSilent') return NEVER;
  const { upToDateSince = shadow.stateSeenAt, finishedAt = -Infinity } = shadow;
  return Math.max(upToDateSince, finishedAt, node.readyFrom);
}
