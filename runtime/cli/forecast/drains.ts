import { filterPods, podsLeft } from '../../apiserver/drain/filter.ts';
import { unevictable } from '../../apiserver/drain/preflight.ts';
import type { Pod, PodDisruptionBudget } from '../../kube/objects.ts';
import { budgetsOf, podsOf } from '../../kube/resources.ts';
import { rfc3339 } from '../../lib/clock.ts';
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
    ifAllowed(podsOf(transport).list(), []),
    ifAllowed(budgetsOf(transport).list(), []),
  ]);
  const refused = pods.refused ?? budgets.refused;
  if (refused !== undefined)
    return { stuck: [], unknown: [`which drains cannot end (${refused}): all are assumed to`] };
  const world = { pods: pods.value, budgets: budgets.value };
  return { stuck: stuckOn(nodes, world, { namespace: cluster.namespace, lateAfter: rfc3339(now) }), unknown: [] };
}

interface PodsAndBudgets {
  readonly pods: readonly Pod[];
  readonly budgets: readonly PodDisruptionBudget[];
}

export function stuckOn(
  nodes: ReadonlySet<string>,
  { pods, budgets }: PodsAndBudgets,
  terms: Parameters<typeof filterPods>[1],
): readonly Stuck[] {
  const moved = podsLeft(
    filterPods(
      pods.filter(({ spec }) => nodes.has(spec?.nodeName ?? '')),
      terms,
    ),
  );
  const blocked = unevictable(moved, budgets);
  return moved.flatMap(({ metadata, spec }) => {
    const because = blocked.get(metadata.uid);
    const pod = `${metadata.namespace}/${metadata.name}`;
    return because === undefined ? [] : [{ node: spec?.nodeName ?? '', pod, because }];
  });
}
