import { concurrency } from './amount.ts';
import type { Policy } from './policy.ts';
import type { Assessed } from './releases.ts';
import { startable } from './machine.ts';

/** What people should know before an update starts, because it works as they said and can hurt all the same. */
export interface Warning {
  readonly reason: 'OnlySchedulableNode' | 'NoLoadBalancerTarget';
  readonly message: string;
}

/** @param fleet every node of the cluster: those that are not managed go on serving */
export function warningsFor(fleet: readonly Assessed[], policy: Policy): readonly Warning[] {
  // A cordon of our own is part of what is judged here.
  const serving = fleet.filter(({ subject: { node } }) => !node.unschedulable || node.marks);
  if (!serving.every(({ subject }) => subject.node.managed) || !serving.some(isWaiting)) return [];
  if (serving.length === 1) return [ONLY_NODE];
  const takesAll = concurrency(policy.maxConcurrent, serving.length) >= serving.length;
  return policy.excludesFromLb && takesAll ? [NO_TARGET] : [];
}

function isWaiting({ subject: { shadow } }: Assessed): boolean {
  return shadow !== undefined && startable(shadow) !== undefined;
}

const ONLY_NODE: Warning = {
  reason: 'OnlySchedulableNode',
  message: 'the only schedulable node of the cluster will be drained: nothing runs until it is back',
};
const NO_TARGET: Warning = {
  reason: 'NoLoadBalancerTarget',
  message: 'every schedulable node may be excluded from load balancers at once: lower MAX_CONCURRENT_UPDATE',
};
