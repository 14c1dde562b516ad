import type { AgentStatus, Status } from '../../api/shadow/model.ts';
import { filterPods, othersLeft, termsAhead } from '../../drain/filter.ts';
import { podsOn } from '../../drain/pod.ts';
import { allBudgets, unevictable } from '../../drain/preflight.ts';
import { listAll } from '../../kube/collection.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Ports } from '../ports.ts';
import { stamped } from '../refused-writes.ts';
import { progressOf } from './status.ts';

export type AheadPorts = Pick<Ports, 'transport' | 'budgets' | 'namespace' | 'clock' | 'logger'>;

/**
 * What the status says besides with which an agent at rest reports that its update is prepared (H1): which pods no eviction can move as things are, so
 * that other nodes come first (P6). Nothing where they all can go. Never rejects.
 */
export async function drainAhead(
  ports: AheadPorts,
  { nodeName }: VerifiedAgent,
  { current_state: state, staged }: Pick<AgentStatus, 'current_state' | 'staged'>,
): Promise<Pick<Status, 'drain'>> {
  if (state !== 'Idle' || staged?.version == null) return {};
  const { transport, budgets, namespace, clock, logger } = ports;
  const now = clock.now();
  try {
    const pods = othersLeft(filterPods(await listAll(transport, podsOn(nodeName)), termsAhead(namespace, now)));
    const blocked = unevictable(pods, await budgets.get('all', () => allBudgets(transport)));
    return blocked.size === 0 ? {} : { drain: stamped(progressOf(rfc3339(now), pods, blocked), now) };
  } catch (error) {
    logger.debug('pods of a node at rest not checked', { node: nodeName, error });
    return {};
  }
}
