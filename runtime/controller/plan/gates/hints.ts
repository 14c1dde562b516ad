import { countNodes } from '../facts/node.ts';
import { concurrency } from '../../../api/policy/quantity.ts';
import type { World } from './asking.ts';
import { blockedUntil, isFoundBlocked, isKnownBlocked } from './blocked.ts';
import type { SetHint } from '../facts/commands.ts';
import { mayPrepare } from './gates.ts';
import type { Group } from '../groups/groups.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { PHASES } from '../facts/phase.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import { type Claim, give, NONE_GIVEN, type Place, placeOf, shortFor } from '../facts/places.ts';
import type { NodeInfo, NodeView, ShadowView } from '../facts/snapshot.ts';
import type { Starts } from './starts.ts';
import { candidateFor, inTurn, isLast, isStagedAhead, type Ruled } from './turns.ts';
import type { Ahead } from '../facts/verdict.ts';

/** Which nodes prepare their update while they wait for their turn (rule H2). */
interface Hints {
  readonly commands: readonly SetHint[];
  readonly changesAt: number;
}

/** @param managed nodes of the fleet */
export function hintsFor(managed: readonly AssessedNode[], starts: Starts, world: World): Hints {
  const { now } = world;
  const deserving = managed.filter((info) => isDeserving(info, starts));
  const room = new Room(managed, world);
  // Those that have theirs keep it, or hints would go round.
  const right = deserving.filter(({ shadow, offered }) => shadow?.hint?.version === offered);
  const kept = new Set(right.filter((info) => takesNoRoom(info, now) || room.take(world.groups.of(info), info.node)));
  // What is known to be blocked comes last, and waits for more than a download then.
  const free = deserving.filter(({ shadow }) => shadow && !isKnownBlocked(shadow, now));
  const next = nextOf(free, { right, room, world });
  const wrong = managed.filter((info) => info.shadow?.hint && !kept.has(info) && !starts.starting.has(info));
  const named = new Map<AssessedNode, string | null>(wrong.map((info) => [info, null]));
  for (const { info, version } of next) named.set(info, version);
  return {
    commands: [...named].flatMap(([{ shadow }, version]) => (shadow && !shadow.stale ? naming(shadow, version) : [])),
    changesAt: nextAfter(now, [...[...kept].map(overdueAt), ...deserving.flatMap(comesForwardAt)]),
  };
}

const naming = ({ name: shadow, resourceVersion }: ShadowView, version: string | null): SetHint => ({
  kind: 'set-hint',
  shadow,
  resourceVersion,
  version,
});

/** What other nodes do, and what does not last, keeps it from its update, and nothing else. Its agent has said that it prepares updates at rest. */
function isDeserving(info: AssessedNode, { kept }: Starts): boolean {
  const { node, shadow, permit } = info;
  if (shadow?.status?.staged == null || shadow.spec.state !== 'Idle' || permit || node.marks) return false;
  return mayPrepare(kept[info.at] ?? {});
}

/** When it comes after others no more, though it was found blocked. */
const comesForwardAt = ({ shadow }: NodeInfo): number | [] => (shadow?.status?.preflight ? blockedUntil(shadow) : []);

/** It has shown nothing in time, or is prepared and its drain would wait: it keeps what it was named, and others are named theirs. */
const takesNoRoom = (info: AssessedNode, now: number): boolean =>
  overdueAt(info) <= now || (info.shadow !== undefined && isBlockedAhead(info.node, info.shadow));

const isBlockedAhead = (node: NodeView, shadow: ShadowView): boolean =>
  isStagedAhead(node, shadow) && isFoundBlocked(shadow);

/** When a node that has shown nothing gives its place to another; NEVER for one that has prepared what it was named. */
function overdueAt({ node, shadow }: NodeInfo): number {
  if (!shadow?.hint || isStagedAhead(node, shadow)) return NEVER;
  return (shadow.hint.since ?? -Infinity) + PHASES.staging.givesBackMs;
}

/** It is named what it is yet to prepare, and may do so in time. */
export const isPreparing = (info: NodeInfo, now: number): boolean =>
  overdueAt(info) > now && info.shadow?.status?.staged?.version == null && info.shadow?.status?.staged?.error == null;

/** Undefined where the node is named nothing, or its update is under way. */
export function aheadOf({ node, shadow, phase }: NodeInfo): Ahead | undefined {
  if (!shadow?.hint || phase.kind !== 'resting') return undefined;
  const { version } = shadow.hint;
  const error = shadow.status?.staged?.error;
  return { version, isStaged: isStagedAhead(node, shadow), ...(error != null && { error }) };
}

interface Turn {
  /** Nodes that are named what they would start on. */
  readonly right: readonly AssessedNode[];
  readonly room: Room;
  readonly world: World;
}

/** The next ones to start, up to the room that is left. The controller's own node comes last, as it does then. */
function nextOf(deserving: readonly AssessedNode[], { right, room, world }: Turn): readonly Ruled[] {
  const have = new Set(right);
  const next: Ruled[] = [];
  const offer = (candidate: Ruled): 'queued' => {
    if (room.take(candidate.group, candidate.info.node)) next.push(candidate);
    return 'queued';
  };
  const last: Ruled[] = [];
  const byGroup = Map.groupBy(deserving, (info) => world.groups.of(info));
  for (const group of world.groups.all) {
    const waiting = byGroup.get(group) ?? [];
    const [one] = waiting;
    if (!one || !room.for(group, one.node)) continue;
    const candidates = waiting.flatMap((info) => (have.has(info) ? [] : (candidateFor(info, world) ?? [])));
    last.push(...candidates.filter((candidate) => isLast(candidate, world)));
    inTurn(
      candidates.filter((candidate) => !isLast(candidate, world)),
      { group, places: world.places.of(group), offer, now: world.now },
    );
  }
  last.forEach(offer);
  return next;
}

/** Who may prepare its update, over all and under each policy. */
class Room {
  readonly #all: Place;
  readonly #under: ReadonlyMap<Group | undefined, Place>;
  #given = NONE_GIVEN;

  constructor(managed: readonly AssessedNode[], { settings: { readAhead }, places, groups }: World) {
    const placeFor = (atOnce: number, members: readonly AssessedNode[]): Place =>
      placeOf(readAhead === undefined ? atOnce : concurrency(readAhead, countNodes(members)), new Map());
    this.#all = placeFor(places.all.limit, managed);
    this.#under = new Map(groups.all.map((group) => [group, placeFor(group.capacity, group.members)]));
  }

  /** What the node takes; undefined where there is no room for it, or no policy. */
  for(group: Group | undefined, { uid: key }: Pick<NodeView, 'uid'>): readonly Claim[] | undefined {
    const under = this.#under.get(group);
    const claims = under && [this.#all, under].map((place) => ({ place, key }));
    return claims?.every((claim) => shortFor(claim, this.#given) <= 0) ? claims : undefined;
  }

  /** @returns whether there was room */
  take(group: Group | undefined, node: Pick<NodeView, 'uid'>): boolean {
    const claims = this.for(group, node);
    if (claims) this.#given = give(this.#given, claims);
    return claims !== undefined;
  }
}
