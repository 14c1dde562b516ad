import { filterPods, type FilterTerms, podsLeft } from '../../drain/filter.ts';
import { type DrainPod, drainPod, podName } from '../../drain/pod.ts';
import { unevictable } from '../../drain/preflight.ts';
import { listAll } from '../../kube/collection.ts';
import type { Pod, PodDisruptionBudget } from '../../kube/objects.ts';
import { budgetsOf, podsPath } from '../../kube/resources.ts';
import type { Cluster } from '../command.ts';
import { ifAllowed } from '../reading.ts';

/** A pod that no eviction can move as things are. */
export interface Stuck {
  readonly node: string;
  /** e.g. `shop/web-1`. */
  readonly pod: string;
  readonly because: string;
}

interface Drains {
  readonly stuck: readonly Stuck[];
  readonly unknown: readonly string[];
}

/** Makes the apiserver's preflight for each of the nodes: which drains cannot end as things are. */
export async function checkDrains(cluster: Cluster, nodes: ReadonlySet<string>, now: number): Promise<Drains> {
  const { transport } = cluster;
  if (nodes.size === 0) return { stuck: [], unknown: [] };
  const [pods, budgets] = await Promise.all([
    ifAllowed(listAll(transport, { path: podsPath(), project: placed }), []),
    ifAllowed(budgetsOf(transport).list(), []),
  ]);
  const refused = pods.refused ?? budgets.refused;
  if (refused !== undefined)
    return { stuck: [], unknown: [`which drains cannot end (${refused}): all are assumed to`] };
  const world = { pods: pods.value, budgets: budgets.value };
  return {
    stuck: stuckOn(nodes, world, {
      namespace: cluster.namespace,
      lateAfter: now,
      returning: new Set(),
      overdue: { from: Infinity, to: -Infinity },
    }),
    unknown: [],
  };
}

interface PlacedPod extends DrainPod {
  readonly node: string;
}

interface PodsAndBudgets {
  readonly pods: readonly PlacedPod[];
  readonly budgets: readonly PodDisruptionBudget[];
}

export function placed(pod: Pod): PlacedPod {
  return { ...drainPod(pod), node: pod.spec?.nodeName ?? '' };
}

export function stuckOn(
  nodes: ReadonlySet<string>,
  { pods, budgets }: PodsAndBudgets,
  terms: FilterTerms,
): readonly Stuck[] {
  return [...Map.groupBy(pods, ({ node }) => node)].flatMap(([node, onIt]) => {
    const moved = nodes.has(node) ? podsLeft(filterPods(onIt, terms)) : [];
    const blocked = unevictable(moved, budgets);
    return moved.flatMap((pod) => {
      const because = blocked.get(pod.uid);
      return because === undefined ? [] : [{ node, pod: podName(pod), because }];
    });
  });
}
