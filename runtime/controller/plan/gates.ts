import { retryAt } from './backoff.ts';
import type { Alarm } from './alarm.ts';
import { drainBlocked } from './findings.ts';
import { isCalledOff, isRefused, isStaged } from './machine.ts';
import type { Policy } from './policy.ts';
import type { Releases } from './releases.ts';
import type { ShadowView, Snapshot } from './snapshot.ts';
import type { Subject } from './subject.ts';
import { atTime, type Finding, found, type Stop } from './verdict.ts';
import type { Withheld } from './withheld.ts';

/** What gates look at besides the node itself. */
export interface Gatekeeper {
  readonly snapshot: Pick<Snapshot, 'paused' | 'window' | 'drainRefusals'>;
  readonly policy: Policy;
  readonly releases: Releases;
  readonly alarm: Alarm;
  /** A start that would be asked for in vain takes no place: another node gets it meanwhile. */
  readonly withheld: Withheld;
}

/**
 * What keeps `subject` from starting on `version`, slots apart; undefined where nothing does. People come first, then time, and then other
 * nodes: whoever waits for those waits for nothing else.
 */
export function gate(subject: Subject, version: string, keeper: Gatekeeper): Finding | undefined {
  const { node, shadow } = subject;
  if (node.held) return HELD;
  if (keeper.snapshot.paused) return PAUSED;
  if (!node.ready) return NOT_READY;
  return (
    haltedOn(subject, version, keeper) ??
    (shadow && notYet(node.family, shadow, keeper)) ??
    keeper.withheld.refused('start', node.shadowName) ??
    unproven(subject, version, keeper)
  );
}

function notYet(family: string, shadow: ShadowView, keeper: Gatekeeper): Finding | undefined {
  return (
    backingOff(shadow, keeper) ??
    refusedLately(shadow, keeper) ??
    outsideWindow(shadow, keeper) ??
    tooLate(family, shadow, keeper)
  );
}

const HELD = found('Held', 'the node bears the hold annotation');
const PAUSED = found('Paused', 'the namespace bears the paused annotation');
const NOT_READY = found('NodeNotReady', 'the node is not Ready');

/**
 * The second gate, before a node is disturbed for the version that it has staged (rule L8); undefined where it may be. What the first gate
 * would refuse by now, for a person's sake or the release's, is called off: a pause is over some day, and a node that is down may come back, so
 * then it waits. A window that has closed stops nothing that has begun.
 */
export function secondGate(subject: Subject, keeper: Gatekeeper): Stop | undefined {
  const { node, shadow } = subject;
  if (!shadow || !isStaged(shadow)) return undefined;
  if (node.held) return { kind: 'call-off', because: HELD };
  const refusal = shadow.spec.version == null ? undefined : haltedOn(subject, shadow.spec.version, keeper);
  if (refusal) return { kind: 'call-off', because: refusal };
  if (keeper.snapshot.paused) return { kind: 'wait', because: PAUSED };
  return node.ready ? undefined : { kind: 'wait', because: NOT_READY };
}

/** A budget that is used up for a moment is waited for: other nodes' pods may only be starting. */
const REFUSED_MS = 120_000;

/** For a node that holds a place which others wait for: a refusal has no end of its own (rule L8). */
export function endlessRefusal({ node, shadow }: Subject, { snapshot, alarm }: Gatekeeper): Stop | undefined {
  if (!shadow || !isRefused(shadow, node.marks)) return undefined;
  const refusal = snapshot.drainRefusals.get(shadow.name);
  if (refusal?.kind !== 'refused') return undefined;
  return alarm.reached(refusal.since + REFUSED_MS)
    ? { kind: 'call-off', because: drainBlocked(shadow.status) }
    : undefined;
}

/** Of a node whose update was called off and whose agent is on its way to rest: what keeps it from starting again is why. */
export function stillRefused(subject: Subject, keeper: Gatekeeper): Finding | undefined {
  const { status } = subject.shadow ?? {};
  if (!subject.shadow || !status || !isCalledOff(subject.shadow)) return undefined;
  return status.current_version === status.target_version ? undefined : gate(subject, status.target_version, keeper);
}

/** A node that has failed on the version may always try again: whether it recovers is how one knows that the release is sound. */
function haltedOn({ node }: Subject, version: string, { releases, policy }: Gatekeeper): Finding | undefined {
  if (releases.of(node.family, version).failed.has(node.uid)) return undefined;
  const left = releases.budgetLeft(node.family, version, policy.maxFailed);
  if (left <= 0) return found('RolloutHalted', `too many nodes failed on ${version}`);
  return undefined;
}

/** Until a node has completed it, no more are on their way to a version than may fail on it. */
function unproven({ node }: Subject, version: string, { releases, policy }: Gatekeeper): Finding | undefined {
  const { failed, proven, inFlight } = releases.of(node.family, version);
  if (failed.has(node.uid)) return undefined;
  const left = releases.budgetLeft(node.family, version, policy.maxFailed);
  if (!proven && inFlight >= left) return found('WaitingForSlot', `no node has completed the update to ${version} yet`);
  return undefined;
}

function backingOff(shadow: ShadowView, { alarm }: Gatekeeper): Finding | undefined {
  const until = retryAt(shadow);
  if (until === undefined || alarm.reached(until)) return undefined;
  return found('BackingOff', `the last attempt failed; the next one comes after ${atTime(until)}`, until);
}

/** Its update was called off because its drain was refused. */
function refusedLately({ name, status }: ShadowView, { snapshot, alarm }: Gatekeeper): Finding | undefined {
  const refusal = snapshot.drainRefusals.get(name);
  if (refusal?.kind !== 'called-off' || alarm.reached(refusal.retryAt)) return undefined;
  return { ...drainBlocked(status), until: refusal.retryAt };
}

/** Where updates start at moments, whoever was offered one before the last moment is in time. */
function outsideWindow({ offeredAt }: ShadowView, { snapshot, alarm }: Gatekeeper): Finding | undefined {
  const { open, triggeredAt, changesAt } = snapshot.window;
  if (!open && triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= triggeredAt) return undefined;
  if (changesAt !== undefined) alarm.reached(changesAt);
  if (open) return undefined;
  if (changesAt === undefined) return found('OutsideWindow', 'the schedule names no time to come');
  return found('OutsideWindow', `updates start again at ${atTime(changesAt)}`, changesAt);
}

/** The window closes before the node would be done, by how long its last update took, or else the longest of its kind. */
function tooLate(
  family: string,
  { lastUpdateMs }: ShadowView,
  { snapshot, policy, releases, alarm }: Gatekeeper,
): Finding | undefined {
  const { open, changesAt } = snapshot.window;
  if (!policy.mustFit || !open || changesAt === undefined) return undefined;
  const neededMs = lastUpdateMs ?? releases.longestUpdateMs(family);
  if (!alarm.reached(changesAt - neededMs + 1)) return undefined;
  const minutes = Math.ceil(neededMs / 60_000);
  return found('OutsideWindow', `the window closes before an update of about ${minutes} min would be done`);
}
