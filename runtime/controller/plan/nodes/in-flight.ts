import { progressAt } from '../../../api/shadow/drain.ts';
import type { AssessedNode } from './health.ts';
import { isCalledOff, isLetThrough, PHASES } from '../facts/phase.ts';
import { NEVER } from '../facts/requeue.ts';
import type { NodeInfo, ShadowView } from '../facts/snapshot.ts';

/** Who counts as on its way to a release. */

/** A node at rest on the version is counted there already, and no start leads to the version that a node runs. */
export function isAtRestOn({ shadow, phase }: AssessedNode, version: string): boolean {
  return phase.kind === 'resting' && shadow?.status?.current_version === version;
}

/** The node was taken out of service for the version, or is about to be. */
export function isDisturbed({ shadow, phase }: NodeInfo, version: string): boolean {
  if (isLetThrough(phase)) return true;
  // A plan counts those that it lets through itself. Here one counts only where that write is not seen yet.
  if (phase.kind === 'staged') return shadow?.stale === true && shadow.spec.version === version;
  return shadow?.spec.state === 'Idle' && shadow.status?.current_version === version;
}

/** The version that the node is on its way to. */
export function headsFor({ shadow, health, phase }: AssessedNode): string | undefined {
  const isOnItsWay = PHASES[phase.kind].isUnderWay && !health.isGivenBack;
  return isOnItsWay ? (shadow?.spec.version ?? undefined) : undefined;
}

/** From when on one that was called off counts no more. While it has a permit, that is what is waited for. */
export const givenBackAt = ({ permit, phase, health }: AssessedNode): number =>
  isCalledOff(phase) && !permit ? health.overdueFrom : NEVER;

/** For so long others wait for a drain that is refused, or lets no pod go: a budget may be used up only while pods start on other nodes. */
export const STUCK_MS = 120_000;

/** From when on nobody waits for it to prove a release: something blocks its drain, as far as that is known, and no pod goes. */
export function stuckAt({ node, shadow, phase }: NodeInfo, now: number): number {
  const drain = phase.kind === 'draining' ? shadow?.status?.drain : undefined;
  if (!drain?.blocked_by.length || shadow?.stalledSince === undefined) return NEVER;
  return progressAt(drain, node.marks, now).kind === 'known' ? shadow.stalledSince + STUCK_MS : NEVER;
}

/**
 * A start may have been written that is not seen yet, perhaps by a leader that knew of a newer offer. Until then the node counts as on its way
 * to every version.
 */
export function isInDoubt({ permit }: AssessedNode, shadow: ShadowView): boolean {
  return permit !== undefined && (shadow.stale || permit.writes === 'unknown');
}
