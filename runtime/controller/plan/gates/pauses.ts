import { instantOf, MINUTE_MS } from '../../../lib/clock.ts';
import type { Status } from '../../../api/shadow/model.ts';
import type { Asking, World } from './asking.ts';
import { calledOffAt, crossedFinding } from './crossed.ts';
import { isBack } from './versions.ts';
import { isFailureOf, isRetried } from '../nodes/blame.ts';
import type { PermitView } from '../facts/permit.ts';
import { type GateResult, NEVER, PASS, stoppedBy } from '../facts/requeue.ts';
import { atTime, drainBlockedFinding, found } from '../facts/verdict.ts';

/** The gates by which a node is left alone for a while after its last update, or its last attempt. */

const LONGEST_BACKOFF_MINUTES = 1440;

/** There is no pause where the time of the failure is not known, nor after the one failure that somebody has named on the node (rule P9). */
export function backingOff({ info, shadow, version = '' }: Asking, { now }: World): GateResult {
  const { status, failedAt } = shadow;
  if (!status || status.crash_count === 0 || failedAt === undefined) return PASS;
  if (isRetried(info.node, status)) return PASS;
  const due = leftUntil(status);
  const paused = isFailureOf(shadow, version) ? failedAt + pauseMs(status) + 1 : -Infinity;
  const until = Math.max(due, paused);
  if (until <= now) return PASS;
  const why = until === due ? 'the last drain failed, and a pod may take that long' : 'the last attempt failed';
  return stoppedBy(found('BackingOff', `${why}; the next one comes after ${atTime(until)}`, until));
}

/** After a failure a node tries that version again only after more than min(2^crashes, 1440) minutes. */
const pauseMs = ({ crash_count: crashes }: Status): number =>
  Math.min(2 ** crashes, LONGEST_BACKOFF_MINUTES) * MINUTE_MS;

/** When the pods are due that were ending as a drain failed: one before that would evict the others again, and fail again. */
const leftUntil = ({ last_failure, drain_failed }: Status): number =>
  (last_failure?.reason === 'DrainFailed' ? instantOf(drain_failed?.due) : undefined) ?? -Infinity;

/** Its update to this version was called off, and others come before it tries again. */
export const wasCalledOff = ({ spec }: Asking['shadow'], version: string | undefined): boolean =>
  spec.state === 'Idle' && version !== undefined && spec.version === version;

/** Its update was called off because its drain was refused. */
export function refusedLately(
  { shadow: { name, status } }: Asking,
  { snapshot: { drainRefusals }, now }: World,
): GateResult {
  const refusal = drainRefusals.size === 0 ? undefined : drainRefusals.get(name);
  if (refusal?.kind !== 'called-off' || refusal.retryAt <= now) return PASS;
  return stoppedBy({ ...drainBlockedFinding(status), until: refusal.retryAt });
}

/** Its drain was called off for another one, as both have blocked each other: that attempt comes first, and then a pause that grows each time. */
export function crossedLately({ shadow }: Asking, { snapshot: { permits }, settings, now }: World): GateResult {
  const { crossed } = shadow;
  if (!crossed) return PASS;
  const other = permits.find(({ id }) => id === crossed.attempt);
  const lastsUntil = other ? latestEndOf(other, calledOffAt(shadow), settings) : now;
  if (lastsUntil > now) return { finding: crossedFinding(crossed), changesAt: lastsUntil };
  const until = calledOffAt(shadow) + Math.min(2 ** crossed.times, LONGEST_CROSSED_MINUTES) * MINUTE_MS;
  return until <= now ? PASS : stoppedBy(crossedFinding(crossed, until));
}

const LONGEST_CROSSED_MINUTES = 60;

/** By when it is back if it ever is. @param since when it was still draining */
function latestEndOf(
  { rebootAskedAt = NEVER }: PermitView,
  since: number,
  { drainTimeoutMs, returnTimeoutMs }: World['settings'],
): number {
  return Math.min(since + (drainTimeoutMs || Infinity), rebootAskedAt) + returnTimeoutMs;
}

/** A bad release is left however late it came. */
export function updatedLately(asking: Asking, { now }: World): GateResult {
  const { group, shadow } = asking;
  const { minIntervalMs = 0 } = group?.rules ?? {};
  const { finishedAt } = shadow;
  if (minIntervalMs === 0 || finishedAt === undefined || finishedAt + minIntervalMs <= now || isBack(asking))
    return PASS;
  const until = finishedAt + minIntervalMs;
  const message = `its last update was finished at ${atTime(finishedAt)}, and the next one starts from ${atTime(until)} on`;
  return stoppedBy(found('RecentlyUpdated', message, until));
}
