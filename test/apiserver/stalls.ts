import type { KubeRequest } from '../../runtime/kube/transport.ts';

/**
 * Where a request of an agent can sleep on its way through a replica: before any call that it makes to the Kubernetes API. A rule that
 * holds has to hold in all of these places.
 */
type Stall = readonly [where: string, matches: (request: KubeRequest) => boolean];

const NODE = '/api/v1/nodes/n1';

const node: Stall = ['before it looks at the node', ({ method, path }) => method === 'GET' && path === NODE];
const shadow: Stall = [
  'before it looks at the shadow',
  ({ method, path }) => method === 'GET' && path.endsWith('/brs-n1'),
];
const pods: Stall = ['before it looks at the pods', ({ method, path }) => method === 'GET' && path === '/api/v1/pods'];
const status: Stall = [
  'before it writes the status',
  ({ method, path }) => method === 'PATCH' && path.endsWith('/brs-n1/status'),
];
const write: Stall = ['before it writes the node', ({ method, path }) => method === 'PATCH' && path === NODE];

export const DRAIN_STALLS: readonly Stall[] = [node, shadow, pods, status, write];
export const NODE_STALLS: readonly Stall[] = [node, shadow, write];
