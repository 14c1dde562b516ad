import type { AssessedNode } from './health.ts';
import { isCalledOff, isRefused, isStaged } from './machine.ts';
import type { Settings } from './settings.ts';
import type { OsRelease, OsReleases } from './releases.ts';
import { NEVER, nextAfter } from './requeue.ts';
import type { NodeInfo, NodeView, ShadowView, Snapshot, ValidPolicy } from './snapshot.ts';
import { atTime, drainBlockedFinding, type Finding, found, type Stop } from './verdict.ts';
import { refused, type Withheld } from './withheld.ts';

/** What gates look at besides the node itself. */
export interface Gatekeeper {
  readonly snapshot: Pick<Snapshot, 'paused' | 'slots' | 'refusals' | 'drainRefusals'>;
  readonly settings: Settings;
  readonly ruling: Pick<ValidPolicy, 'policy' | 'window'>;
  readonly releases: OsReleases;
  /** A start that would be asked for in vain takes no slot: another node gets it meanwhile. */
  readonly withheld: Withheld;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** What a gate says; undefined = pass. */
export interface GateResult {
  readonly finding: Finding | undefined;
  /** When time alone changes it. */
  readonly changesAt: number;
}

export const PASS: GateResult = { finding: undefined, changesAt: NEVER };

/** Time changes this result at the instant that the finding names, or never. */
const stopped = (finding: Finding): GateResult => ({ finding, changesAt: finding.until ?? NEVER });

/**
 * What keeps the node from starting on `version`, apart from the budget. What people have decided comes first, then time, then other nodes.
 * So a node that waits for others waits for nothing else.
 */
export function gate(info: NodeInfo, version: string, keeper: Gatekeeper): GateResult {
  const { node, shadow } = info;
  const release = keeper.releases.of(node.family, version);
  const kept = keptBack(node, keeper.snapshot) ?? haltedOn(node, release, version);
  if (kept) return stopped(kept);
  const time = shadow ? notYet(info, shadow, keeper) : PASS;
  if (time.finding) return time;
  const withheld = keeper.withheld.refusalOf('start', node.shadowName);
  if (withheld) return { finding: refused(withheld), changesAt: Math.min(time.changesAt, withheld.retryAt) };
  const finding = unproven(node, release, version);
  return finding ? { finding, changesAt: time.changesAt } : time;
}

function keptBack(node: NodeView, { paused }: Gatekeeper['snapshot']): Finding | undefined {
  if (node.held) return HELD;
  if (paused) return PAUSED;
  return node.ready ? undefined : NOT_READY;
}

function notYet({ node }: NodeInfo, shadow: ShadowView, keeper: Gatekeeper): GateResult {
  const finding = backingOff(shadow, keeper) ?? refusedLately(shadow, keeper) ?? outsideWindow(shadow, keeper);
  return finding ? stopped(finding) : beforeClosing(node.family, shadow, keeper);
}

const HELD = found('Held', 'the node bears the hold annotation');
const PAUSED = found('Paused', 'the namespace bears the paused annotation');
const NOT_READY = found('NodeNotReady', 'the node is not Ready');

/**
 * The second gate, before a node is disturbed for the version that it has staged (rule L8); undefined where it may be. Under a hold, or
 * where the version is halted, the update is called off. Under a pause, which ends some day, and while the node is not Ready, it waits. A
 * window that has closed stops nothing that has begun.
 */
export function secondGate(info: NodeInfo, { snapshot, releases }: Gatekeeper): Stop | undefined {
  const { node, shadow } = info;
  if (!shadow || !isStaged(shadow)) return undefined;
  if (node.held) return { kind: 'call-off', because: HELD };
  const refusal =
    shadow.spec.version == null
      ? undefined
      : haltedOn(node, releases.of(node.family, shadow.spec.version), shadow.spec.version);
  if (refusal) return { kind: 'call-off', because: refusal };
  if (snapshot.paused) return { kind: 'wait', because: PAUSED };
  return node.ready ? undefined : { kind: 'wait', because: NOT_READY };
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
export function stillRefused(info: NodeInfo, keeper: Gatekeeper): GateResult {
  const { status } = info.shadow ?? {};
  if (!info.shadow || !status || !isCalledOff(info.shadow)) return PASS;
  return status.current_version === status.target_version ? PASS : gate(info, status.target_version, keeper);
}

/** A node that has failed on the version may always try again: its recovery shows that the release is sound. */
function haltedOn({ uid }: NodeView, { failed, failuresLeft }: OsRelease, version: string): Finding | undefined {
  if (failuresLeft > 0 || failed.has(uid)) return undefined;
  return found('RolloutHalted', `too many nodes failed on ${version}`);
}

/** Until a node has completed it, no more are on their way to a version than may fail on it. */
function unproven({ uid }: NodeView, release: OsRelease, version: string): Finding | undefined {
  const { proven, inFlight, failuresLeft, failed } = release;
  if (proven || inFlight < failuresLeft || failed.has(uid)) return undefined;
  return found('WaitingForSlot', `no node has completed the update to ${version} yet`);
}

const MINUTE_MS = 60_000;
const LONGEST_BACKOFF_MINUTES = 1440;

/**
 * After a failure a node tries again only after more than min(2^crashes, 1440) minutes. There is no pause where nobody knows when it
 * failed.
 */
function backingOff({ status, failedAt }: ShadowView, { now }: Gatekeeper): Finding | undefined {
  if (!status || status.crash_count === 0 || failedAt === undefined) return undefined;
  const until = failedAt + Math.min(2 ** status.crash_count, LONGEST_BACKOFF_MINUTES) * MINUTE_MS + 1;
  if (until <= now) return undefined;
  return found('BackingOff', `the last attempt failed; the next one comes after ${atTime(until)}`, until);
}

/** Its update was called off because its drain was refused. */
function refusedLately({ name, status }: ShadowView, { snapshot, now }: Gatekeeper): Finding | undefined {
  if (snapshot.drainRefusals.size === 0) return undefined;
  const refusal = snapshot.drainRefusals.get(name);
  if (refusal?.kind !== 'called-off' || refusal.retryAt <= now) return undefined;
  return { ...drainBlockedFinding(status), until: refusal.retryAt };
}

/** Where updates start at moments, a node that was offered its update before the last moment is in time. */
function outsideWindow({ offeredAt }: ShadowView, { ruling }: Gatekeeper): Finding | undefined {
  const { open, triggeredAt, changesAt } = ruling.window;
  if (open || (triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= triggeredAt)) return undefined;
  if (changesAt === undefined) return found('OutsideWindow', 'the schedule names no time to come');
  return found('OutsideWindow', `updates start again at ${atTime(changesAt)}`, changesAt);
}

/** The window must not close before the node would be done, by how long its last update took, or else the longest of its kind. */
function beforeClosing(
  family: string,
  { lastUpdateMs }: ShadowView,
  { ruling, releases, now }: Gatekeeper,
): GateResult {
  const { open, changesAt } = ruling.window;
  if (!open || changesAt === undefined) return PASS;
  if (!ruling.policy.mustFit) return { finding: undefined, changesAt };
  const neededMs = lastUpdateMs ?? releases.longestUpdateMs(family);
  const tooLateAt = changesAt - neededMs + 1;
  if (tooLateAt > now) return { finding: undefined, changesAt: nextAfter(now, [changesAt, tooLateAt]) };
  const minutes = Math.ceil(neededMs / MINUTE_MS);
  const message = `the window closes before an update of about ${minutes} min would be done`;
  return { finding: found('OutsideWindow', message), changesAt };
}
