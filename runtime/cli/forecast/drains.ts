import type { LetFinish } from '../../api/shadow/let-finish.ts';
import { letFinish } from '../../drain/drain.ts';
import { filterPods, type FilterTerms, podsLeft, termsAhead } from '../../drain/filter.ts';
import { type Candidate, candidateOf } from '../../drain/needs.ts';
import { type DrainPod, drainPod, isFinished, podName } from '../../drain/pod.ts';
import { unevictable } from '../../drain/preflight.ts';
import { freeOn, isWanted, lackOf, offered, roomFor } from '../../drain/room.ts';
import { listAll, SMALL_PAGE_SIZE } from '../../kube/collection.ts';
import type { Pod, PodDisruptionBudget } from '../../kube/objects.ts';
import { budgetsOf, NODES_PATH, podsPath } from '../../kube/resources.ts';
import type { Cluster } from '../command.ts';
import { ifAllowed } from '../reading.ts';

/** A pod that no eviction can move as things are. */
export interface Stuck {
  readonly node: string;
  /** e.g. `shop/web-1`. */
  readonly pod: string;
  readonly because: string;
}

/** A node whose pods find no place elsewhere as things are. */
interface Crowded {
  readonly node: string;
  /** e.g. `14 CPU needed, 9 free`. */
  readonly lack: string;
}

/** A node whose drain lets work finish before it evicts anybody. */
interface Finishing {
  readonly node: string;
  /** e.g. `shop/batch-1`. */
  readonly pods: readonly string[];
  /** At most. */
  readonly upToMs: number;
}

export interface Drains {
  readonly stuck: readonly Stuck[];
  readonly crowded: readonly Crowded[];
  readonly finishing: readonly Finishing[];
  readonly unknown: readonly string[];
}

/**
 * Makes the apiserver's preflight for each of the nodes: which drains cannot end as things are, whose pods find no place elsewhere, and which finish first.
 * @param ahead whose work is let finish on each of them
 */
export async function checkDrains(cluster: Cluster, ahead: Ahead, now: number): Promise<Drains> {
  const { transport } = cluster;
  if (ahead.size === 0) return { ...NONE, unknown: [] };
  const [pods, budgets, candidates] = await Promise.all([
    ifAllowed(listAll(transport, { path: podsPath(), project: placed }), []),
    ifAllowed(budgetsOf(transport).list(), []),
    listAll(transport, { path: NODES_PATH, project: candidateOf, pageSize: SMALL_PAGE_SIZE }),
  ]);
  const refused = pods.refused ?? budgets.refused;
  if (refused !== undefined) return { ...NONE, unknown: [`which drains cannot end (${refused}): all are assumed to`] };
  const world = { pods: pods.value, budgets: budgets.value, candidates: candidates.flatMap((node) => node ?? []) };
  const terms = termsAhead(cluster.namespace, now);
  const nodes = new Set(ahead.keys());
  const [stuck, crowded] = [stuckOn(nodes, world, terms), crowdedOn(nodes, world, terms)];
  return { stuck, crowded, finishing: finishingOn(ahead, world, terms), unknown: [] };
}

const NONE = { stuck: [], crowded: [], finishing: [] };

/** By name of the node. */
type Ahead = ReadonlyMap<string, LetFinish | undefined>;

function finishingOn(ahead: Ahead, { pods }: Pick<PodsAndBudgets, 'pods'>, terms: FilterTerms): readonly Finishing[] {
  const byNode = Map.groupBy(pods, ({ node }) => node);
  return [...ahead].flatMap(([node, said]) => {
    const finish = said ? letFinish(filterPods(byNode.get(node) ?? [], terms), said) : [];
    return said && finish.length > 0 ? [{ node, pods: finish.map(podName), upToMs: said.upToMs }] : [];
  });
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

/** Of each node by itself: others may have been drained by then, and be back. */
export function crowdedOn(
  nodes: ReadonlySet<string>,
  { pods, candidates }: Pick<PodsAndBudgets, 'pods'> & { readonly candidates: readonly Candidate[] },
  terms: FilterTerms,
): readonly Crowded[] {
  const byNode = Map.groupBy(pods, ({ node }) => node);
  const takenOn = (node: string) =>
    (byNode.get(node) ?? []).filter((pod) => !isFinished(pod)).map(({ needs }) => needs?.requests ?? {});
  const free = candidates.map((node) => ({ node, free: freeOn(node, takenOn(node.name)) }));
  return [...nodes].flatMap((name) => {
    const moved = podsLeft(filterPods(byNode.get(name) ?? [], terms));
    const others = free.filter(({ node }) => node.name !== name);
    const room = others.reduce(
      (before, one) => (isWanted(before, one.node) ? offered(before, one.node, one.free) : before),
      roomFor(moved),
    );
    const lack = lackOf(room);
    return lack === undefined ? [] : [{ node: name, lack }];
  });
}
