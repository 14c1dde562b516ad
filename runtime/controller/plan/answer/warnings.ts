import { concurrency } from '../../../api/policy/quantity.ts';
import type { Groups } from '../groups/groups.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { PHASES } from '../facts/phase.ts';
import type { Settings } from '../facts/snapshot.ts';

/** Tells people of harm that an update may do although it follows their settings. */
export interface Warning {
  readonly reason: 'OnlySchedulableNode' | 'NoLoadBalancerTarget';
  readonly message: string;
}

/**
 * Verdicts carry the warnings into the cluster, so these stay the same for as long as any node is being updated or is about to be.
 * @param fleet every node of the cluster: those that are not managed go on serving
 */
export function warningsFor(fleet: readonly AssessedNode[], { all }: Groups, settings: Settings): readonly Warning[] {
  let serving = 0;
  let isOneConcerned = false;
  for (const info of fleet) {
    if (!isServing(info)) continue;
    if (!info.isSettled && !info.node.managed) return [];
    serving += 1;
    isOneConcerned ||= isConcerned(info);
  }
  if (!isOneConcerned) return [];
  if (serving === 1) return [ONLY_NODE];
  const underPolicies = all.reduce((sum, { capacity }) => sum + capacity, 0);
  const takesAll = Math.min(concurrency(settings.maxConcurrent, serving), underPolicies) >= serving;
  return settings.excludesFromLb && takesAll ? [NO_TARGET] : [];
}

/** A node that an update has taken out of service still counts, also if an administrator cordoned it. */
function isServing({ isSettled, node, phase }: AssessedNode): boolean {
  return isSettled || (node.ready && !node.unschedulable) || node.marks !== undefined || PHASES[phase.kind].isUnderWay;
}

function isConcerned({ phase, offered }: AssessedNode): boolean {
  return offered !== undefined || PHASES[phase.kind].isUnderWay;
}

const ONLY_NODE: Warning = {
  reason: 'OnlySchedulableNode',
  message: 'the only schedulable node of the cluster will be drained: nothing runs until it is back',
};
const NO_TARGET: Warning = {
  reason: 'NoLoadBalancerTarget',
  message: 'every schedulable node may be excluded from load balancers at once: lower MAX_CONCURRENT_UPDATE',
};
