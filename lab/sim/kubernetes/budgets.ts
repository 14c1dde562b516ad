import { isDeepStrictEqual } from 'node:util';
import {
  isPodTerminal,
  isReady,
  type Pod,
  type PodDisruptionBudget,
  type Time,
} from '../../../runtime/kube/objects.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import { labelSelector } from '../cluster/selector.ts';
import { controllerUid, isActive, scaled } from './pods.ts';
import type { World } from './types.ts';

/** So long a pod whose eviction was granted, and that nobody deletes, counts as gone, milliseconds: as the disruption controller has it. */
export const DISRUPTED_MS = 120_000;

type Counted = Pick<World, 'budgets' | 'pods' | 'replicaSets'>;

/** The requests that bring the status of every PodDisruptionBudget up to date: it is what evictions are judged by. */
export function budgets(world: Counted, clock: Pick<Clock, 'now'>): readonly KubeRequest[] {
  return world.budgets.flatMap((budget) => {
    const pods = world.pods.filter((pod) => covers(budget, pod) && !isPodTerminal(pod));
    if (!isCountable(budget, pods)) return [];
    const status = budgetStatus(budget, pods, { ...world, now: clock.now() });
    if (isDeepStrictEqual({ ...budget.status, ...status }, budget.status)) return [];
    const body = {
      ...budget,
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      status: { ...budget.status, ...status },
    };
    return [{ method: 'PUT', path: `${budgetPath(budget)}/status`, body }];
  });
}

function budgetPath({ metadata }: PodDisruptionBudget): string {
  return `/apis/policy/v1/namespaces/${metadata.namespace}/poddisruptionbudgets/${metadata.name}`;
}

/** Kinds that say how many pods there should be. */
const SCALED: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet']);

/** A number of pods needs no counting; for all else the pods' controllers are asked, and where one cannot say, nothing is. */
function isCountable({ spec }: PodDisruptionBudget, pods: readonly Pod[]): boolean {
  if (typeof spec?.minAvailable === 'number') return true;
  const controllers = pods.flatMap(
    ({ metadata }) => metadata.ownerReferences?.filter(({ controller }) => controller) ?? [],
  );
  return controllers.every(({ kind }) => SCALED.has(kind));
}

function budgetStatus(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  world: Counted & { readonly now: number },
): object {
  const disruptedPods = stillDisrupted(budget, pods, world.now);
  const currentHealthy = pods.filter(
    (pod) => isActive(pod) && isReady(pod) && !(pod.metadata.name in disruptedPods),
  ).length;
  const expectedPods = expected(pods, world);
  const desiredHealthy = desired(budget, expectedPods);
  return {
    observedGeneration: budget.metadata.generation,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed: expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy),
    disruptedPods,
  };
}

function covers({ metadata, spec }: PodDisruptionBudget, pod: Pod): boolean {
  return pod.metadata.namespace === metadata.namespace && labelSelector(spec?.selector)(pod.metadata.labels ?? {});
}

/** Pods whose eviction was granted and whose deletion is not yet to be seen: they are as good as gone, for a while. */
function stillDisrupted(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  now: number,
): Readonly<Record<string, Time>> {
  const present = new Set(pods.filter(isActive).map(({ metadata }) => metadata.name));
  const isFresh = ([name, at]: readonly [string, Time]): boolean =>
    present.has(name) && Date.parse(at ?? '') + DISRUPTED_MS > now;
  return Object.fromEntries(Object.entries(status?.disruptedPods ?? {}).filter(isFresh));
}

/** How many pods there should be: the size of the ReplicaSets that own them, and the pods themselves that none owns. */
function expected(pods: readonly Pod[], world: Counted): number {
  const owners = new Set(pods.map(controllerUid));
  const sets = world.replicaSets.filter(({ metadata }) => owners.has(metadata.uid));
  const owned = new Set<string | undefined>(sets.map(({ metadata }) => metadata.uid));
  const others = pods.filter((pod) => isActive(pod) && !owned.has(controllerUid(pod))).length;
  return sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), others);
}

function desired({ spec }: PodDisruptionBudget, expectedPods: number): number {
  if (spec?.maxUnavailable !== undefined) return Math.max(0, expectedPods - scaled(spec.maxUnavailable, expectedPods));
  return scaled(spec?.minAvailable ?? 0, expectedPods);
}
