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
