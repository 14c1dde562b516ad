import { type ShadowObject, shadowsPath } from '../api/resources.ts';
import type { Node } from '../kube/objects.ts';
import { nodesOf } from '../kube/resources.ts';
import { watchOne } from '../kube/watch-one.ts';
import type { ClusterConnection } from '../kube/in-cluster.ts';
import { MARKS_ANNOTATION } from '../api/marks/names.ts';
import type { Basics } from '../lib/basics.ts';
import { jsonObject } from '../lib/json.ts';
import { HOLD_ANNOTATION, shadowName } from '../api/shadow/names.ts';
import type { AgentOptions } from './agent.ts';
import type { OwnNode } from './steps/context.ts';

interface ClusterViewOptions extends Basics, ClusterConnection {
  readonly nodeName: string;
}

type ClusterReads = Pick<AgentOptions, 'nodeName' | 'readNode' | 'watchShadow'>;

/** What an agent reads from the Kubernetes API: its shadow, by one watch, and now and then its Node. */
export function clusterView(options: ClusterViewOptions): ClusterReads {
  const { transport, namespace, nodeName, clock, random, logger } = options;
  const nodes = nodesOf(transport);
  return {
    nodeName,
    readNode: async (signal) => ownNode(await nodes.get(nodeName, signal)),
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

function ownNode(node: Node | undefined): OwnNode | undefined {
  if (!node) return undefined;
  const { metadata, spec } = node;
  const { [MARKS_ANNOTATION]: marks, [HOLD_ANNOTATION]: hold } = metadata.annotations ?? {};
  // These fields alone, because the schema of all marks would be most of an agent's code.
  const { drained, boot } = jsonObject(marks);
  return {
    uid: metadata.uid,
    isHeld: hold !== undefined,
    isMarked: marks !== undefined,
    markedIn: typeof boot === 'string' ? boot : undefined,
    isDrained: spec?.unschedulable === true && typeof drained === 'string',
  };
}
