import { isPodTerminal, isReady, type Node, type Pod, type Toleration } from '../../../runtime/kube/objects.ts';
import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { controllerUid, createPod, deletePod, isActive, patchStatus, scaled, templateHash } from './pods.ts';
import { fitsNode, mayStayOn, toleratesNode } from './selectors.ts';
import type { Workload, World } from './types.ts';

const HASH_LABEL = 'controller-revision-hash';

/** Daemons stay where other pods have to go: the tolerations that Kubernetes gives each of their pods. */
export const TOLERATIONS: readonly Toleration[] = (
  [
    ['NoExecute', 'not-ready', 'unreachable'],
    ['NoSchedule', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'],
  ] as const
).flatMap(([effect, ...names]) =>
  names.map((name) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect })),
);

/** One DaemonSet with what it has and where it belongs. */
interface Daemon {
  readonly set: Workload;
  readonly hash: string;
  readonly tolerations: readonly Toleration[];
  /** Nodes that should run a pod. */
  readonly wanted: readonly Node[];
  /** Nodes whose pod goes on: also those that would take no new one. */
  readonly kept: readonly Node[];
  readonly pods: readonly Pod[];
}

/** The requests that bring every DaemonSet closer to one current pod on each node that it selects. */
export function daemonSets(world: World, random: Random): readonly KubeRequest[] {
  return world.daemonSets
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((set) => daemon(set, world))
    .flatMap((each) => [missing(each, random), surplus(each), outdated(each), status(each)].flat());
}

function daemon(set: Workload, world: World): Daemon {
  const { spec } = set.spec.template;
  const tolerations = [...(spec.tolerations ?? []), ...TOLERATIONS];
  const fitting = world.nodes.filter((node) => fitsNode(spec, node));
  return {
    set,
    hash: templateHash(set.spec.template),
    tolerations,
    wanted: fitting.filter((node) => toleratesNode(tolerations, node)),
    kept: fitting.filter((node) => mayStayOn(tolerations, node)),
    pods: world.pods.filter((pod) => controllerUid(pod) === set.metadata.uid),
  };
}

/** A pod that is still ending holds its node's place: two daemons of a kind never run side by side. */
function missing({ set, hash, tolerations, wanted, pods }: Daemon, random: Random): readonly KubeRequest[] {
  const taken = new Set(pods.map(({ spec }) => spec?.nodeName));
  return wanted
    .filter(({ metadata }) => !taken.has(metadata.name))
    .map(({ metadata }) =>
      createPod({
        ownerKind: 'DaemonSet',
        owner: set,
        template: set.spec.template,
        labels: { [HASH_LABEL]: hash },
        spec: { nodeName: metadata.name, tolerations },
        random,
      }),
    );
}

/** Finished pods, pods on nodes that are no longer selected or that drive them away, and second pods on a node. */
function surplus({ kept, pods }: Daemon): readonly KubeRequest[] {
  const free = new Set<string | undefined>(kept.map(({ metadata }) => metadata.name));
  return pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter((pod) => isPodTerminal(pod) || !free.delete(pod.spec?.nodeName))
    .map((pod) => deletePod(pod));
}

/** Pods of an older template: those that do not work anyway at once, the others as many as may be missing. */
function outdated({ set, hash, wanted, pods }: Daemon): readonly KubeRequest[] {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type !== 'RollingUpdate') return [];
  const old = pods.filter((pod) => isActive(pod) && pod.metadata.labels?.[HASH_LABEL] !== hash);
  const missingNow = wanted.length - pods.filter((pod) => isActive(pod) && isReady(pod)).length;
  const mayGo = Math.max(0, scaled(rollingUpdate?.maxUnavailable ?? 1, wanted.length) - missingNow);
  const [useless, working] = [old.filter((pod) => !isReady(pod)), old.filter(isReady)];
  return [...useless, ...working.slice(0, mayGo)].map((pod) => deletePod(pod));
}

function status({ set, hash, wanted, pods }: Daemon): readonly KubeRequest[] {
  const { name, namespace, generation } = set.metadata;
  const names = new Set<string | undefined>(wanted.map(({ metadata }) => metadata.name));
  const placed = pods.filter((pod) => names.has(pod.spec?.nodeName));
  const ready = placed.filter((pod) => isActive(pod) && isReady(pod)).length;
  return patchStatus(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`, set, {
    observedGeneration: generation,
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: placed.length,
    numberMisscheduled: pods.length - placed.length,
    updatedNumberScheduled: placed.filter(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash).length,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: wanted.length - ready,
  });
}
