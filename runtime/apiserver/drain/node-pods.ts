import { type Change, listAndWatch } from '../../kube/reflector.ts';
import type { Pod } from '../../kube/objects.ts';
import { onNode, podsPath } from '../../kube/pods.ts';
import type { Ports } from '../ports.ts';

type FollowPorts = Pick<Ports, 'transport' | 'clock' | 'random' | 'logger'>;

/** All pods on a node, anew after each change. During an outage of the API nothing comes; afterwards it goes on. */
export async function* podsOn(
  ports: FollowPorts,
  nodeName: string,
  signal: AbortSignal,
): AsyncGenerator<readonly Pod[]> {
  const { transport, clock, random, logger } = ports;
  const query = { fieldSelector: onNode(nodeName) };
  const pods = new Map<string, Pod>();
  for await (const change of listAndWatch(
    { transport, path: podsPath(), query, project: lean, clock, random },
    signal,
  )) {
    if (change.kind === 'interrupted')
      logger.warn('pods of a drain are out of sight', { node: nodeName, error: change.error });
    if (apply(change, pods)) yield [...pods.values()];
  }
}

/** Whether `pods` are known, and changed by it. */
function apply(change: Change<Pod>, pods: Map<string, Pod>): boolean {
  switch (change.kind) {
    case 'replaced':
      pods.clear();
      for (const { key, value } of change.items) pods.set(key, value);
      return true;
    case 'changed':
      pods.set(change.item.key, change.item.value);
      return true;
    case 'deleted':
      return pods.delete(change.key);
    case 'bookmark':
    case 'interrupted':
      return false;
    default:
      return change satisfies never;
  }
}

/** The part of a pod that a drain reads; containers, volumes and their states can be large and are let go. */
function lean({ metadata, spec, status }: Pod): Pod {
  return {
    metadata,
    ...(spec?.tolerations && { spec: { tolerations: spec.tolerations } }),
    ...(status?.phase && { status: { phase: status.phase } }),
  };
}
