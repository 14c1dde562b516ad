import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import { type Clock, rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import {
  controllerUid,
  createOwned,
  createPod,
  deletePod,
  isActive,
  mergePatch,
  patchStatus,
  templateHash,
} from './pods.ts';
import { isReady, type Pod } from '../../../runtime/kube/objects.ts';
import type { Workload, World } from './types.ts';

const HASH_LABEL = 'pod-template-hash';

/**
 * The requests that bring every Deployment closer to its template: a ReplicaSet for the present one at full size at once, and
 * the older ones shrinking as its pods become ready. (Real Deployments also bound the surge; nothing here runs short of room.)
 */
export function deployments(world: World, clock: Pick<Clock, 'now'>): readonly KubeRequest[] {
  return world.deployments
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((deployment) => {
      const sets = world.replicaSets.filter((set) => controllerUid(set) === deployment.metadata.uid);
      return [resize(deployment, sets), deploymentStatus(deployment, sets, clock)].flat();
    });
}

function resize(deployment: Workload, sets: readonly Workload[]): readonly KubeRequest[] {
  const { replicas = 1, template } = deployment.spec;
  const hash = templateHash(template);
  const current = sets.find((set) => set.metadata.labels?.[HASH_LABEL] === hash);
  if (!current) return [createReplicaSet(deployment, hash)];
  const stillNeeded = Math.max(0, replicas - readyReplicas(current));
  return sets.flatMap((set) => {
    const size = set === current ? replicas : Math.min(set.spec.replicas ?? 1, stillNeeded);
    return size === (set.spec.replicas ?? 1) ? [] : [setReplicas(set, size)];
  });
}

function createReplicaSet(deployment: Workload, hash: string): KubeRequest {
  const { name, namespace } = deployment.metadata;
  const { replicas = 1, selector, template } = deployment.spec;
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  return createOwned(`/apis/apps/v1/namespaces/${namespace}/replicasets`, deployment, {
    ownerKind: 'Deployment',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: `${name}-${hash}`, labels },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}

const setReplicas = (set: Workload, replicas: number): KubeRequest =>
  mergePatch(appsPath('replicasets', set), { spec: { replicas } });

function deploymentStatus(
  deployment: Workload,
  sets: readonly Workload[],
  clock: Pick<Clock, 'now'>,
): readonly KubeRequest[] {
  const { replicas = 1, template } = deployment.spec;
  const hash = templateHash(template);
  const ready = total(sets, 'readyReplicas');
  const numbers = {
    observedGeneration: deployment.metadata.generation,
    replicas: total(sets, 'replicas'),
    updatedReplicas: total(
      sets.filter((set) => set.metadata.labels?.[HASH_LABEL] === hash),
      'replicas',
    ),
    readyReplicas: ready,
    availableReplicas: ready,
    unavailableReplicas: Math.max(0, replicas - ready),
  };
  const changed = patchStatus(appsPath('deployments', deployment), deployment, numbers);
  if (changed.length === 0) return [];
  const available = {
    type: 'Available',
    status: ready >= replicas ? 'True' : 'False',
    lastTransitionTime: rfc3339(clock.now()),
  };
  return patchStatus(appsPath('deployments', deployment), deployment, { ...numbers, conditions: [available] });
}

/** The requests that bring every ReplicaSet closer to its number of pods. */
export function replicaSets(world: World, random: Random): readonly KubeRequest[] {
  return world.replicaSets
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((set) => {
      const pods = world.pods.filter((pod) => controllerUid(pod) === set.metadata.uid && isActive(pod));
      return [fill(set, pods.length, random), shrink(set, pods), replicaSetStatus(set, pods)].flat();
    });
}

function fill(set: Workload, present: number, random: Random): readonly KubeRequest[] {
  const length = Math.max(0, (set.spec.replicas ?? 1) - present);
  const { template } = set.spec;
  return Array.from({ length }, () => createPod({ ownerKind: 'ReplicaSet', owner: set, template, labels: {}, random }));
}

/** Pods that do not work go first, then the youngest. */
function shrink(set: Workload, pods: readonly Pod[]): readonly KubeRequest[] {
  const surplus = Math.max(0, pods.length - (set.spec.replicas ?? 1));
  return pods
    .toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)) || born(b) - born(a))
    .slice(0, surplus)
    .map((pod) => deletePod(pod));
}

function replicaSetStatus(set: Workload, pods: readonly Pod[]): readonly KubeRequest[] {
  const ready = pods.filter(isReady).length;
  return patchStatus(appsPath('replicasets', set), set, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
  });
}

const appsPath = (plural: string, { metadata }: Workload): string =>
  `/apis/apps/v1/namespaces/${metadata.namespace}/${plural}/${metadata.name}`;

const born = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '');
const readyReplicas = (set: Workload): number => total([set], 'readyReplicas');

function total(sets: readonly Workload[], field: string): number {
  return sets.reduce((sum, { status }) => sum + Number(status?.[field] ?? 0), 0);
}
