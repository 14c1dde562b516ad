import { WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { budgetsIn } from '../../runtime/api/shadow/drain.ts';
import type { History } from './history.ts';
import { apply } from './kubectl.ts';
import { isCordoned, isMarked, podsOn, shadowOf } from './looks.ts';
import type { Outlook } from './scene.ts';

/**
 * Two PodDisruptionBudgets that cross: each has a pod on each of two nodes, which runs nowhere else. Of one budget the first node evicts its pod, of
 * the other the second, and neither can go on.
 */

export type Pair = readonly [string, string];

const BUDGETS = ['x', 'y'] as const;
/** Pods of system priority are evicted once the others are gone. */
const LATER = 'system-cluster-critical';
/** So long the others take to end: by then both of them are evicted. */
const GRACE_SEC = 15;

/** One pod of a budget, which runs on that node or nowhere. */
function pinned(budget: string, node: string, priorityClassName?: string): object {
  const labels = { budget, pinned: node };
  const spec = {
    ...(priorityClassName && { priorityClassName }),
    terminationGracePeriodSeconds: priorityClassName ? 1 : GRACE_SEC,
    nodeSelector: { 'kubernetes.io/hostname': node },
    containers: [{ name: budget, image: 'example.com/pinned:1' }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `${budget}-${node}`, namespace: WORKLOAD_NAMESPACE },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

const budgetOf = (name: string, minAvailable: number): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: WORKLOAD_NAMESPACE },
  spec: { minAvailable, selector: { matchLabels: { budget: name } } },
});

/** As many pods as each of both budgets has to have: of two. */
export const want = (minAvailable: number): Promise<void> =>
  apply(...BUDGETS.map((name) => budgetOf(name, minAvailable)));

/** Resolves once all pods of both budgets run. */
export async function pin({ until }: Outlook, pair: Pair): Promise<void> {
  const [first, second] = pair;
  await want(2);
  await apply(pinned('y', first), pinned('x', first, LATER), pinned('x', second), pinned('y', second, LATER));
  await until((history) => pair.every((node) => pinnedOn(history, node) === 2));
}

export const pinnedOn = (history: History, node: string): number =>
  podsOn(history, node).filter(({ metadata, status }) => metadata.labels?.['pinned'] && status?.phase === 'Running')
    .length;

const waitsFor = (history: History, node: string): readonly string[] => {
  const { drain } = shadowOf(history, node)?.status ?? {};
  return isMarked(history, node) ? [...budgetsIn(drain?.blocked_by ?? [])].toSorted() : [];
};
const inNamespace = (name: string): string => `${WORKLOAD_NAMESPACE}/${name}`;

/** Up to where each drain waits for a pod that the other one has evicted. */
export async function cross({ until }: Outlook, pair: Pair): Promise<void> {
  const [first, second] = pair;
  await until((history) => pair.every((node) => waitsFor(history, node).length > 0 && isCordoned(history, node)));
  await want(1);
  await until(
    (history) =>
      waitsFor(history, first).join() === inNamespace('x') && waitsFor(history, second).join() === inNamespace('y'),
  );
}
