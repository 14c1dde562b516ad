import { ownersDisplaced, settlesUntil, settlingOf, type Settled, type Settling } from './settle.ts';
import { countNodes } from '../facts/node.ts';
import { checkedBy, unclearUntilOf } from './checked.ts';
import { Join } from './join.ts';
import { byKind, kindOf } from './kinds.ts';
import { isLeftOver, isSettled, type Standing, standingIn } from './standing.ts';
import { type Soak, startable } from '../facts/machine.ts';
import { dueAt, hasFlapped, type Measures, NO_TRIAL, trialOf, unstableUntilOf, wellSince } from './trial.ts';
import type { Ledgers } from '../facts/ledgers.ts';
import { isCalledOff, isRefused, mayCallOff, PHASES } from '../facts/phase.ts';
import type { Ruling, Rulings } from '../facts/rulings.ts';
import { zoneOf } from '../facts/places.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import type { NodeInfo, Settings, Snapshot } from '../facts/snapshot.ts';

/** What time says about a node. */
interface Health {
  /** The node is Ready or not registered yet, and no container of its agent has run for the agent's timeout. */
  readonly agentSilent: boolean;
  /** It is no longer managed, and its host may still go down for the reboot that was asked for. */
  readonly goesDown: boolean;
  /** It was rebooted for the update, and the node or its agent is not back after the timeout. */
  readonly notReturned: boolean;
  /**
   * Whether the node, back from its update, has been Ready for long enough; `failed` also for one that went not Ready soon after it had
   * finished. Undefined where nothing depends on it.
   */
  readonly soak: Soak;
  /** How the checks go that its policy has for a node that is back; its soak waits for them. Undefined where there are none, or it is too early. */
  readonly checks: 'waiting' | 'passed' | 'failed' | undefined;
  /** How what its drain has displaced does; its soak waits for that too. */
  readonly settling: Settling;
  /** It is at rest, and went not Ready three times soon after its update: until it has been Ready for as long as a soak may take. */
  readonly isUnstable: boolean;
  /** Until when the node, which is not Ready or was taken out by somebody else, takes a place for that: milliseconds since the Unix epoch. */
  readonly outageUntil: number | undefined;
  /** From when on its update, which has not disturbed it, takes up its place for too long. It is called off where others wait. */
  readonly overdueFrom: number;
  /** It was called off before it was disturbed, and its agent does not report that it is at rest. */
  readonly isGivenBack: boolean;
  /** When time alone changes any of this. The end of an outage is left out: it matters only where a node waits for the permit. */
  readonly changesAt: number;
}

export interface AssessedNode extends NodeInfo {
  /** Its place among all nodes, by name. */
  readonly at: number;
  /** By the policy that rules it. */
  readonly zone: string;
  readonly ruling: Ruling;
  readonly health: Health;
  /** The version that a start would lead to; undefined where nothing can start. */
  readonly offered: string | undefined;
  readonly standing: Standing | undefined;
  /** Since when it is known to be well, if it is Ready and its agent runs. */
  readonly wellSince: number;
  /**
   * Nothing but a start can be due on it: it is well and in service, no update runs on it or has left something there, not even a failure on record,
   * and nobody asks for anything. Nearly every node is settled nearly always.
   */
  readonly isSettled: boolean;
  /** The same for all settled nodes that are counted and asked alike; undefined for one that is alone. */
  readonly kind: string | undefined;
}

/** The nodes of a snapshot, by name. */
export interface Fleet {
  readonly all: readonly AssessedNode[];
  readonly managed: readonly AssessedNode[];
  /** The same, those of one kind together. */
  readonly alike: readonly (readonly AssessedNode[])[];
  /** How many nodes these stand for. */
  readonly size: number;
  /** Nodes that are not settled: something other than a start may be due on them. */
  readonly unsettled: readonly AssessedNode[];
  /** What it was made of. */
  readonly join: Join;
  readonly claims: Rulings['claims'];
}

/** The health of nearly every node. */
const WELL: Health = {
  agentSilent: false,
  goesDown: false,
  notReturned: false,
  soak: undefined,
  checks: undefined,
  settling: undefined,
  isUnstable: false,
  outageUntil: undefined,
  overdueFrom: NEVER,
  isGivenBack: false,
  changesAt: NEVER,
};

interface Rules {
  readonly rulings: Pick<Rulings, 'claims'>;
  readonly settings: Settings;
  readonly ledgers: Pick<Ledgers, 'probationMs' | 'checksUnder'>;
  readonly now: number;
  /** Of an earlier snapshot. */
  readonly last: Fleet | undefined;
}

/**
 * Every node of the snapshot, by name. Under the same policies a settled node is not assessed again while it and its shadow are the same objects in the
 * same place, it has no permit and its agent runs. Its assessment depends on nothing else but the name of the own node, not even on the time.
 */
export function assess(snapshot: Snapshot, rules: Rules): Fleet {
  const { now, last } = rules;
  const { claims } = rules.rulings;
  const before = last?.claims === claims ? last.all : [];
  const join = new Join(snapshot, last?.join);
  const given = { ...rules, snapshot, join };
  const make = (info: NodeInfo, at: number): AssessedNode => {
    const ruling = claims.of(info.node);
    const health = isUnremarkable(info) ? WELL : healthOf(info, measuresOf(info, ruling, given), now);
    const offered = info.shadow && startable(info.shadow);
    const standing = standingIn(info, { ruling, health });
    const more = { at, zone: zoneOf(info.node, ruling.rules), ruling, health, offered, standing };
    // A copy that begins with the spread is several times as fast as any other way to add a field.
    const made = { ...info, ...more, wellSince: wellSince(info), isSettled: health === WELL && isSettled(info) };
    return { ...made, kind: made.isSettled ? kindOf(made, rules.settings) : undefined };
  };
  const all = join.map(make, (node, shadow, at) => {
    const known = before[at];
    return known?.isSettled && known.node === node && known.shadow === shadow ? known : undefined;
  });
  const managed = all.filter((info) => info.isSettled || info.node.managed);
  return {
    all,
    managed,
    alike: byKind(managed),
    size: countNodes(managed),
    unsettled: all.filter((info) => !info.isSettled),
    join,
    claims,
  };
}

/** Nearly every node is well and needs none. What takes a look at a ledger is asked for where it decides. */
function measuresOf(
  info: NodeInfo,
  ruling: Ruling,
  { snapshot, join, settings, ledgers, rulings, now }: Rules & { readonly snapshot: Snapshot; readonly join: Join },
): Measures {
  const { name = '', soakMs, settleMs, settleFails, checks } = ruling.rules;
  const release = { family: info.node.family, version: info.shadow?.status?.current_version ?? '' };
  const unclearUntil = unclearUntilOf(info, ruling, snapshot);
  const all = () => join.map((one) => one);
  const untilOf = (one: Settled) => settlesUntil(one, { ...settings, ...rulings.claims.of(one.node).rules });
  return {
    ...settings,
    soakMs,
    settleMs,
    settleFails,
    unclearUntil,
    displacedElsewhere: () => ownersDisplaced(info, all(), untilOf),
    probationMs: () => ledgers.probationMs(release, ruling),
    checked: () => (unclearUntil > now ? 'waiting' : checkedBy(info, checks.after, ledgers.checksUnder(name, release))),
  };
}

function healthOf(info: NodeInfo, measures: Measures, now: number): Health {
  if (!info.node.managed) return departedHealth(info, measures, now);
  const silentFrom = agentSilentFrom(info, measures);
  const missedFrom = notReturnedFrom(info, measures);
  const agentSilent = silentFrom <= now;
  const notReturned = missedFrom <= now;
  const trial = agentSilent || notReturned ? NO_TRIAL : trialOf(info, measures);
  const ended = endOf(info, trial.endsAt <= now ? trial.result : trial.meanwhile, { measures, now });
  const overdueFrom = overdueFromOf(info);
  const isGivenBack = isCalledOff(info.phase) && overdueFrom <= now;
  const freedAt = isGivingBack(info) && info.permit?.writes !== 'unknown' ? overdueFrom : NEVER;
  const unstableUntil = unstableUntilOf(info, measures);
  const changesAt = nextAfter(now, [
    silentFrom,
    missedFrom,
    trial.endsAt,
    freedAt,
    unstableUntil,
    measures.unclearUntil,
    settlesUntil(info, measures),
  ]);
  const outageUntil = outageOf(info, measures, now);
  const isUnstable = now < unstableUntil;
  return {
    ...WELL,
    agentSilent,
    notReturned,
    ...ended,
    isUnstable,
    outageUntil,
    overdueFrom,
    isGivenBack,
    changesAt,
  };
}

/** The soak is not over before each of the others has ended as well. */
function endOf(
  info: NodeInfo,
  soak: Soak,
  { measures, now }: { readonly measures: Measures; readonly now: number },
): Pick<Health, 'soak' | 'checks' | 'settling'> {
  if (soak !== 'passed') return { soak, checks: undefined, settling: undefined };
  const checks = measures.checked();
  const settling = settlingOf(info, measures, now);
  return { soak: checks === 'waiting' || settling === 'waiting' ? 'waiting' : soak, checks, settling };
}

function departedHealth(info: NodeInfo, { returnTimeoutMs }: Measures, now: number): Health {
  const { shadow, phase } = info;
  // Nothing is done from a stale view, and a fresh one plans anew: nobody is woken for it.
  if (!shadow || shadow.stale || !phase.goesDown) return WELL;
  const until = (rebootAskedAt(info) ?? shadow.stateSeenAt) + returnTimeoutMs;
  return { ...WELL, goesDown: until > now, changesAt: nextAfter(now, [until]) };
}

function isUnremarkable(info: NodeInfo): boolean {
  const {
    node,
    silentSince,
    phase: { kind },
  } = info;
  const isTimed = kind === 'monitoring' || PHASES[kind].givesBackMs !== Infinity;
  const isThere = node.managed && node.ready && node.outAt === undefined;
  return isThere && silentSince === undefined && !isTimed && !hasFlapped(info);
}

/**
 * A refusal of its drain has a time of its own (rule L8). One that has staged its version and is Ready waits for others, who would gain nothing by
 * its place.
 */
function overdueFromOf({ node, shadow, phase }: NodeInfo): number {
  const isTimed = isCalledOff(phase) || (mayCallOff(phase) && !isRefused(phase));
  if (!shadow || shadow.stale || !isTimed) return NEVER;
  const { givesBackMs } = PHASES[phase.kind];
  if (phase.kind !== 'staged') return shadow.stepBeganAt + givesBackMs;
  return node.ready ? NEVER : Math.max(shadow.stateSeenAt, node.readyChangedAt) + givesBackMs;
}

/** Its update was called off, and has left it a permit that time alone gives back. */
const isGivingBack = ({ node, permit, phase }: NodeInfo): boolean =>
  isCalledOff(phase) && permit !== undefined && !node.marks;

/**
 * A host that is down cannot run its agent, so silence counts from when the node became Ready. Where a node has no shadow yet, it counts
 * from when the node was first seen, Ready or not.
 */
function agentSilentFrom({ node, shadow, silentSince }: NodeInfo, { agentTimeoutMs }: Measures): number {
  if (silentSince === undefined) return NEVER;
  if (!shadow) return silentSince + agentTimeoutMs;
  return node.ready ? Math.max(silentSince, node.readinessSeenAt) + agentTimeoutMs : NEVER;
}

/** Only a requested reboot counts: a machine that dies at any other moment is no fault of the release (rule F1). */
function notReturnedFrom(info: NodeInfo, { returnTimeoutMs }: Measures): number {
  const { node, shadow } = info;
  if (!shadow) return NEVER;
  const alone = unreportedSince(info);
  const since = node.ready ? alone : (rebootAskedAt(info) ?? alone);
  return since === undefined ? NEVER : dueAt('NotReturned', shadow, since + returnTimeoutMs);
}

/**
 * Since when the host is known to be back while its agent is silent. The silence counts from the request for the reboot at the earliest: the
 * agent that made the request was running then, even if this process has not seen it run.
 */
function unreportedSince(info: NodeInfo): number | undefined {
  const { shadow, silentSince, phase } = info;
  if (!shadow || silentSince === undefined || !phase.isBackUnreported) return undefined;
  return Math.max(silentSince, rebootAskedAt(info) ?? -Infinity);
}

/** Since when a reboot is known to be requested in this attempt: the controller before may have seen that earlier. */
function rebootAskedAt({ shadow, permit }: NodeInfo): number | undefined {
  if (shadow?.rebootAskedAt === undefined) return undefined;
  return Math.min(shadow.rebootAskedAt, permit?.rebootAskedAt ?? Infinity);
}

function outageOf(info: NodeInfo, { notReadyHoldMs, agentTimeoutMs }: Measures, now: number): number | undefined {
  const { node, silentSince = -Infinity } = info;
  const outage = Math.max(downSince(info), node.outAt ?? -Infinity) + notReadyHoldMs;
  // Until its agent has been away for long enough to be rescued, the agent may only be restarting.
  const until = Math.max(outage, isLeftOver(info) ? silentSince + agentTimeoutMs : -Infinity);
  return now < until ? until : undefined;
}

/** Since when it is not Ready. One that never was Ready is no loss: it is being set up, or was broken from the start. */
function downSince(info: NodeInfo): number {
  const { ready, readyChangedAt } = info.node;
  return ready || !wasReady(info) ? -Infinity : readyChangedAt;
}

export const wasReady = ({ node, shadow }: NodeInfo): boolean => node.wasReady === true || shadow?.status !== undefined;
