import { concurrency } from './amount.ts';
import type { Policy } from './policy.ts';
import type { Assessed } from './releases.ts';
import { startable } from './machine.ts';
import { isActive } from './subject.ts';
import type { Reason, Verdict } from './verdict.ts';

/** What people should know before an update starts, because it works as they said and can hurt all the same. */
export interface Warning {
  readonly reason: 'OnlySchedulableNode' | 'NoLoadBalancerTarget';
  readonly message: string;
}

/**
 * The same for as long as any of the nodes has its update before it, or in it: what verdicts say of it is written to the cluster.
 * @param fleet every node of the cluster: those that are not managed go on serving
 */
export function warningsFor(fleet: readonly Assessed[], policy: Policy): readonly Warning[] {
  const serving = fleet.filter(isServing);
  if (!serving.every(({ subject }) => subject.node.managed) || !serving.some(isConcerned)) return [];
  if (serving.length === 1) return [ONLY_NODE];
  const takesAll = concurrency(policy.maxConcurrent, serving.length) >= serving.length;
  return policy.excludesFromLb && takesAll ? [NO_TARGET] : [];
}

/** What an update has taken out of service, whoever cordoned it, is part of what is judged here. */
function isServing({ subject: { node, shadow } }: Assessed): boolean {
  return (node.ready && !node.unschedulable) || node.marks !== undefined || (shadow !== undefined && isActive(shadow));
}

function isConcerned({ subject: { shadow } }: Assessed): boolean {
  return shadow !== undefined && (isActive(shadow) || startable(shadow) !== undefined);
}

/** Verdicts of nodes that are about to be updated, or are; any other is news enough by itself. */
const AHEAD: ReadonlySet<Reason> = new Set(['WaitingForSlot', 'OutsideWindow', 'BackingOff', 'Updating']);

/** The verdict with what should be known before its node starts. */
export function withWarnings(verdict: Verdict, warnings: readonly Warning[]): Verdict {
  if (warnings.length === 0 || !AHEAD.has(verdict.reason)) return verdict;
  return { ...verdict, message: [verdict.message, ...warnings.map(({ message }) => message)].join('; ') };
}

const ONLY_NODE: Warning = {
  reason: 'OnlySchedulableNode',
  message: 'the only schedulable node of the cluster will be drained: nothing runs until it is back',
};
const NO_TARGET: Warning = {
  reason: 'NoLoadBalancerTarget',
  message: 'every schedulable node may be excluded from load balancers at once: lower MAX_CONCURRENT_UPDATE',
};
