import type { Dependencies } from './dependencies.ts';
import type { Families } from './families.ts';
import type { Group, Groups } from './groups.ts';
import type { AssessedNode } from './health.ts';
import { isCalledOff, isRefused, isStaged } from './machine.ts';
import { lostAt } from './proof.ts';
import type { OsRelease } from './releases.ts';
import { NEVER } from './requeue.ts';
import type { Rulings } from './rulings.ts';
import type { Settings } from './settings.ts';
import type { NodeView, ShadowView, Snapshot } from './snapshot.ts';
import { notYet } from './times.ts';
import { type Finding, found, type GateResult, PASS, type Stop, stopped, within } from './verdict.ts';
import { refused, type Withheld } from './withheld.ts';

/** What gates look at besides the node itself. */
export interface Gatekeeper {
  readonly snapshot: Pick<Snapshot, 'paused' | 'slots' | 'refusals' | 'drainRefusals'>;
  readonly settings: Settings;
  readonly rulings: Pick<Rulings, 'unknown'>;
  readonly groups: Groups;
  readonly families: Families;
  readonly dependencies: Dependencies;
  /** A start that would be asked for in vain takes no slot: another node gets it meanwhile. */
  readonly withheld: Withheld;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** A node with an update to start: on what, with whom it is counted, and where. */
export interface Candidate {
  readonly info: AssessedNode;
  readonly shadow: ShadowView;
  readonly version: string;
  readonly group: Group;
  readonly release: OsRelease;
  /** It has failed on the version before. Such a node may always try again: its recovery shows that the release is sound. */
  readonly isRetry: boolean;
  readonly crashes: number;
  /** Somebody has asked for it to come next, and at once. */
  readonly isAsked: boolean;
  /** When its node was created: of thousands that are sorted, it is looked up once each. */
  readonly createdAt: number;
}

/** What a node can be offered. */
interface Offer {
  readonly shadow: ShadowView;
  readonly version: string;
}

/** Undefined where several policies claim the node. */
export function candidateOf(
  info: AssessedNode,
  { shadow, version }: Offer,
  { groups }: Pick<Gatekeeper, 'groups'>,
): Candidate | undefined {
  const group = groups.of(info);
  if (!group) return undefined;
  const { node } = info;
  const release = group.releases.of(node.family, version);
  return {
    info,
    shadow,
    version,
    group,
    release,
    isRetry: release.failed.has(node.uid),
    crashes: shadow.status?.crash_count ?? 0,
    isAsked: node.askedBy !== undefined,
    createdAt: node.createdAt,
  };
}

/**
 * What keeps the node from starting on the version, apart from the budget. What people have decided comes first, then time, then other nodes.
 * So a node that waits for others waits for nothing else.
 */
export function gate(info: AssessedNode, offer: Offer, keeper: Gatekeeper): GateResult {
  const candidate = candidateOf(info, offer, keeper);
  const own = ownGate(info, candidate, keeper);
  return own.finding || !candidate ? own : within(own, othersGate(candidate, keeper));
}

/** The part of the gate that other nodes do not open or close. */
export function ownGate(info: AssessedNode, candidate: Candidate | undefined, keeper: Gatekeeper): GateResult {
  const people = byPeople(info, keeper);
  if (people || !candidate) return people ? stopped(people) : PASS;
  const { freeze } = candidate.group;
  return freeze.finding ? freeze : within(freeze, ownTime(candidate, keeper));
}

function ownTime(candidate: Candidate, keeper: Gatekeeper): GateResult {
  const { info, release, isRetry } = candidate;
  if (!info.node.ready) return stopped(NOT_READY);
  if (!isRetry && release.failuresLeft <= 0) return stopped(haltedOn(release));
  const time = notYet(candidate, keeper);
  if (time.finding) return time;
  const withheld = keeper.withheld.refusalOf('start', info.node.shadowName);
  return withheld ? within(time, { finding: refused(withheld), changesAt: withheld.retryAt }) : time;
}

/**
 * The part that they do, in the order in which they have to be waited for. Starts only ever close it: whom it keeps before the others of a
 * plan start, it keeps after.
 */
export function othersGate(
  { info, group, release, isRetry }: Candidate,
  { dependencies }: Pick<Gatekeeper, 'dependencies'>,
): GateResult {
  const awaited = dependencies.of(group, release);
  if (awaited.finding) return awaited;
  if (!isRetry && !release.proof.admits) return release.unproven;
  return group.zones.gate(info.node);
}

/** What people have decided, up to freezes, which end by themselves. */
function byPeople({ node, shadow, ruling }: AssessedNode, { snapshot, rulings }: Gatekeeper): Finding | undefined {
  if (node.held) return HELD;
  if (snapshot.paused) return PAUSED;
  return rulings.unknown ?? shadow?.told?.stop?.because ?? byPolicy(ruling);
}

function byPolicy({ against, rules }: AssessedNode['ruling']): Finding | undefined {
  return against ?? (rules.paused ? found('Paused', `policy ${rules.name} is paused`) : undefined);
}

const HELD = found('Held', 'the node bears the hold annotation');
const PAUSED = found('Paused', 'the namespace bears the paused annotation');
const NOT_READY = found('NodeNotReady', 'the node is not Ready');

/** What the second gate says, and when time alone changes it. */
interface SecondGateResult {
  readonly stop: Stop | undefined;
  readonly changesAt: number;
}

/**
 * The second gate, before a node is disturbed for the version that it has staged (rule L8). What is forbidden by now, other than by the pause
 * of the namespace, is called off: it would hold a slot for as long. A pause, policies that cannot be read, and a node that is not Ready are
 * waited for. Nothing else stops what has begun: no window that has closed, no zone, and no other policy.
 */
export function secondGate(info: AssessedNode, keeper: Gatekeeper): SecondGateResult {
  const { node, shadow, ruling } = info;
  if (!shadow || !isStaged(shadow)) return GOES_ON;
  if (node.held) return callOff(HELD);
  if (keeper.rulings.unknown) return wait(keeper.rulings.unknown);
  const forbidden = toldOtherwise(shadow) ?? forbiddenBy(ruling);
  if (forbidden) return { stop: forbidden, changesAt: NEVER };
  const freeze = keeper.groups.of(info)?.freeze ?? PASS;
  if (freeze.finding) return callOff(freeze.finding, freeze.changesAt);
  const { stop, changesAt } = afterFreeze(info, shadow, keeper);
  return { stop, changesAt: Math.min(freeze.changesAt, changesAt) };
}

/** A host that offers versions by itself sees that its offer has changed; for one that is told, nobody else does. */
function toldOtherwise({ told, spec }: ShadowView): Stop | undefined {
  if (!told || told.stop) return told?.stop;
  if (told.version === spec.version) return undefined;
  return { kind: 'call-off', because: found('NoUpdateOffered', `${told.version} is wanted by now`) };
}

function forbiddenBy(ruling: AssessedNode['ruling']): Stop | undefined {
  const because = byPolicy(ruling);
  return because && { kind: 'call-off', because };
}

const GOES_ON: SecondGateResult = { stop: undefined, changesAt: NEVER };
const callOff = (because: Finding, changesAt = NEVER): SecondGateResult => ({
  stop: { kind: 'call-off', because },
  changesAt,
});
const wait = (because: Finding): SecondGateResult => ({ stop: { kind: 'wait', because }, changesAt: NEVER });

function afterFreeze(info: AssessedNode, { spec, stale }: ShadowView, keeper: Gatekeeper): SecondGateResult {
  const { node } = info;
  // A view that is out of date may be of a node that was let through, and is counted as one already.
  const version = stale ? undefined : spec.version;
  const release = version == null ? undefined : keeper.groups.of(info)?.releases.of(node.family, version);
  const bad = release && unsound(node, release);
  if (bad) return bad;
  if (keeper.snapshot.paused) return wait(PAUSED);
  if (!node.ready) return wait(NOT_READY);
  if (release && !release.failed.has(node.uid)) release.proof.disturb(lostAt(info, keeper.settings));
  return GOES_ON;
}

/** Proof is counted again: nodes that nobody counted on may have come back, and those that proved the release may be gone. */
function unsound(node: NodeView, release: OsRelease): SecondGateResult | undefined {
  const { proof, failed, failuresLeft } = release;
  if (failed.has(node.uid)) return undefined;
  if (failuresLeft <= 0) return callOff(haltedOn(release));
  return proof.letsThrough ? undefined : callOff(release.unprovenBut(node.name), proof.letsThroughAt);
}

/** How long a refusal is waited out: a budget may be used up only for a moment, while pods of other nodes start. */
const REFUSED_MS = 120_000;

/**
 * When the update of a node whose drain is refused is called off, if others wait for its slot: the refusal does not end by itself (rule
 * L8). A node without its agent is rescued instead.
 */
export function callOffAt({ node, shadow, health }: AssessedNode, { drainRefusals }: Gatekeeper['snapshot']): number {
  if (!shadow || shadow.stale || health.agentSilent || !isRefused(shadow, node.marks)) return NEVER;
  const refusal = drainRefusals.get(shadow.name);
  return refusal?.kind === 'refused' ? refusal.since + REFUSED_MS : NEVER;
}

/** Why an update was called off, while its agent returns to rest: the same gate keeps the node from starting again. */
export function stillRefused(info: AssessedNode, keeper: Gatekeeper): GateResult {
  const { shadow } = info;
  const { status } = shadow ?? {};
  if (!shadow || !status || !isCalledOff(shadow)) return PASS;
  const { current_version: current, target_version: version } = status;
  return current === version ? PASS : gate(info, { shadow, version }, keeper);
}

const haltedOn = ({ version }: OsRelease): Finding => found('RolloutHalted', `too many nodes failed on ${version}`);
