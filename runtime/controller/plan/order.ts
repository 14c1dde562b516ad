import type { Candidate } from './gates.ts';
import { compare } from './snapshot.ts';
import type { Zone, Zones } from './zones.ts';

/**
 * Offers a place to the candidates of one policy in their turn: those that somebody has asked for first, then the fewest failures
 * (`crash_count`), then those of the zone that is being worked on, or where zones are not limited of the one with the fewest updates under
 * way, then the oldest node, then by name. What starts meanwhile counts, and so does who waits for a place only.
 * @param candidates by name
 * @param offer returns whether the candidate waits for a place
 */
export function inTurn(candidates: readonly Candidate[], zones: Zones, offer: Offer): void {
  const sorted = candidates.toSorted((a, b) => rankOf(a) - rankOf(b) || a.createdAt - b.createdAt);
  for (const alike of Map.groupBy(sorted, rankOf).values()) zoneByZone(alike, zones, offer);
}

const rankOf = ({ isAsked, crashes }: Candidate): number => (isAsked ? -1 : crashes);

type Offer = (candidate: Candidate) => boolean;

/** The candidates of one zone. */
interface Queue {
  readonly zone: Zone;
  readonly all: readonly Candidate[];
  /** How many had their turn. */
  served: number;
  /** The next one. */
  head: Candidate;
  /** Those of the zone that wait for a place. */
  queued: number;
  /** Some nodes of the zone run the version that others of it wait for. */
  readonly isBegun: boolean;
}

function zoneByZone(candidates: readonly Candidate[], zones: Zones, offer: Offer): void {
  const before = zones.isLimited ? byTurnOfZones : byFewest;
  const queues: Queue[] = [];
  for (const queue of queuesOf(candidates, zones)) insert(queues, queue, before);
  for (let queue = queues.pop(); queue; queue = queues.pop()) {
    if (offer(queue.head)) queue.queued += 1;
    queue.served += 1;
    const next = queue.all[queue.served];
    if (!next) continue;
    queue.head = next;
    insert(queues, queue, before);
  }
}

function queuesOf(candidates: readonly Candidate[], zones: Zones): Queue[] {
  return [...Map.groupBy(candidates, ({ info }) => zones.of(info.node))].flatMap(([zone, all]) => {
    const isBegun = zones.isLimited && all.some(({ info, version }) => zones.runs(zone, info.node.family, version));
    const [head] = all;
    return head ? { zone, all, served: 0, head, queued: 0, isBegun } : [];
  });
}

type Order = (a: Queue, b: Queue) => number;

/** One zone after the other: those that nodes are being updated in, then those where some run the release already, then by name. */
const byTurnOfZones: Order = (a, b) =>
  Number(b.zone.busy > 0) - Number(a.zone.busy > 0) ||
  Number(b.isBegun) - Number(a.isBegun) ||
  compare(a.zone.name ?? '', b.zone.name ?? '');

const byFewest: Order = (a, b) => a.zone.updating + a.queued - (b.zone.updating + b.queued) || byAge(a.head, b.head);

const byAge = (a: Candidate, b: Candidate): number =>
  a.createdAt - b.createdAt || compare(a.info.node.name, b.info.node.name);

/** Keeps the queues in order, the next one last: only the one whose turn it was has another place than before. */
function insert(queues: Queue[], queue: Queue, before: Order): void {
  let low = 0;
  let high = queues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = queues[middle];
    if (other && before(other, queue) > 0) low = middle + 1;
    else high = middle;
  }
  queues.splice(low, 0, queue);
}
