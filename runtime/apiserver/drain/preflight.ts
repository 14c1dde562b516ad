import type { Node, Pod } from '../../kube/objects.ts';
import { readMarks } from '../../marks/marks.ts';
import type { Preflight } from '../config.ts';
import type { Ports } from '../ports.ts';
import { unevictable } from './unevictable.ts';
import type { Blocked } from './words.ts';

/**
 * A refusal leaves a node in service, and so is for nodes that are. On one that bears our marks already (of the boot before, or of its
 * exclusion from load balancers) it would leave them there for as long as it lasts; a drain that has begun ends at its deadline.
 */
export function preflightOf(node: Node, set: Preflight): Preflight {
  return readMarks(node) ? 'warn' : set;
}

/**
 * The pods that may take longer to end than their drain may. A grace is the most that a pod takes, so this is a reason to warn, and none to refuse.
 * @param timeoutMs of a drain, from its beginning; 0 = for ever
 */
export function outlasting(pods: readonly Pod[], timeoutMs: number): readonly Pod[] {
  return timeoutMs === 0 ? [] : pods.filter((pod) => graceSeconds(pod) * 1000 > timeoutMs);
}

/** How long the pod may take to end, once it is told to: the one that ends already was told for how long. */
export function graceSeconds({ metadata, spec }: Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 0;
}

/**
 * By UID: the pods that no eviction can move as things are, and why.
 * @throws what the transport throws, with `refuse` only: a warning is not worth a drain, so where budgets cannot be read there is none
 */
export async function foresee(
  { budgets, logger }: Pick<Ports, 'budgets' | 'logger'>,
  pods: readonly Pod[],
  preflight: Preflight,
): Promise<Blocked> {
  if (pods.length === 0) return new Map();
  try {
    return unevictable(pods, await budgets.list());
  } catch (error) {
    if (preflight === 'refuse') throw error;
    logger.warn('disruption budgets not read before a drain', { error });
    return new Map();
  }
}
