import { beginningOf, claimsOf, termsOf } from '../groups/busy.ts';
import { type Again, type Asking, askingOf, type World } from './asking.ts';
import { askAgainOf, firstOf, type Gate, GATES } from './gates.ts';
import { crossingsOf, crossingStops } from './crossed.ts';
import { type Started, type Way, waysGiven } from './giving-way.ts';
import { hasJoined } from './joined.ts';
import type { Group } from '../groups/groups.ts';
import type { AssessedNode, Fleet } from '../nodes/health.ts';
import { STUCK_MS } from '../nodes/in-flight.ts';
import { isCalledOff, isRefused, isToldToDrain, mayCallOff } from '../facts/phase.ts';
import { type Claim, give, type Given, type Place, shortFor } from '../facts/places.ts';
import { proofClaims } from './others.ts';
import { type GateResult, NEVER, nextAfter, PASS } from '../facts/requeue.ts';
import { compare } from '../facts/snapshot.ts';
import type { Starts } from './starts.ts';
import { drainBlockedFinding, type Finding, found, type Stop } from '../facts/verdict.ts';

/** By UID of the node. */
export type Stops = ReadonlyMap<string, Stop>;

/**
 * Which updates do not go on, and by policy, when time alone stops another one or lets one go on.
 * @param before its places count who is out of service: those that are let through count for the next
 */
export function stopsOf(
  fleet: Pick<Fleet, 'all' | 'managed' | 'unsettled'>,
  starts: Waiting & Started,
  before: World,
): { readonly stops: Stops; readonly stopsAt: ReadonlyMap<Group | undefined, number> } {
  const { unsettled } = fleet;
  const stops = new Map<string, Stop>();
  const stopsAt = new Map<Group | undefined, number>();
  const note = (group: Group | undefined, instant: number): void => {
    if (instant !== NEVER) stopsAt.set(group, nextAfter(before.now, [instant, stopsAt.get(group) ?? NEVER]));
  };
  for (const { info, group, stop, changesAt } of answersTo(undisturbedOnes(unsettled, before), before)) {
    note(group, changesAt);
    if (stop) stops.set(info.node.uid, stop);
  }
  for (const { of, stop, endsAt } of [...overdueWays(unsettled, starts, before), ...waysGiven(fleet, starts, before)]) {
    if (stops.get(of.node.uid)?.kind === 'call-off') continue;
    if (stop) stops.set(of.node.uid, stop);
    note(before.groups.of(of), endsAt);
  }
  for (const crossing of crossingsOf(fleet, before)) {
    for (const [uid, stop] of crossingStops(crossing, before.now)) stops.set(uid, stop);
    note(before.groups.of(crossing.younger), crossing.due);
  }
  return { stops, stopsAt };
}

/**
 * Nodes that may be disturbed next, or have been told to drain and may still be called off, who has its permit for longest first. One that is not
 * Ready comes last: where the others take all places in the proof of its release, this plan calls it off, and not the next. A stale view may hide
 * that the node was let through already: `Tally.move` counts it as such.
 */
function undisturbedOnes(unsettled: readonly AssessedNode[], world: World): readonly Asking[] {
  const undisturbed = unsettled.flatMap((info) => {
    const { node, shadow, phase, health } = info;
    if (!node.managed || !shadow || health.agentSilent || phase.kind === 'staging' || !mayCallOff(phase)) return [];
    return askingOf(info, { shadow, version: shadow.stale ? undefined : (shadow.spec.version ?? undefined) }, world);
  });
  return undisturbed.toSorted(
    ({ info: a }, { info: b }) => Number(b.node.ready) - Number(a.node.ready) || compare(sinceOf(a), sinceOf(b)),
  );
}

/** A permit without a time was taken by an earlier version; a node without one began under another operator. */
const sinceOf = ({ permit }: AssessedNode): number => (permit ? (permit.since ?? -Infinity) : NEVER);

type Answered = Pick<Asking, 'info' | 'group'> & Pick<Answer, 'stop' | 'changesAt'>;

function answersTo(those: readonly Asking[], before: World): readonly Answered[] {
  let { given } = before;
  const answers = those.map((asking) => {
    const world = { ...before, given };
    const answer = askedAgain(asking, world);
    if (!answer.stop) given = letThrough(asking, world);
    return { ...answer, ...asking, lacks: answer.isCrowded ? lacksOf(asking, world) : undefined };
  });
  // All whose place others take were counted: what the youngest give up may be enough for the older ones.
  const off: Lack[] = [];
  return answers.toReversed().map(({ info, group, changesAt, stop, lacks }) => {
    const isLeftPlace = lacks?.every(({ place, short }) => short <= leftBy(off, place));
    if (isLeftPlace) return { info, group, changesAt, stop: undefined };
    off.push(...(lacks ?? []));
    return { info, group, changesAt, stop };
  });
}

interface Lack extends Pick<Claim, 'place' | 'key'> {
  /** Parts that others must leave to it. */
  readonly short: number;
  /** Nodes that have the same part. */
  readonly holders: number;
}

function lacksOf(asking: Asking, { places, given }: World): readonly Lack[] {
  const { updating } = asking.group ? places.of(asking.group) : {};
  return claimsWith(asking, places).map((claim) => {
    const { place, key, shared } = claim;
    return { place, key, short: shortFor(claim, given), holders: shared ? (updating?.get(key) ?? Infinity) : 1 };
  });
}

/** Parts of a place that those leave which are called off: of a zone once all have left it. */
function leftBy(off: readonly Lack[], place: Place): number {
  const leaving = off.filter((one) => one.place === place && place.taken.has(one.key));
  const byKey = Map.groupBy(leaving, ({ key }) => key);
  return [...byKey.values()].filter((those) => those.length === those[0]?.holders).length;
}

interface Answer {
  readonly stop: Stop | undefined;
  /** It is told to drain, and is called off for nothing but that others take its place. */
  readonly isCrowded?: boolean;
  readonly changesAt: number;
}

/**
 * May the node be disturbed for the version that it has staged (rule L8)? What calls its update off outranks what it only waits for, or it would
 * hold its permit for as long. Under another policy than the one that its permit was taken under, all that the present one says is asked, and what it
 * forbids calls the update off: the first was away for a moment, or is gone. A node that is told to drain waits for nothing any more.
 */
function askedAgain(asking: Asking, world: World): Answer {
  let waitsFor: Finding | undefined;
  let crowded: Finding | undefined;
  const changes = { 'call-off': NEVER, wait: NEVER, unknown: NEVER };
  const isNew = isUnderAnother(asking);
  for (const gate of GATES) {
    const becomes = becomesBy(gate, asking, isNew);
    if (!mayDecide(becomes, waitsFor)) continue;
    const { finding, changesAt } = askAgainOf(gate)(asking, world);
    changes[becomes] = Math.min(changes[becomes], changesAt);
    if (!finding) continue;
    if (becomes !== 'call-off') waitsFor ??= finding;
    else if (isOfPlaces(gate)) crowded ??= finding;
    else return { stop: { kind: becomes, because: finding }, changesAt: changes[becomes] };
    if (becomes === 'unknown') break;
  }
  const changesAt = Math.min(...Object.values(changes));
  if (crowded) return { stop: { kind: 'call-off', because: crowded }, changesAt, isCrowded: true };
  return { stop: waiting(asking, waitsFor), changesAt };
}

const isOfPlaces = ({ forPods, queue }: Gate): boolean => forPods === true && queue !== undefined;

const waiting = ({ info: { phase } }: Asking, because: Finding | undefined): Stop | undefined =>
  because && !isToldToDrain(phase) ? { kind: 'wait', because } : undefined;

/** Of several that let it wait, the first says so. */
const mayDecide = (becomes: Again | undefined, waitsFor: Finding | undefined): becomes is Again =>
  becomes === 'wait' ? waitsFor === undefined : becomes !== undefined;

/** What these say may be another thing under another policy. */
const BY_POLICY: ReadonlySet<Gate['of']> = new Set<Gate['of']>(['policy', 'release', 'member']);

/** @param isNew another policy rules the node than before */
function becomesBy({ of, again, forPods }: Gate, asking: Asking, isNew: boolean): Again | undefined {
  const becomes = typeof again === 'function' ? again(asking) : again;
  if (becomes === 'wait' ? !isToldToDrain(asking.info.phase) : becomes !== undefined) return becomes;
  // What it was let through without, it lacks now.
  if (forPods && hasJoined(asking)) return 'call-off';
  return again === undefined && isNew && BY_POLICY.has(of) ? 'call-off' : undefined;
}

/** Its permit was taken under another policy than the one that rules it. */
function isUnderAnother({ info, group, version }: Asking): boolean {
  const { policy: before } = info.permit ?? {};
  if (!group || !before) return false;
  const { policy } = termsOf({ info, group, version });
  return before.name !== policy?.name || before.uid !== policy.uid;
}

/** Counts the node for the next ones. Where it may not be told yet, its drain does not begin. */
function letThrough(asking: Asking, { places, given, withheld }: World): Given {
  const { info, shadow } = asking;
  if (isToldToDrain(info.phase)) return given;
  const isWithheld = withheld.refusalOf('set-spec', shadow.name) !== undefined;
  return give(given, [...claimsWith(asking, places), ...(isWithheld ? [] : [beginningOf(info, places)])]);
}

const claimsWith = ({ group, ...asking }: Asking, places: World['places']): readonly Claim[] =>
  group ? [...claimsOf({ ...asking, group }, places), ...proofClaims({ ...asking, group }, 'disturbed')] : [];

/** Which nodes give their place to others that wait because their time is over, or when it will be. */
function overdueWays(unsettled: readonly AssessedNode[], starts: Waiting, before: World): readonly Way[] {
  return unsettled.flatMap((of): readonly Way[] => {
    const endsAt = isWaitedFor(of, starts, before) ? callOffAt(of, before) : NEVER;
    if (endsAt === NEVER) return [];
    const stop = { kind: 'call-off', because: becauseOf(of) } as const;
    return endsAt > before.now ? [{ of, stop: undefined, endsAt }] : [{ of, stop, endsAt: NEVER }];
  });
}

type Waiting = Pick<Starts, 'waiting' | 'isCapped'>;

const OVERDUE = found('ProgressDeadlineExceeded', 'its drain has not begun in time, and others wait for its permit');

const becauseOf = ({ shadow, phase }: AssessedNode): Finding =>
  isRefused(phase) ? drainBlockedFinding(shadow?.status) : OVERDUE;

function isWaitedFor(info: AssessedNode, starts: Waiting, { groups }: World): boolean {
  const group = groups.of(info);
  return starts.isCapped || (group !== undefined && starts.waiting.has(group));
}

/**
 * When an update is called off because other nodes wait for its permit, and its drain is refused, which does not end by itself, or has not begun in
 * time (rule L8). A node without its agent is rescued instead.
 */
function callOffAt({ node, shadow, health, phase }: AssessedNode, { snapshot: { drainRefusals } }: World): number {
  if (!node.managed || !shadow || shadow.stale || health.agentSilent || !mayCallOff(phase)) return NEVER;
  if (!isRefused(phase)) return health.overdueFrom;
  const refusal = drainRefusals.get(shadow.name);
  return refusal?.kind === 'refused' ? refusal.since + STUCK_MS : NEVER;
}

/** Why an update was called off, while its agent returns to Idle: the gates say the same of the same offer. */
export function reasonOfCallOff(info: AssessedNode, world: World): GateResult {
  const { shadow } = info;
  const { status } = shadow ?? {};
  if (!shadow || !status || !isCalledOff(info.phase)) return PASS;
  const { current_version: current, target_version: version } = status;
  return current === version ? PASS : firstOf(askingOf(info, { shadow, version }, world), world);
}
