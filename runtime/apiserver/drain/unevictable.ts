import type { PodDisruptionBudget } from '../../kube/budgets.ts';
import type { Pod } from '../../kube/objects.ts';
import { selects } from '../../kube/selector.ts';
import { hasEnded } from '../pod-phase.ts';
import { nameOf } from './words.ts';

/**
 * What would keep a drain of these pods from ever ending: by UID of the pod, why its eviction cannot be granted as things are. A budget
 * that is merely used up, because some of its pods are not healthy at the moment, is not among the reasons.
 */
export function unevictable(
  pods: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
): ReadonlyMap<string, string> {
  const reasons = pods.flatMap((pod): [string, string][] => {
    const why = whyNever(pod, budgets);
    return why === undefined ? [] : [[pod.metadata.uid, why]];
  });
  return new Map(reasons);
}

/** The same order as the API server's: a pod that provides nothing goes freely, two budgets are its error, then the one decides. */
function whyNever(pod: Pod, budgets: readonly PodDisruptionBudget[]): string | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || hasEnded(pod) || pod.status?.phase === 'Pending')
    return undefined;
  const own = budgets.filter((budget) => covers(budget, pod));
  if (own.length > 1) return `${own.length} PodDisruptionBudgets at once: ${own.map(nameOf).join(', ')}`;
  const [budget] = own;
  if (!budget || hasSpare(budget) || unhealthyGoes(budget, pod)) return undefined;
  return `PodDisruptionBudget ${nameOf(budget)}`;
}

function covers({ metadata, spec }: PodDisruptionBudget, pod: Pod): boolean {
  return metadata.namespace === pod.metadata.namespace && selects(spec?.selector, pod.metadata.labels ?? {});
}

/** Whether it allows a disruption now, or will once all of its pods are healthy. One that nobody has counted yet may. */
function hasSpare({ status }: PodDisruptionBudget): boolean {
  const { disruptionsAllowed = 0, desiredHealthy, expectedPods } = status ?? {};
  return disruptionsAllowed > 0 || desiredHealthy === undefined || (expectedPods ?? 0) > desiredHealthy;
}

function unhealthyGoes({ spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  const ready = pod.status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  if (ready) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}
