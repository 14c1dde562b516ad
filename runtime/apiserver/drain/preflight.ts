import type { Pod } from '../../kube/objects.ts';
import type { Preflight } from '../config.ts';
import type { Ports } from '../ports.ts';
import { unevictable } from './unevictable.ts';
import type { Blocked } from './words.ts';

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
