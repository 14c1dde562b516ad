import type { AgentStatus, Status } from '../../api/shadow/model.ts';
import type { State } from '../../api/shadow/states.ts';
import { filterPods, othersLeft, termsAhead } from '../../drain/filter.ts';
import { podsOn } from '../../drain/pod.ts';
import { allBudgets, unevictable } from '../../drain/preflight.ts';
import { listAll } from '../../kube/collection.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Ports } from '../ports.ts';
import { listedReasons } from './status.ts';

export type AheadPorts = Pick<Ports, 'transport' | 'budgets' | 'namespace' | 'clock' | 'logger'>;
type Sent = Pick<AgentStatus, 'current_state' | 'current_version' | 'target_version'>;

/**
 * What the status says besides with which an agent at rest reports on an update, that it is offered or prepared (H1), or newly with a permit that it is
 * prepared: which pods no eviction can move as things are, so that other nodes come first (P6, L8). What was found stays while its agent goes on from
 * there, and no longer. Never rejects.
 */
export async function preflightAhead(
  ports: AheadPorts,
  { nodeName }: VerifiedAgent,
  { sent, before }: { readonly sent: Sent; readonly before: State | undefined },
): Promise<Pick<Status, 'preflight'>> {
  const { current_state: reached, current_version: current, target_version: offered } = sent;
  const isStaged = reached === 'StagedAndPerformedUpdate';
  if (isStaged && before === reached) return {};
  const isAhead = isStaged || (reached === 'Idle' && offered !== current);
  return { preflight: isAhead ? await look(ports, nodeName) : null };
}

async function look(
  { transport, budgets, namespace, clock, logger }: AheadPorts,
  nodeName: string,
): Promise<Status['preflight']> {
  const now = clock.now();
  try {
    const pods = othersLeft(filterPods(await listAll(transport, cachedPodsOn(nodeName)), termsAhead(namespace, now)));
    const blocked = unevictable(pods, await budgets.get('all', () => allBudgets(transport)));
    return { looked_at: rfc3339(now), blocked_by: listedReasons(pods, blocked) };
  } catch (error) {
    logger.debug('pods of a node in service not checked', { node: nodeName, error });
    return null;
  }
}

/** From the API server's cache, which has pods by their nodes: a release is offered to all nodes of a fleet within minutes. */
function cachedPodsOn(nodeName: string): ReturnType<typeof podsOn> {
  const { query, ...request } = podsOn(nodeName);
  return { ...request, query: { ...query, resourceVersion: '0' } };
}
