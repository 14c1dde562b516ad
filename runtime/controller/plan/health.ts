import type { Alarm } from './alarm.ts';
import type { Policy } from './policy.ts';
import type { NodeView, ShadowView } from './snapshot.ts';
import { isLeftOver } from './recovery.ts';
import { requestedReboot, type Subject } from './subject.ts';

/** What time says about a subject. */
export interface Health {
  /** The node is Ready or not registered yet, and no container of its agent has run for the agent's timeout. */
  readonly agentSilent: boolean;
  /** It was rebooted for the update and is not back after the timeout. */
  readonly notReturned: boolean;
  /** Whether the node, back from its update, has been Ready for long enough; undefined where nothing depends on it. */
  readonly soak: 'waiting' | 'passed' | 'failed' | undefined;
  /** Until when the node, which is not Ready, takes a slot for that: milliseconds since the Unix epoch. */
  readonly outageUntil: number | undefined;
}

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
  const notReturned = hasNotReturned(node, shadow, { policy, alarm });
  const soak = agentSilent || notReturned ? undefined : soakOf(node, shadow, { policy, alarm });
  return { agentSilent, notReturned, soak, outageUntil };
}

/** The agent of a node that nobody has registered, up or not, is waited for from when the node was first seen. */
function isOverdue({ silentSince }: Subject, { agentTimeoutMs }: Policy, alarm: Alarm): boolean {
  return silentSince !== undefined && alarm.reached(silentSince + agentTimeoutMs);
}

/** A host that is down cannot run its agent: silence counts from when the node was Ready. */
function isSilent({ node, silentSince }: Subject, { agentTimeoutMs }: Policy, alarm: Alarm): boolean {
  if (silentSince === undefined || !node.ready) return false;
  return alarm.reached(Math.max(silentSince, node.readyChangedAt) + agentTimeoutMs);
}

interface Measure {
  readonly policy: Policy;
  readonly alarm: Alarm;
}

function hasNotReturned(node: NodeView, shadow: ShadowView, { policy, alarm }: Measure): boolean {
  if (node.ready) return false;
  const downSince = requestedReboot(shadow)?.at ?? (isRebooting(shadow) ? node.readyChangedAt : undefined);
  return downSince !== undefined && alarm.reached(downSince + policy.returnTimeoutMs);
}

/** Told without a record of the reboot, which older agents do not write. */
function isRebooting({ spec, status }: ShadowView): boolean {
  return spec.state === 'RebootedIntoUpdate' && status?.current_state === 'StagedAndPerformedUpdate';
}

/** A reboot can be too short for the node to have been seen not Ready, so both times count from the entry into MonitoringUpdate. */
function soakOf(node: NodeView, { spec, status, stale }: ShadowView, { policy, alarm }: Measure): Health['soak'] {
  if (spec.state !== 'MonitoringUpdate' || status?.current_state !== 'MonitoringUpdate') return undefined;
  const entered = spec.state_transition_timestamp == null ? 0 : Date.parse(spec.state_transition_timestamp);
  const since = Math.max(entered, node.readyChangedAt);
  if (!node.ready) return alarm.reached(since + policy.soakTimeoutMs) ? 'failed' : 'waiting';
  return !stale && alarm.reached(since + policy.soakMs) ? 'passed' : 'waiting';
}

/** No alarm: only where somebody waits for its place does the end of an outage change anything. */
function outageOf(subject: Subject, { notReadyHoldMs, agentTimeoutMs }: Policy, now: number): number | undefined {
  const { node, silentSince = -Infinity } = subject;
  const outage = node.ready ? -Infinity : node.readyChangedAt + notReadyHoldMs;
  // Until its agent has been away for as long as for a rescue, it may only be starting anew.
  const until = Math.max(outage, isLeftOver(subject) ? silentSince + agentTimeoutMs : -Infinity);
  return now < until ? until : undefined;
}
