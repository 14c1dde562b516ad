import { labelOf } from '../../../lib/selector.ts';
import { concurrency, unhealthyLimit } from '../../../api/policy/quantity.ts';
import type { Group, Groups } from './groups.ts';
import { type AssessedNode, type Fleet, wasReady } from '../nodes/health.ts';
import { isLeftOver } from '../nodes/standing.ts';
import { type At, isSpared } from '../facts/arriving.ts';
import { bytesOf, LIST_BYTES, type PermitTerms, type PermitKey } from '../facts/permit.ts';
import { isCalledOff, isLetThrough, isRefused, isUnderWay, PHASES } from '../facts/phase.ts';
import { type Claim, type Place, placeOf, zoneOf } from '../facts/places.ts';
import { NEVER } from '../facts/requeue.ts';
import { compare, type NodeInfo, type Settings, type Snapshot } from '../facts/snapshot.ts';
import { type Finding, found, listed } from '../facts/verdict.ts';

/** Who takes a part of the budget. */
export interface Holder {
  /** Its name; its UID, where no node is known. */
  readonly node: string;
  readonly because: 'Update' | 'Marks' | 'NodeNotReady' | 'Cordoned' | 'AgentSilent' | 'NodeGone';
  /** When its part comes back by itself, milliseconds since the Unix epoch. */
  readonly until?: number;
}

/** Who is busy. This is the one definition of it: the budget of each policy and that of all together count by it (rules L6 and L7). */
interface Busy {
  readonly uid: string;
  /** Undefined where no such node is known. */
  readonly info: AssessedNode | undefined;
  /** Until when, where it is not being updated; NEVER = until its update is over. */
  readonly until: number;
}

export function busyNodes(
  { all, unsettled }: Fleet,
  { permits, shadows }: Pick<Snapshot, 'permits' | 'shadows'>,
  at: At,
): Busy[] {
  const busy: Busy[] = [];
  // A shadow whose node is not known counts by the UID of its owner. A shadow without an owner does not count: nothing acts on it.
  const strays = new Set(shadows.filter(isUnderWay).flatMap(({ owners }) => owners));
  for (const { nodeUid } of permits) strays.add(nodeUid);
  for (const info of unsettled) {
    const { uid } = info.node;
    strays.delete(uid);
    const until = isSpared(info, at) ? undefined : busyUntil(info);
    if (until !== undefined) busy.push({ uid, info, until });
  }
  // A settled node has no active shadow, but may be named as the owner of another's.
  if (strays.size > 0) for (const { node } of all) strays.delete(node.uid);
  return [...busy, ...[...strays].map((uid) => ({ uid, info: undefined, until: NEVER }))];
}

function busyUntil(info: AssessedNode): number | undefined {
  const { node, permit, phase, health } = info;
  const { outageUntil, overdueFrom } = health;
  if (!permit && !isOccupied(info)) return outageUntil;
  if (permit || node.marks || !isCalledOff(phase)) return NEVER;
  return Math.max(overdueFrom, outageUntil ?? -Infinity);
}

/**
 * Who is out of service, or may be at any moment: what is disturbed or asked to be, or lost. An update that has disturbed nothing yet is not, but for
 * one whose view may hide that it was let through.
 */
export function isOut({ info, until }: Busy): boolean {
  if (!info || info.node.marks !== undefined) return true;
  const { phase, shadow, health } = info;
  if (isCalledOff(phase)) return health.outageUntil !== undefined;
  if (until !== NEVER) return true;
  if (phase.kind === 'staged') return shadow?.stale === true;
  return phase.kind === 'unknown' || phase.kind === 'returning' || isLetThrough(phase);
}

/** Whether an update occupies the node, with or without a permit. One that was called off, and has given its permit back, disturbs it no more. */
function isOccupied(info: AssessedNode): boolean {
  const isFree = isLeftOver(info) || info.health.isGivenBack;
  return info.node.marks !== undefined || (PHASES[info.phase.kind].isUnderWay && !isFree);
}

/** How many nodes a finding names. */
const NAMED = 20;

/**
 * Why nothing new is disturbed, where more nodes are not Ready than MAX_UNHEALTHY lets be, for however long; undefined where it does not. Those that
 * are being updated, that a person holds, or that never were Ready are no sign of that.
 */
export function unhealthyOf(
  { size: members, unsettled }: Fleet,
  { maxUnhealthy }: Pick<Settings, 'maxUnhealthy'>,
): Finding | undefined {
  const limit = unhealthyLimit(maxUnhealthy, members);
  const down = unsettled.filter((info) => {
    const { managed: isOurs, ready, held } = info.node;
    const isUpdated = info.permit !== undefined || (isOccupied(info) && !isCalledOff(info.phase));
    return isOurs && !ready && !held && wasReady(info) && !isUpdated;
  });
  if (down.length <= limit) return undefined;
  const names = listed(
    down.map(({ node }) => node.name),
    NAMED,
  );
  const share = `${down.length} of ${members} nodes are not Ready`;
  return found('TooManyUnhealthy', `${share}, and MAX_UNHEALTHY lets ${limit} be: ${names}`);
}

/** What the busy nodes of one policy take. */
export interface GroupPlaces {
  readonly budget: Place;
  /** By name of the zone. */
  readonly zones: Place;
  /** By name of the zone, how many nodes are being updated. */
  readonly updating: ReadonlyMap<string, number>;
}

export interface Places {
  /** The budget over all policies together. */
  readonly all: Place;
  /** Bytes of the list on the Lease (rule L7). */
  readonly room: Place;
  /** Drains that are about to begin, one at a time: none sees yet what the others move. */
  readonly beginning: Place;
  readonly of: (group: Group) => GroupPlaces;
}

interface Limits extends Pick<Settings, 'maxConcurrent'>, Pick<Snapshot, 'permits'> {
  /** Managed nodes. */
  readonly members: number;
}

export function placesOf(busy: readonly Busy[], groups: Groups, { maxConcurrent, permits, members }: Limits): Places {
  const byGroup = new Map<Group, Busy[]>(groups.all.map((group) => [group, []]));
  for (const one of busy) {
    for (const group of one.info ? groups.claiming(one.info) : []) byGroup.get(group)?.push(one);
  }
  const places = new Map([...byGroup].map(([group, those]) => [group, groupPlaces(group, those)]));
  return {
    all: placeOf(concurrency(maxConcurrent, members), new Map(busy.map(({ uid, until }) => [uid, until]))),
    room: placeOf(LIST_BYTES, new Map(), bytesOfAll(permits)),
    beginning: placeOf(1, new Map(busy.flatMap((one) => beginsUntil(one, groups.now)))),
    of: (group) => places.get(group) ?? groupPlaces(group, []),
  };
}

/** A node that is told to drain bears marks, or is refused, within seconds; what takes longer delays no other. */
const BEGINS_MS = 10_000;

function beginsUntil({ uid, info }: Busy, now: number): [string, number][] {
  const { phase, shadow } = info ?? {};
  if (!phase || !shadow) return [];
  if (phase.kind === 'staged') return shadow.stale ? [[uid, NEVER]] : [];
  const until = shadow.stepBeganAt + BEGINS_MS;
  return phase.kind === 'asked' && !isRefused(phase) && until > now ? [[uid, until]] : [];
}

export const beginningOf = ({ node: { uid: key } }: NodeInfo, { beginning: place }: Places): Claim => ({ place, key });

const bytesOfAll = (permits: Snapshot['permits']): number => permits.reduce((sum, permit) => sum + bytesOf(permit), 0);

function groupPlaces(group: Group, busy: readonly Busy[]): GroupPlaces {
  const { rules, capacity } = group;
  const zones = new Map<string, number>();
  const updating = new Map<string, number>();
  for (const { info, until } of busy) {
    if (!info) continue;
    const zone = zoneOf(info.node, rules);
    zones.set(zone, Math.max(until, zones.get(zone) ?? -Infinity));
    if (until === NEVER) updating.set(zone, (updating.get(zone) ?? 0) + 1);
  }
  const taken = new Map(busy.map(({ uid, until }) => [uid, until]));
  return { budget: placeOf(capacity, taken), zones: placeOf(rules.zones.atOnce, zones), updating };
}

interface Claimant {
  readonly info: NodeInfo;
  readonly group: Group;
  readonly version: string | undefined;
  /** Budgets do not count it. */
  readonly isArriving?: boolean;
}

/** What the permit of an update is taken for. */
export function termsOf({
  info: { node },
  group: { rules, view },
  version,
  isArriving,
}: Claimant): PermitKey & PermitTerms {
  const policy = { name: rules.name ?? '', uid: view.resource?.uid ?? '' };
  const { shadowName: shadow, uid: nodeUid, family } = node;
  const terms = { shadow, nodeUid, family, version, policy, zone: labelOf(node.labels, rules.zones.key) };
  return isArriving ? { ...terms, arriving: true } : terms;
}

/** What an update takes. */
const CLAIMS = {
  budget: ({ info, group }, places) => ({ place: places.of(group).budget, key: info.node.uid }),
  all: ({ info }, { all }) => ({ place: all, key: info.node.uid }),
  zone: ({ info, group }, places) => ({
    place: places.of(group).zones,
    key: zoneOf(info.node, group.rules),
    shared: true,
  }),
  room: (claimant, { room }) => ({ place: room, key: claimant.info.node.uid, weight: weightOf(claimant) }),
} as const satisfies Readonly<Record<string, (claimant: Claimant, places: Places) => Claim>>;

export const claimOf = (which: keyof typeof CLAIMS, claimant: Claimant, places: Places): Claim =>
  CLAIMS[which](claimant, places);

export const claimsOf = (claimant: Claimant, places: Places): readonly Claim[] =>
  (claimant.isArriving ? [CLAIMS.room] : Object.values(CLAIMS)).map((claim) => claim(claimant, places));

/** Bytes that its permit adds to the list. */
const weightOf = (claimant: Claimant): number =>
  bytesOf(termsOf(claimant)) - (claimant.info.permit ? bytesOf(claimant.info.permit) : 0);

/** Who takes up the budget over all: nodes by name, then what belongs to no known node. @param starting nodes that are about to start */
export function holdersOf(busy: readonly Busy[], starting: readonly AssessedNode[]): readonly Holder[] {
  const begun = new Set(starting);
  const known = busy.flatMap(({ info, until }) => (info && !begun.has(info) ? { info, until } : []));
  const nodes = [...known, ...starting.map((info) => ({ info, until: NEVER }))];
  nodes.sort((a, b) => compare(a.info.node.name, b.info.node.name));
  const gone = busy.flatMap(({ uid, info }) => (info ? [] : uid)).toSorted();
  return [...nodes.map(holderOf), ...gone.map((node) => ({ node, because: 'NodeGone' }) as const)];
}

function holderOf({ info: { node, permit, phase }, until }: Pick<Busy, 'until'> & { readonly info: NodeInfo }): Holder {
  const isThere = node.outAt === undefined ? 'AgentSilent' : 'Cordoned';
  if (until !== NEVER && !isCalledOff(phase))
    return { node: node.name, because: node.ready ? isThere : 'NodeNotReady', until };
  const isMarked = node.marks !== undefined && !permit && !PHASES[phase.kind].isUnderWay;
  return { node: node.name, because: isMarked ? 'Marks' : 'Update' };
}
