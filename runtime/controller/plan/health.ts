import type { Alarm } from './alarm.ts';
import { upToDate } from './condition.ts';
import type { Policy } from './policy.ts';
import { isBackUnreported } from './reboots.ts';
import type { NodeView, ShadowView } from './snapshot.ts';
import { isLeftOver } from './recovery.ts';
import { isIdle, type Subject } from './subject.ts';
import type { Setback } from './verdict.ts';

/** What time says about a subject. */
export interface Health {
  /** The node is Ready or not registered yet, and no container of its agent has run for the agent's timeout. */
  readonly agentSilent: boolean;
  /** It was rebooted for the update, and the node or its agent is not back after the timeout. */
  readonly notReturned: boolean;
  /**
   * Whether the node, back from its update, has been Ready for long enough; `failed` also for one that went not Ready soon after it had
   * finished. Undefined where nothing depends on it.
   */
  readonly soak: 'waiting' | 'passed' | 'failed' | undefined;
  /** Until when the node, which is not Ready, takes a slot for that: milliseconds since the Unix epoch. */
  readonly outageUntil: number | undefined;
}

/** For how long after an update what becomes of the node is put down to its release, milliseconds. */
const PROBATION_MS = 3_600_000;

/** Nearly every node, nearly always. */
const WELL: Health = { agentSilent: false, notReturned: false, soak: undefined, outageUntil: undefined };

/** Asks the alarm only for what makes a difference once it has come, so that nobody is woken in vain. */
export function healthOf(subject: Subject, policy: Policy, alarm: Alarm): Health {
  const { node, shadow, silentSince } = subject;
  const isWell = node.ready && silentSince === undefined && shadow?.spec.state !== 'MonitoringUpdate';
  if (isWell || !node.managed) return WELL;
  const outageUntil = outageOf(subject, policy, alarm.now);
  if (!shadow) return { ...WELL, outageUntil, agentSilent: isOverdue(subject, policy, alarm) };
  const agentSilent = isSilent(subject, policy, alarm);
  const notReturned = hasNotReturned(subject, shadow, { policy, alarm });
  const judged = isIdle(shadow) ? relapseOf : soakOf;
  const soak = agentSilent || notReturned ? undefined : judged(node, shadow, { policy, alarm });
  return { agentSilent, notReturned, soak, outageUntil };
}

/** The agent of a node that nobody has registered, up or not, is waited for from when the node was first seen. */
function isOverdue({ silentSince }: Subject, { agentTimeoutMs }: Policy, alarm: Alarm): boolean {
  return silentSince !== undefined && alarm.reached(silentSince + agentTimeoutMs);
}

/** A host that is down cannot run its agent: silence counts from when the node was Ready. */
function isSilent({ node, silentSince }: Subject, { agentTimeoutMs }: Policy, alarm: Alarm): boolean {
  if (silentSince === undefined || !node.ready) return false;
  return alarm.reached(Math.max(silentSince, node.readinessSeenAt) + agentTimeoutMs);
}

interface Measure {
  readonly policy: Policy;
  readonly alarm: Alarm;
}

/** Only what was asked for: a machine that dies at any other moment blames no release (rule F1). */
function hasNotReturned({ node, silentSince }: Subject, shadow: ShadowView, { policy, alarm }: Measure): boolean {
  const alone = isBackUnreported(node, shadow) ? silentSince : undefined;
  const since = node.ready ? alone : (shadow.rebootAskedAt ?? alone);
  return since !== undefined && hasLasted('NotReturned', shadow, () => alarm.reached(since + policy.returnTimeoutMs));
}

/** A reboot can be too short for the node to have been seen not Ready, so both times count from the entry into MonitoringUpdate. */
function soakOf(node: NodeView, shadow: ShadowView, { policy, alarm }: Measure): Health['soak'] {
  const { spec, status, stale, stateSeenAt } = shadow;
  if (spec.state !== 'MonitoringUpdate' || status?.current_state !== 'MonitoringUpdate') return undefined;
  const since = Math.max(stateSeenAt, node.readinessSeenAt);
  if (node.ready) return !stale && alarm.reached(since + policy.soakMs) ? 'passed' : 'waiting';
  return hasLasted('SoakFailed', shadow, () => alarm.reached(since + policy.soakTimeoutMs)) ? 'failed' : 'waiting';
}

/** A node that has finished fails its soak still, where it is not Ready since soon after that: what befalls it later is its own affair. */
function relapseOf(
  { ready, readinessSeenAt }: NodeView,
  shadow: ShadowView,
  { policy, alarm }: Measure,
): Health['soak'] {
  const { finishedAt } = shadow;
  if (ready || finishedAt === undefined) return undefined;
  const isOver = (): boolean =>
    readinessSeenAt <= finishedAt + PROBATION_MS && alarm.reached(readinessSeenAt + policy.soakTimeoutMs);
  return hasLasted('SoakFailed', shadow, isOver) ? 'failed' : undefined;
}

/** A process that has just begun to count goes on where the one before it had come to its verdict: a release that was halted stays so. */
function hasLasted(reason: Setback['reason'], { status }: ShadowView, isOver: () => boolean): boolean {
  return upToDate(status)?.reason === reason || isOver();
}

/** No alarm: only where somebody waits for its place does the end of an outage change anything. */
function outageOf(subject: Subject, { notReadyHoldMs, agentTimeoutMs }: Policy, now: number): number | undefined {
  const { node, silentSince = -Infinity } = subject;
  const outage = node.ready ? -Infinity : node.readyChangedAt + notReadyHoldMs;
  // Until its agent has been away for as long as for a rescue, it may only be starting anew.
  const until = Math.max(outage, isLeftOver(subject) ? silentSince + agentTimeoutMs : -Infinity);
  return now < until ? until : undefined;
}
