import { instantOf } from '../../../lib/clock.ts';
import { stillFailed } from '../../../api/shadow/failed-versions.ts';
import { isInHands } from '../facts/node.ts';
import type { Status } from '../../../api/shadow/model.ts';
import type { AssessedNode } from './health.ts';
import type { NodeView, ShadowView } from '../facts/snapshot.ts';

/** What a release is to blame for (rule F1). */

/** The node's last update failed, whatever the cause, or it failed on the release that it is offered. It pauses before it tries again. */
export function hasFailed(
  { node, shadow }: AssessedNode,
  { failed }: { readonly failed: ReadonlySet<string> },
): boolean {
  return failed.has(node.uid) || (shadow?.status?.crash_count ?? 0) > 0;
}

/** Versions that the node has failed on by its record, and does not run well after all. */
export function failedOn({ spec, status }: ShadowView): readonly string[] {
  if (!status) return [];
  const recorded = stillFailed(status, status.current_version);
  const isPresumedOf = isFailureUnrecorded(status) && spec.version !== status.current_version;
  return isPresumedOf && spec.version != null ? [...recorded, spec.version] : recorded;
}

/**
 * Its last failure is that it left a release, which it had finished, by a boot that nobody had asked for. It then rests until somebody names that
 * failure to `retry` it, or another version is offered.
 */
export const unaskedBootOf = (info: Known): UnaskedBoot | undefined =>
  isInHands(info.node) ? undefined : statedBootOf(info);

type Known = Pick<AssessedNode, 'node' | 'shadow'>;

/** The same though somebody has taken the node in hand since: that takes back nothing that it was blamed for. */
export function statedBootOf({ node, shadow }: Known): UnaskedBoot | undefined {
  const { status } = shadow ?? {};
  if (!status || status.crash_count === 0) return undefined;
  if (isRetried(node, status) || !status.last_failure) return undefined;
  const { reason, version, message } = status.last_failure;
  return isUnasked(reason) && version != null ? { reason, version, message } : undefined;
}

/** Somebody has named its last failure on the node (rule P9). */
export const isRetried = (
  { retryOf }: Pick<NodeView, 'retryOf'>,
  { state_transition_failure_timestamp: failedAt }: Pick<Status, 'state_transition_failure_timestamp'>,
): boolean => retryOf !== undefined && retryOf === failedAt;

/** What becomes of a node after its update, by its last failure or its verdict. */
export const isUnasked = (reason: string | undefined): reason is UnaskedBoot['reason'] =>
  reason === 'Reverted' || reason === 'Unstable';

interface UnaskedBoot {
  readonly reason: 'Reverted' | 'Unstable';
  /** What it had finished. */
  readonly version: string;
  readonly message: string;
}

/** Whether its last failure may have been on the version, or an earlier one was. */
export function isFailureOf(shadow: ShadowView, version: string): boolean {
  const failed = versionOfFailure(shadow);
  return failed === undefined || failed === version || shadow.status?.failed_versions?.includes(version) === true;
}

/** The version that its last failure was on; undefined where that is not known: an end that is no failure leaves a record of its own. */
function versionOfFailure({ spec, status }: ShadowView): string | undefined {
  const { last_failure: last, state_transition_failure_timestamp: failedAt } = status ?? {};
  if (last) return (instantOf(last.time) === instantOf(failedAt) && last.version) || undefined;
  return (spec.state === 'Idle' && spec.version) || undefined;
}

/**
 * Whether the last failure has no record, because an older agent has reported it or the CRD drops the newer fields. It is then blamed on
 * the release. Under an older apiserver the record of an earlier failure stays in the status, with another time. Both times are by the
 * node's clock.
 */
export function isFailureUnrecorded(status: ShadowView['status']): boolean {
  if (!status || status.crash_count === 0) return false;
  const { last_failure: recorded, failed_versions: versions } = status;
  if (!recorded) return versions == null;
  const failedAt = instantOf(status.state_transition_failure_timestamp);
  return failedAt !== undefined && (instantOf(recorded.time) ?? failedAt) < failedAt;
}
