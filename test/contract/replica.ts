import type { Preflight } from '../../runtime/drain/drain.ts';
import type { Service } from '../../runtime/apiserver/service.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import type { Tapped } from '../kube/world.ts';

/** A replica of the apiserver in this process, with a hand on its wire to the cluster. */
export interface Replica {
  readonly service: Service;
  readonly tap: Tapped;
  /** A request for the world's agent. @param gone aborts when its client is gone */
  readonly drain: (gone?: AbortSignal) => Promise<void>;
}

export interface ReplicaOptions {
  readonly timeoutSec?: number;
  readonly preflight?: Preflight;
  /** Default: the world's, with the apiserver's own roles. */
  readonly transport?: KubeTransport;
  /** Default: the system's. */
  readonly clock?: Clock;
}

type Matches = (request: KubeRequest) => boolean;

/** Lets a replica sleep before the next call that matches. */
export function asleep({ tap }: Pick<Replica, 'tap'>, matches: Matches): { reached: Promise<void>; wake(): void } {
  const reached = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  tap.before = async (request) => {
    if (!matches(request)) return;
    tap.before = () => undefined;
    reached.resolve();
    await woken.promise;
  };
  return { reached: reached.promise, wake: () => woken.resolve() };
}

export const proves: Matches = ({ method, body }) =>
  method === 'PATCH' && JSON.stringify(body).includes(String.raw`\"drained\"`);
export const evicts: Matches = ({ path }) => path.endsWith('/eviction');
export const statesProgress: Matches = ({ method, path }) => method === 'PATCH' && path.endsWith('/status');
export const cordons: Matches = ({ method, body }) =>
  method === 'PATCH' && JSON.stringify(body).includes('"unschedulable":true');

/** Where `nodeName` is the only node of the cluster: what other tests have there is out of sight. */
export function alone(transport: KubeTransport, nodeName: string): KubeTransport {
  return {
    request: (request) => {
      const isNodes = request.method === 'GET' && request.path === NODES_PATH;
      const query = { ...request.query, fieldSelector: `metadata.name=${nodeName}` };
      return transport.request(isNodes ? { ...request, query } : request);
    },
    watch: (watch) => transport.watch(watch),
  };
}
