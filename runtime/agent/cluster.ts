import { nodePort } from '../kube/nodes.ts';
import { watchOne } from '../kube/one.ts';
import { type ShadowObject, shadowsPath } from '../kube/shadows.ts';
import type { KubeTransport } from '../kube/transport.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { shadowName } from '../shadow/names.ts';
import type { AgentOptions } from './agent.ts';

export interface ClusterViewOptions {
  readonly transport: KubeTransport;
  readonly namespace: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** All that an agent reads of the Kubernetes API: one watch, and now and then its Node. */
export function clusterView(options: ClusterViewOptions): Pick<AgentOptions, 'nodeName' | 'nodeUid' | 'watchShadow'> {
  const { transport, namespace, nodeName, clock, random, logger } = options;
  const nodes = nodePort(transport);
  return {
    nodeName,
    nodeUid: async (signal) => (await nodes.get(nodeName, signal))?.metadata.uid,
    watchShadow: (signal) =>
      watchOne<ShadowObject>(transport, {
        path: shadowsPath(namespace),
        name: shadowName(nodeName),
        clock,
        random,
        signal,
        onInterrupted: (error, retryMs) => logger.warn('the watch of the shadow was interrupted', { error, retryMs }),
      }),
  };
}
