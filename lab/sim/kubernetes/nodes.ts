import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import { deletePod, mergePatch, podPath } from './pods.ts';
import { isReady, type Node, type Pod } from '../../../runtime/kube/objects.ts';
import type { World } from './types.ts';

/** The taint of a cordon. */
export const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** The requests that follow from the state of nodes: the taint of a cordon, pods of nodes that are not Ready or gone. */
export function nodes(world: World): readonly KubeRequest[] {
  const byName = new Map(world.nodes.map((node) => [node.metadata.name, node]));
  return [...world.nodes.flatMap(taint), ...world.pods.flatMap((pod) => follow(pod, byName))];
}

/** Mirrors `spec.unschedulable` in the taint. */
function taint({ metadata, spec }: Node): readonly KubeRequest[] {
  const taints = spec?.taints ?? [];
  const others = taints.filter(({ key }) => key !== UNSCHEDULABLE.key);
  const cordoned = spec?.unschedulable === true;
  if (cordoned === taints.length > others.length) return [];
  const body = {
    metadata: { resourceVersion: metadata.resourceVersion },
    spec: { taints: cordoned ? [...others, UNSCHEDULABLE] : others.length > 0 ? others : null },
  };
  return [mergePatch(`/api/v1/nodes/${metadata.name}`, body)];
}

function follow(pod: Pod, byName: ReadonlyMap<string, Node>): readonly KubeRequest[] {
  const name = pod.spec?.nodeName;
  if (!name) return [];
  const node = byName.get(name);
  if (!node) return [deletePod(pod, 0)];
  if (!isReady(pod) || isReady(node)) return [];
  const { resourceVersion } = pod.metadata;
  const body = { metadata: { resourceVersion }, status: { conditions: unready(pod) } };
  return [mergePatch(`${podPath(pod)}/status`, body)];
}

/** Its conditions where nobody on the node can say so: without a Ready node a pod serves no one. */
export const unready = ({ status }: Pod): readonly object[] | undefined =>
  status?.conditions?.map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'False', reason: 'NodeNotReady' } : condition,
  );
