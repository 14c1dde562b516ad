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
  const managed = serving.filter(({ subject }) => subject.node.managed);
  const isPending = managed.some(({ subject: { shadow } }) => shadow && startable(shadow) !== undefined);
  if (!isPending || managed.length < serving.length) return [];
  if (serving.length === 1) return [ONLY_NODE];
  return policy.excludesFromLb && concurrency(policy.maxConcurrent, managed.length) >= serving.length
    ? [NO_TARGET]
    : [];
}

const ONLY_NODE: Warning = {
  reason: 'OnlySchedulableNode',
  message: 'the only schedulable node of the cluster will be drained: nothing runs until it is back',
};
const NO_TARGET: Warning = {
  reason: 'NoLoadBalancerTarget',
  message: 'every schedulable node may be excluded from load balancers at once: lower MAX_CONCURRENT_UPDATE',
};
