import { ConflictError, NotFoundError } from '../kube/errors.ts';
import type { ShadowObject } from '../api/resources.ts';
import type { Node } from '../kube/objects.ts';
import { shadowName } from '../api/shadow/names.ts';
import { belongsTo } from '../api/shadow/owner.ts';
import type { VerifiedAgent } from './auth/authenticator.ts';
import type { Ports } from './ports.ts';
import { notAllowed, RefusedError } from './refusal.ts';
import type { NodeSnapshot } from './rules.ts';

/**
 * Reads the agent's node and then its shadow, live. In this order, a write with the node's resourceVersion fails if what the shadow showed
 * was undone in between.
 * @param seen the node as it was seen before
 * @throws RefusedError 409 where either is gone or belongs to another node of the same name
 */
export async function takeSnapshot(
  ports: Pick<Ports, 'nodes' | 'shadows'>,
  agent: VerifiedAgent,
  seen?: Node,
): Promise<NodeSnapshot> {
  const node = seen ?? (await expectNode(ports, agent));
  const shadow = await expectOwnShadow(ports, agent);
  return { node, shadow };
}

/** Reads the agent's node, live. @throws RefusedError 409 where it is gone, or another one has its name */
export async function expectNode({ nodes }: Pick<Ports, 'nodes'>, agent: VerifiedAgent): Promise<Node> {
  const node = await nodes.get(agent.nodeName);
  if (node?.metadata.uid !== agent.nodeUid) throw notAllowed('the node was replaced or deleted');
  return node;
}

/**
 * @param version that it has to have where the API server is not asked once more
 * @throws RefusedError 409 where there is none, or it belongs to another node of the same name
 */
export async function expectOwnShadow(
  { shadows }: Pick<Ports, 'shadows'>,
  agent: VerifiedAgent,
  version = '',
): Promise<ShadowObject> {
  const name = shadowName(agent.nodeName);
  const shadow = shadows.recent(name, version) ?? (await shadows.get(name));
  if (!shadow) throw notAllowed('the node has no BottlerocketShadow');
  if (!belongsTo(shadow, agent.nodeUid))
    throw notAllowed('the BottlerocketShadow belongs to another node of this name');
  return shadow;
}

const MAX_TRIES = 10;

/**
 * Runs `attempt` again from the beginning, reads included, whenever somebody else's write came first. What was decided on an older snapshot
 * is never sent again.
 * @throws RefusedError 503 when others keep writing
 */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
    }
  }
  throw new RefusedError(503, 'Conflict', 'others keep changing the same objects');
}
