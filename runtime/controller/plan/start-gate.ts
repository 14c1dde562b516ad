import { instantOf, MINUTE_MS } from '../../lib/clock.ts';
import type { Status } from '../../shadow/model.ts';
import { isPresumed, unaskedBootOf, versionOfFailure } from './blame.ts';
import type { Dependencies } from './dependencies.ts';
import type { Families, Group, Groups } from './groups.ts';
import { windowOf } from './group-times.ts';
import type { AssessedNode } from './health.ts';
import type { Ledgers } from './ledger.ts';
import type { OsRelease } from './releases.ts';
import { type GateResult, NEVER, nextAfter, PASS, stopped, within } from './requeue.ts';
import type { Rulings } from './rulings.ts';
import type { NodeView, Settings, ShadowView, Snapshot, WindowState } from './snapshot.ts';
import { atTime, drainBlockedFinding, type Finding, found } from './verdict.ts';
import { refused, type Withheld } from './withheld.ts';

/** What the gates look at besides the node itself. */
export interface GateContext {
  readonly snapshot: Pick<Snapshot, 'notCurrent' | 'paused' | 'slots' | 'drainRefusals'>;
  readonly settings: Settings;
  readonly rulings: Pick<Rulings, 'unknown'>;
  readonly groups: Groups;
  readonly families: Families;
  readonly dependencies: Dependencies;
  readonly ledgers: Ledgers;
  /** A start that the API server refuses takes no slot, so that another node gets it meanwhile. */
  readonly withheld: Withheld;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** A node with an update to start, its version, and the group and release with which it is counted. */
export interface Candidate {
  readonly info: AssessedNode;
  readonly shadow: ShadowView;
  readonly version: string;
  readonly group: Group;
  readonly release: OsRelease;
  /** It has failed on the version before. Such a node may always try again: its recovery shows that the release is sound. */
  readonly isRetry: boolean;
  readonly crashes: number;
  /** A person has asked for it to come next. */
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
  { groups }: Pick<GateContext, 'groups'>,
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
 * What keeps the node from starting on the version, apart from the budget. What people have decided is asked first, then time, then other nodes.
 * So a verdict that names other nodes means that only these are waited for.
 */
export function gate(info: AssessedNode, offer: Offer, context: GateContext): GateResult {
  const candidate = candidateOf(info, offer, context);
  const own = ownGate(info, candidate, context);
  return own.finding || !candidate ? own : within(own, othersGate(candidate, context));
}

/** The part of the gate that does not depend on other nodes. */
export function ownGate(info: AssessedNode, candidate: Candidate | undefined, context: GateContext): GateResult {
  const people = byPeople(info, context);
  if (people || !candidate) return people ? stopped(people) : PASS;
  const { freeze } = candidate.group;
  return freeze.finding ? freeze : within(freeze, ownTime(candidate, context));
}

function ownTime(candidate: Candidate, context: GateContext): GateResult {
  const { info, release, isRetry } = candidate;
  if (!info.node.ready) return stopped(NOT_READY);
  const unkept = context.ledgers.unkept(release);
  if (unkept) return stopped(unkept);
  if (!isRetry && release.failuresLeft <= 0) return stopped(haltedOn(release));
  const time = byTime(candidate, context);
  if (time.finding) return time;
  const withheld = context.withheld.refusalOf('start', info.node.shadowName);
  return withheld ? within(time, { finding: refused(withheld), changesAt: withheld.retryAt }) : time;
}

/**
 * The part of the gate that depends on other nodes, in the order in which they have to be waited for. A start never opens it: a node that it
 * stops before the other starts of a plan is stopped after them too.
 */
export function othersGate(candidate: Candidate, { dependencies }: Pick<GateContext, 'dependencies'>): GateResult {
  const { info, group, release } = candidate;
  const awaited = dependencies.of(group, release);
  if (awaited.finding) return awaited;
  const others = unprovenFor(candidate) ?? group.zones.gate(info.node);
  // The pause comes and goes with each update, and what is asked before it stays: the condition of a node that waits for that is left alone.
  return others.finding ? others : within(others, group.pause);
}

/** A node whose failure is only presumed to be of this release is on its way to it once it has begun, like any other (F2). */
function unprovenFor({ info, release, isRetry }: Candidate): GateResult | undefined {
  const { proof, unproven } = release;
  if (!isRetry) return proof.admits ? undefined : unproven;
  return isPresumed(info) && !proof.hasRoom ? { ...unproven, changesAt: proof.hasRoomAt } : undefined;
}

/** What people have decided: hold, pause, policies. Freezes are not in here, because they end by themselves. */
function byPeople({ node, shadow, ruling }: AssessedNode, { snapshot, rulings }: GateContext): Finding | undefined {
  const kept = keptBack(node);
  if (kept) return kept;
  if (snapshot.notCurrent !== undefined) return notCurrent(snapshot.notCurrent);
  if (snapshot.paused) return PAUSED;
  return rulings.unknown ?? shadow?.order?.stop?.because ?? byPolicy(ruling);
}

export function byPolicy({ against, rules }: AssessedNode['ruling']): Finding | undefined {
  return against ?? (rules.paused ? found('Paused', `policy ${rules.name} is paused`) : undefined);
}

export const notCurrent = (why: string): Finding => found('NotCurrent', why);
/** An update of a node that is about to go would disturb its pods for nothing, and hold up whoever removes it. */
export function keptBack({ held, leaving = false }: NodeView): Finding | undefined {
  if (held) return HELD;
  return leaving ? LEAVING : undefined;
}

const HELD = found('Held', 'the node bears the hold annotation');
const LEAVING = found('Leaving', 'the node is being removed from the cluster');
export const PAUSED = found('Paused', 'the namespace bears the paused annotation');
export const NOT_READY = found('NodeNotReady', 'the node is not Ready');
export const haltedOn = ({ version }: OsRelease): Finding =>
  found('RolloutHalted', `too many nodes failed on ${version}`);

/** Whether it is too early for a start: the node's own pauses come first, then the window. */
function byTime(candidate: Candidate, context: GateContext): GateResult {
  const own = resting(candidate) ?? backingOff(candidate, context.now) ?? refusedLately(candidate.shadow, context);
  if (own) return stopped(own);
  return byWindow(candidate, context);
}

/** Windows do not stop a node that somebody has asked for (rule P9). */
function byWindow(candidate: Candidate, context: GateContext): GateResult {
  const { shadow, group, isAsked } = candidate;
  if (isAsked) return PASS;
  const tooLong = fittingNowhere(candidate, context);
  if (tooLong) return { finding: tooLong, changesAt: (group.closed ?? group.closing).changesAt };
  return group.closed && !isInTime(shadow, windowOf(group.view)) ? group.closed : beforeClosing(candidate, context);
}

/** It has left the release that it is offered, and would leave it again. */
function resting({ info, version }: Candidate): Finding | undefined {
  const boot = unaskedBootOf(info);
  return boot?.version === version ? found(boot.reason, boot.message) : undefined;
}

const LONGEST_BACKOFF_MINUTES = 1440;

/** There is no pause where the time of the failure is not known, nor after the one failure that somebody has named on the node (rule P9). */
function backingOff({ info, shadow, version }: Candidate, now: number): Finding | undefined {
  const { status, failedAt } = shadow;
  if (!status || status.crash_count === 0 || failedAt === undefined) return undefined;
  const { retryOf } = info.node;
  if (retryOf !== undefined && retryOf === status.state_transition_failure_timestamp) return undefined;
  const due = leftUntil(status);
  const until = Math.max(due, pausedUntil(shadow, status, { version, failedAt }));
  if (until <= now) return undefined;
  const why = until === due ? 'the last drain failed, and a pod may take that long' : 'the last attempt failed';
  return found('BackingOff', `${why}; the next one comes after ${atTime(until)}`, until);
}

/** After a failure a node tries that version again only after more than min(2^crashes, 1440) minutes. */
function pausedUntil(
  shadow: ShadowView,
  { crash_count, failed_versions }: Status,
  { version, failedAt }: { readonly version: string; readonly failedAt: number },
): number {
  const failed = versionOfFailure(shadow);
  if (failed !== undefined && failed !== version && failed_versions?.includes(version) !== true) return -Infinity;
  return failedAt + Math.min(2 ** crash_count, LONGEST_BACKOFF_MINUTES) * MINUTE_MS + 1;
}

/** When the pods are due that were ending as a drain failed: one before that would evict the others again, and fail again. */
const leftUntil = ({ last_failure, drain_failed }: Status): number =>
  (last_failure?.reason === 'DrainFailed' ? instantOf(drain_failed?.due) : undefined) ?? -Infinity;

/** Its update was called off because its drain was refused. */
function refusedLately({ name, status }: ShadowView, { snapshot, now }: GateContext): Finding | undefined {
  if (snapshot.drainRefusals.size === 0) return undefined;
  const refusal = snapshot.drainRefusals.get(name);
  if (refusal?.kind !== 'called-off' || refusal.retryAt <= now) return undefined;
  return { ...drainBlockedFinding(status), until: refusal.retryAt };
}

/** Where a schedule is moments and not windows, a node that was offered its update before the last moment may start. */
function isInTime({ offeredAt }: ShadowView, window: WindowState | undefined): boolean {
  return window?.triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= window.triggeredAt;
}

/** With `mustFit`, the window must stay open for as long as the update will take. */
function beforeClosing(candidate: Candidate, context: GateContext): GateResult {
  const { rules, closing } = candidate.group;
  const { changesAt } = closing;
  const { now } = context;
  if (!rules.mustFit || changesAt === NEVER) return closing;
  const neededMs = updateMsOf(candidate, context);
  const tooLateAt = changesAt - neededMs + 1;
  if (tooLateAt > now) return { finding: undefined, changesAt: nextAfter(now, [changesAt, tooLateAt]) };
  const message = `the window closes before an update of ${about(neededMs)} would be done`;
  return { finding: found('OutsideWindow', message), changesAt };
}

/** No window ahead is open for long enough: a person has to open a longer one, or to ask for the node. */
function fittingNowhere(candidate: Candidate, context: GateContext): Finding | undefined {
  const { view } = candidate.group;
  const longestMs = view.kind === 'valid' ? view.longestWindowMs : undefined;
  const neededMs = updateMsOf(candidate, context);
  if (longestMs === undefined || neededMs <= longestMs) return undefined;
  const message = `an update of ${about(neededMs)} fits into no window ahead: the longest is open for ${about(longestMs)}`;
  return found('FitsNoWindow', message);
}

/** How long the update will take, milliseconds: as long as the node's last one, or else the longest of its family. */
const updateMsOf = ({ info, shadow }: Candidate, { families }: Pick<GateContext, 'families'>): number =>
  shadow.lastUpdateMs ?? families.longestUpdateMs(info.node.family);

const about = (ms: number): string => `about ${Math.ceil(ms / MINUTE_MS)} min`;
