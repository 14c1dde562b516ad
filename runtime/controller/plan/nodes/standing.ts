import type { PolicyNodes } from '../../../api/policy/model.ts';
import type { Soak } from '../facts/machine.ts';
import { isAskedFor, neverStarts } from '../facts/node.ts';
import { isOverUnreported, isUnderWay, RESTING } from '../facts/phase.ts';
import type { Ruling } from '../facts/rulings.ts';
import type { NodeInfo, ShadowView } from '../facts/snapshot.ts';
import { isFailedByPods } from './evidence.ts';

/** How a node is counted in the status of its policy. */
export type Standing = Exclude<keyof PolicyNodes, 'selected'>;

/**
 * Undefined where its agent has not reported yet. A node with an update to start counts as failed if its last update failed, or an earlier one
 * to the version that it is offered. @param isFailing it did not return from its update, or fails its soak
 */
export function standingOf(shadow: ShadowView | undefined, isFailing: boolean): Standing | undefined {
  const { status } = shadow ?? {};
  if (!shadow || !status) return undefined;
  if (isFailing) return 'failed';
  if (isUnderWay(shadow)) return 'updating';
  const { current_version: current, target_version: target, crash_count: crashes, failed_versions: failed } = status;
  if (current === target) return 'upToDate';
  return crashes > 0 || failed?.includes(target) === true ? 'failed' : 'waiting';
}

/** What is told of a node besides its shadow. */
interface Known {
  readonly ruling: Ruling;
  readonly health: { readonly notReturned: boolean; readonly soak: Soak; readonly isUnstable: boolean };
}

/** The same of a node that its pods may have failed as well. */
export function standingIn({ shadow, phase }: NodeInfo, { ruling, health }: Known): Standing | undefined {
  const isFailing = health.notReturned || health.soak === 'failed' || health.isUnstable;
  return standingOf(shadow, isFailing || isFailedByPods({ shadow, phase, ruling }));
}

/** Whether a node that is well is settled. */
export function isSettled({ node, shadow, permit, phase }: NodeInfo): boolean {
  const isDecided = neverStarts(node) || isAskedFor(node);
  if (!node.managed || node.unschedulable || permit || node.marks || isDecided) return false;
  return phase === RESTING && shadow !== undefined && isPlain(shadow);
}

function isPlain({ stale, crossed, status }: ShadowView): boolean {
  const { crash_count: crashes, failed_versions: failed, workloads } = status ?? {};
  return !stale && !crossed && crashes === 0 && workloads == null && (failed ?? []).length === 0;
}

/** Whether an update is over, and its agent is not there to report that. A rescue leaves a node like this (L3 (d)). */
export function isLeftOver({ node, silentSince, phase }: NodeInfo): boolean {
  return !node.marks && silentSince !== undefined && isOverUnreported(phase);
}
