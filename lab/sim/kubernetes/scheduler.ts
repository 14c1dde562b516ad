import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import { type Clock, rfc3339 } from '../../../runtime/lib/clock.ts';
import { labelSelector } from '../cluster/selector.ts';
import { UNSCHEDULABLE } from './nodes.ts';
import { mergePatch, podPath } from './pods.ts';
import { dislikesOf, fitsNode, fitsTerm, tolerates, toleratesNode } from './selectors.ts';
import { isPodTerminal, isReady, type Node, type Pod } from '../../../runtime/kube/objects.ts';
import type { PodAffinityTerm, PodSpec, World } from './types.ts';

const PATIENCE = 'no node is ready, schedulable and fit for this pod';

/** A node and the pods on it, those that were placed in this round included. */
interface NodeInfo {
  readonly node: Node;
  readonly pods: Pod[];
}

/** The requests that bind waiting pods, oldest first, each to the node that suits it best; or say that there is none. */
export function schedule(world: World, clock: Pick<Clock, 'now'>): readonly KubeRequest[] {
  const waiting = world.pods.filter(isWaiting).toSorted(byAge);
  if (waiting.length === 0) return [];
  const byNode = Map.groupBy(
    world.pods.filter((pod) => !isPodTerminal(pod)),
    ({ spec }) => spec?.nodeName,
  );
  const infos = world.nodes.map((node) => ({ node, pods: byNode.get(node.metadata.name) ?? [] }));
  return waiting.flatMap((pod) => {
    const info = best(pod, infos);
    if (!info) return wait(pod, clock);
    info.pods.push(pod);
    return [bind(pod, info.node)];
  });
}

function isWaiting(pod: Pod): boolean {
  return !pod.spec?.nodeName && pod.metadata.deletionTimestamp === undefined && !isPodTerminal(pod);
}

function byAge(a: Pod, b: Pod): number {
  const [older, younger] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return older.localeCompare(younger) || a.metadata.name.localeCompare(b.metadata.name);
}

function best(pod: Pod, infos: readonly NodeInfo[]): NodeInfo | undefined {
  const feasible = infos.filter((info) => isFeasible(pod, info, infos));
  const scores = scoresOf(pod, feasible, infos);
  const score = (info: NodeInfo): number => scores.get(info) ?? 0;
  const ranked = feasible.toSorted((a, b) => score(b) - score(a) || a.pods.length - b.pods.length || byName(a, b));
  return ranked[0];
}

const byName = (a: NodeInfo, b: NodeInfo): number => a.node.metadata.name.localeCompare(b.node.metadata.name);

function isFeasible(pod: Pod, info: NodeInfo, infos: readonly NodeInfo[]): boolean {
  const { node } = info;
  const spec = pod.spec ?? {};
  const apart = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return (
    isReady(node) &&
    isOpen(spec, node) &&
    toleratesNode(spec.tolerations, node) &&
    fitsNode(spec, node) &&
    apart.every((term) => matching(term, pod, podsNear(info, term, infos)) === 0)
  );
}

/** The flag counts by itself: the taint that mirrors it comes a moment later. */
function isOpen({ tolerations = [] }: PodSpec, node: Node): boolean {
  return node.spec?.unschedulable !== true || tolerates(tolerations, UNSCHEDULABLE);
}

/**
 * What speaks for each node by the pod's preferences. As the real scheduler has it, each kind of preference is brought to one scale before
 * they are added up: weights tell terms of one kind apart, and no kind from another.
 */
function scoresOf(pod: Pod, feasible: readonly NodeInfo[], infos: readonly NodeInfo[]): ReadonlyMap<NodeInfo, number> {
  const { affinity = {}, topologySpreadConstraints: spread = [], tolerations } = pod.spec ?? {};
  const liked = affinity.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const disliked = affinity.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const near = (info: NodeInfo, term: PodAffinityTerm): number => matching(term, pod, podsNear(info, term, infos));
  const kinds = [
    feasible.map(({ node }) => total(liked, ({ weight, preference }) => (fitsTerm(preference, node) ? weight : 0))),
    feasible.map((info) => -total(disliked, ({ weight, podAffinityTerm }) => weight * near(info, podAffinityTerm))),
    feasible.map((info) => -total(spread, (term) => near(info, term))),
  ].map(scaled);
  const tainted = scaled(feasible.map(({ node }) => -dislikesOf(tolerations, node)));
  const score = (at: number): number => total(kinds, (scores) => scores[at] ?? 0) + TAINT_WEIGHT * (tainted[at] ?? 0);
  return new Map(feasible.map((info, index) => [info, score(index)]));
}

/** Of the plugin TaintToleration, where those of the others are 1 or 2: as kube-scheduler has it by default. */
const TAINT_WEIGHT = 3;

function scaled(scores: readonly number[]): readonly number[] {
  const [least, range] = [Math.min(...scores), Math.max(...scores) - Math.min(...scores)];
  return scores.map((score) => (range === 0 ? 0 : (100 * (score - least)) / range));
}

function total<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}

const HOSTNAME = 'kubernetes.io/hostname';

/** Pods of all nodes of the node's domain; none where it is in none. Every node is a host, also without its label. */
function podsNear(info: NodeInfo, { topologyKey }: PodAffinityTerm, infos: readonly NodeInfo[]) {
  if (topologyKey === HOSTNAME) return info.pods;
  const domain = ({ node }: NodeInfo): string | undefined => node.metadata.labels?.[topologyKey];
  return domain(info) === undefined
    ? []
    : infos.filter((other) => domain(other) === domain(info)).flatMap(({ pods }) => pods);
}

function matching({ labelSelector: selector }: PodAffinityTerm, pod: Pod, others: readonly Pod[]): number {
  const selects = labelSelector(selector);
  return others.filter(
    ({ metadata }) => metadata.namespace === pod.metadata.namespace && selects(metadata.labels ?? {}),
  ).length;
}

function bind(pod: Pod, node: Node): KubeRequest {
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
function wait(pod: Pod, clock: Pick<Clock, 'now'>): readonly KubeRequest[] {
  if (pod.status?.conditions?.some(({ reason }) => reason === 'Unschedulable')) return [];
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: PATIENCE,
    lastTransitionTime: rfc3339(clock.now()),
  };
  const { resourceVersion } = pod.metadata;
  const body = { metadata: { resourceVersion }, status: { phase: 'Pending', conditions: [condition] } };
  return [mergePatch(`${podPath(pod)}/status`, body)];
}
