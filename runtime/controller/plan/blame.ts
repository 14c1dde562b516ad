import { instantOf } from '../../lib/clock.ts';
import type { AssessedNode } from './health.ts';
import type { ShadowView } from './snapshot.ts';

/** What a release is to blame for (rule F1). */

const NONE: readonly string[] = [];

/** The node's last update failed, whatever the cause, or it failed on the release that it is offered. It pauses before it tries again. */
export function hasFailed(
  { node, shadow }: AssessedNode,
  { failed }: { readonly failed: ReadonlySet<string> },
): boolean {
  return failed.has(node.uid) || (shadow?.status?.crash_count ?? 0) > 0;
}

/** Versions that the node failed on: those on record that it does not run after all, and the one that it fails on right now. */
export function failedOn(shadow: ShadowView, { notReturned, soak }: AssessedNode['health']): readonly string[] {
  const current = shadow.status?.current_version;
  const recorded = recordedFailures(shadow);
  const past = recorded.length === 0 ? recorded : recorded.filter((version) => version !== current);
  if (!notReturned && soak !== 'failed') return past;
  const present = notReturned ? shadow.spec.version : current;
  return present == null ? past : [...past, present];
}

/**
 * Whether the failure is only presumed to be the release's: it has no record, and an update is under way since. It may have been on an earlier
 * version. Such a node may try again, but counts as on its way like any other.
 */
export function isPresumed({ shadow, health }: AssessedNode): boolean {
  const { spec, status } = shadow ?? {};
  if (!status || health.notReturned || health.soak === 'failed') return false;
  if (status.current_state === 'ErrorReset' || status.failed_versions?.includes(spec?.version ?? '')) return false;
  return isFailureUnrecorded(status);
}

/** The node has failed on this very release. One whose failure is only presumed counts as on its way, like any other. */
export const hasFailedOn = (info: AssessedNode, { failed }: { readonly failed: ReadonlySet<string> }): boolean =>
  failed.has(info.node.uid) && !isPresumed(info);

function recordedFailures({ spec, status }: ShadowView): readonly string[] {
  const recorded = status?.failed_versions ?? NONE;
  return isFailureUnrecorded(status) && spec.version != null ? [...recorded, spec.version] : recorded;
}

/**
 * Whether the last failure has no record, because an older agent has reported it or the CRD drops the newer fields. It is then blamed on
 * the release. Under an older apiserver the record of an earlier failure stays in the status, with another time. Both times are by the
 * node's clock.
 */
function isFailureUnrecorded(status: ShadowView['status']): boolean {
  if (!status || status.crash_count === 0) return false;
  const { last_failure: recorded, failed_versions: versions } = status;
  if (!recorded) return versions == null;
  const failedAt = instantOf(status.state_transition_failure_timestamp);
  return failedAt !== undefined && (instantOf(recorded.time) ?? failedAt) < failedAt;
}
