import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { type Clock, rfc3339 } from '../../runtime/lib/clock.ts';
import { labelSelector } from '../cluster/selector.ts';
import { isFinished, isReady, podPath } from './pods.ts';
import { fitsNode, fitsTerm, tolerates, toleratesNode } from './selectors.ts';
import type { PodAffinityTerm, PodSpec, SimNode, SimPod, World } from './types.ts';

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const PATIENCE = 'no node is ready, schedulable and fit for this pod';

/** A node and the pods on it, those that were placed in this round included. */
interface Place {
  readonly node: SimNode;
  readonly pods: SimPod[];
}

/** The requests that bind waiting pods, oldest first, each to the node that suits it best; or say that there is none. */
export function schedule(world: World, clock: Pick<Clock, 'now'>): readonly KubeRequest[] {
  const waiting = world.pods.filter(isWaiting).toSorted(byAge);
  if (waiting.length === 0) return [];
  const byNode = Map.groupBy(
    world.pods.filter((pod) => !isFinished(pod)),
    ({ spec }) => spec?.nodeName,
  );
  const places = world.nodes.map((node) => ({ node, pods: byNode.get(node.metadata.name) ?? [] }));
  return waiting.flatMap((pod) => {
    const place = best(pod, places);
    if (!place) return wait(pod, clock);
    place.pods.push(pod);
    return [bind(pod, place.node)];
  });
}

function isWaiting(pod: SimPod): boolean {
  return !pod.spec?.nodeName && pod.metadata.deletionTimestamp === undefined && !isFinished(pod);
}

function byAge(a: SimPod, b: SimPod): number {
  const [older, younger] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return older.localeCompare(younger) || a.metadata.name.localeCompare(b.metadata.name);
}

function best(pod: SimPod, places: readonly Place[]): Place | undefined {
  const ranked = places
    .filter((place) => isFeasible(pod, place))
    .toSorted((a, b) => score(pod, b) - score(pod, a) || a.pods.length - b.pods.length || byName(a, b));
  return ranked[0];
}

const byName = (a: Place, b: Place): number => a.node.metadata.name.localeCompare(b.node.metadata.name);

function isFeasible(pod: SimPod, { node, pods }: Place): boolean {
  const spec = pod.spec ?? {};
  const apart = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return (
    isReady(node) &&
    isOpen(spec, node) &&
    toleratesNode(spec.tolerations, node) &&
    fitsNode(spec, node) &&
    apart.every((term) => matching(term, pod, pods) === 0)
  );
}

/** The flag counts by itself: the taint that mirrors it comes a moment later. */
function isOpen({ tolerations = [] }: PodSpec, node: SimNode): boolean {
  return node.spec?.unschedulable !== true || tolerates(tolerations, UNSCHEDULABLE);
}

/** What speaks for a node by the pod's preferences; every topology is taken for a node of its own. */
function score(pod: SimPod, { node, pods }: Place): number {
  const { affinity = {}, topologySpreadConstraints: spread = [] } = pod.spec ?? {};
  const liked = affinity.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const disliked = affinity.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const gain = liked
    .filter(({ preference }) => fitsTerm(preference, node))
    .reduce((sum, { weight }) => sum + weight, 0);
  const loss = disliked.reduce(
    (sum, { weight, podAffinityTerm }) => sum + weight * matching(podAffinityTerm, pod, pods),
    0,
  );
  return gain - loss - spread.reduce((sum, term) => sum + matching(term, pod, pods), 0);
}

function matching({ labelSelector: selector }: PodAffinityTerm, pod: SimPod, others: readonly SimPod[]): number {
  const selects = labelSelector(selector);
  return others.filter(
    ({ metadata }) => metadata.namespace === pod.metadata.namespace && selects(metadata.labels ?? {}),
  ).length;
}

function bind(pod: SimPod, node: SimNode): KubeRequest {
  const { name, namespace, uid } = pod.metadata;
  return {
    method: 'POST',
    path: `${podPath(pod)}/binding`,
    body: {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node.metadata.name },
    },
  };
}

/** Says once why a pod waits. */
function wait(pod: SimPod, clock: Pick<Clock, 'now'>): readonly KubeRequest[] {
  if (pod.status?.conditions?.some(({ reason }) => reason === 'Unschedulable')) return [];
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: PATIENCE,
    lastTransitionTime: rfc3339(clock.now()),
  };
  return [
    {
      method: 'PATCH',
      path: `${podPath(pod)}/status`,
      contentType: 'application/merge-patch+json',
      body: {
        metadata: { resourceVersion: pod.metadata.resourceVersion },
        status: { phase: 'Pending', conditions: [condition] },
      },
    },
  ];
}
