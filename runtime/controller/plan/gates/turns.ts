import type { GroupPlaces } from '../groups/busy.ts';
import { type Asking, askingOf, type World } from './asking.ts';
import { blockedUntil } from './blocked.ts';
import type { Group } from '../groups/groups.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { OsRelease } from '../releases/os-release.ts';
import { wasCalledOff } from './pauses.ts';
import { compare, type NodeView, type ShadowView } from '../facts/snapshot.ts';

/** A node with an update to start, and one policy that rules it. */
export interface Ruled extends Asking {
  readonly version: string;
  readonly group: Group;
  readonly release: OsRelease;
}

/** Not so where several policies claim the node. */
export const isRuled = (asking: Asking | undefined): asking is Ruled =>
  asking?.version !== undefined && asking.group !== undefined && asking.release !== undefined;

/** The node as one that would start on what it is offered; undefined where it would start on nothing, or several policies claim it. */
export function candidateFor(info: AssessedNode, world: Pick<World, 'groups' | 'settings' | 'now'>): Ruled | undefined {
  const { shadow, offered: version } = info;
  const asking = shadow && version !== undefined ? askingOf(info, { shadow, version }, world) : undefined;
  return isRuled(asking) ? asking : undefined;
}

/** The candidates of one policy. */
interface Turns {
  readonly group: Group;
  readonly places: GroupPlaces;
  /** What becomes of a candidate: a place is given to it, or it waits for one and for nothing else, or something else stops it by now. */
  readonly offer: (candidate: Ruled) => 'given' | 'queued' | 'stopped';
  readonly now: number;
}

/**
 * Offers a place to the candidates of one policy in their turn (rule P6):
 * 1. those that somebody has asked for,
 * 2. those with the fewest failures (`crash_count`), and of these, those whose update to this version was not called off, and where nothing was found that
 *    blocks the drain,
 * 3. those of the zone that is being worked on or, where zones are not limited, of the zone with the fewest updates under way,
 * 4. those that have prepared it ahead (rule H1): a place that waits for a download is lost to all,
 * 5. the oldest node,
 * 6. by name.
 *
 * Policies come in the order of their priorities before that (`Rulings.all`), and the controller's own node after all others (`isLast`). A turn goes by
 * what `Ruled` has; pods are not known here. What comes before the age of nodes, forecasts have to know as well (`lineOf` of `runtime/cli/forecast`).
 * Nodes that start meanwhile, and those that wait for nothing but a place, count as updates under way.
 */
export function inTurn(candidates: readonly Ruled[], turns: Turns): void {
  const started = new Map<string, number>();
  const ranks = [...Map.groupBy(candidates, (candidate) => rankOf(candidate, turns.now))].toSorted(([a], [b]) => a - b);
  for (const [, alike] of ranks) zoneByZone(alike.toSorted(byPreparation), turns, started);
}

/** The first two of the list: whole numbers are failures, and below them is who was asked for. The lowest comes first. */
export function rankOf({ info, shadow, version }: Ruled, now: number): number {
  const failures = info.node.askedBy === undefined ? (shadow.status?.crash_count ?? 0) : -1;
  return failures + (wasCalledOff(shadow, version) || blockedUntil(shadow) > now ? 0.5 : 0);
}

/** The node that the controller runs on: its drain interrupts the controller. Where somebody asks for it, it comes in its turn. */
export const isLast = ({ info: { node } }: Asking, { settings }: Pick<World, 'settings'>): boolean =>
  node.name === settings.ownNode && node.askedBy === undefined;

/** The candidates of one zone. */
interface Queue {
  readonly zone: string;
  readonly all: readonly Ruled[];
  /** How many had their turn. */
  served: number;
  /** The next one. */
  head: Ruled;
  /** Updates under way in the zone, and nodes of it that wait for a place. */
  moving: number;
  /** Nodes of the zone take a part of the budget. */
  isBusy: boolean;
  /** Some nodes of the zone run the version that others of it wait for. */
  readonly isBegun: boolean;
}

/** @param started by zone, how many have started meanwhile */
function zoneByZone(candidates: readonly Ruled[], turns: Turns, started: Map<string, number>): void {
  const before = isLimited(turns) ? byTurnOfZones : byFewest;
  const queues: Queue[] = [];
  for (const queue of queuesOf(candidates, turns, started)) insert(queues, queue, before);
  for (let queue = queues.pop(); queue; queue = queues.pop()) {
    const became = turns.offer(queue.head);
    if (became !== 'stopped') queue.moving += 1;
    if (became === 'given') {
      queue.isBusy = true;
      started.set(queue.zone, (started.get(queue.zone) ?? 0) + 1);
    }
    queue.served += 1;
    const next = queue.all[queue.served];
    if (!next) continue;
    queue.head = next;
    insert(queues, queue, before);
  }
}

const isLimited = ({ group }: Turns): boolean => group.rules.zones.atOnce !== Infinity;

function queuesOf(candidates: readonly Ruled[], turns: Turns, started: ReadonlyMap<string, number>): Queue[] {
  const { group, places } = turns;
  const running = isLimited(turns) ? versionsByZone(group) : undefined;
  return [...Map.groupBy(candidates, ({ info }) => info.zone)].flatMap(([zone, all]) => {
    const [head] = all;
    if (!head) return [];
    const startedHere = started.get(zone) ?? 0;
    const isBegun = running !== undefined && all.some((one) => running.has(versionKey(zone, one.info, one.version)));
    const moving = (places.updating.get(zone) ?? 0) + startedHere;
    return { zone, all, served: 0, head, moving, isBusy: startedHere > 0 || places.zones.taken.has(zone), isBegun };
  });
}

const versionKey = (zone: string, { node }: Ruled['info'], version: string): string =>
  `${zone} ${node.family} ${version}`;

function versionsByZone(group: Group): ReadonlySet<string> {
  return new Set(
    group.members.flatMap((info) => {
      const { status } = info.shadow ?? {};
      return status ? versionKey(info.zone, info, status.current_version) : [];
    }),
  );
}

type Order = (a: Queue, b: Queue) => number;

/** Zones come one after the other: first those whose nodes take a part of the budget, then those where some run the release already, then by name. */
const byTurnOfZones: Order = (a, b) =>
  Number(b.isBusy) - Number(a.isBusy) || Number(b.isBegun) - Number(a.isBegun) || compare(a.zone, b.zone);

const byFewest: Order = (a, b) => a.moving - b.moving || byPreparation(a.head, b.head);

const byPreparation = (a: Ruled, b: Ruled): number => Number(isPrepared(b)) - Number(isPrepared(a)) || byAge(a, b);

export const isPrepared = ({ info: { node }, shadow, version }: Ruled): boolean =>
  shadow.hint?.version === version && isStagedAhead(node, shadow);

/** What the node was named to prepare is in its inactive partition. */
export const isStagedAhead = ({ bootId }: Pick<NodeView, 'bootId'>, { hint, status }: ShadowView): boolean =>
  hint !== undefined && status?.staged?.version === hint.version && status.staged.boot_id === bootId;

/** Where nothing else decides. Forecasts go by it, too. */
export const byAge = ({ info: { node: a } }: WithNode, { info: { node: b } }: WithNode): number =>
  a.createdAt - b.createdAt || compare(a.name, b.name);

interface WithNode {
  readonly info: { readonly node: Pick<NodeView, 'createdAt' | 'name'> };
}

/** Puts the queue into its place among the others, which are in order, the next one last. */
function insert(queues: Queue[], queue: Queue, before: Order): void {
  let low = 0;
  let high = queues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = queues[middle];
    if (other && before(other, queue) > 0) low = middle + 1;
    else high = middle;
  }
  if (low === queues.length) queues.push(queue);
  else queues.splice(low, 0, queue);
}
