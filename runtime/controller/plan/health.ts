import type { Alarm } from './alarm.ts';
import type { Policy } from './policy.ts';
import type { NodeView, ShadowView } from './snapshot.ts';
import { requestedReboot, type Subject } from './subject.ts';

/** What time says about a subject. */
export interface Health {
  /** The node is Ready, and no container of its agent has run for the agent's timeout. */
  readonly agentSilent: boolean;
  /** It was rebooted for the update and is not back after the timeout. */
  readonly notReturned: boolean;
  /** Whether the node, back from its update, has been Ready for long enough; undefined outside MonitoringUpdate. */
  readonly soak: 'waiting' | 'passed' | 'failed' | undefined;
  /** Not Ready, and for so short that it takes a slot. */
  readonly outage: boolean;
}

/** Nearly every node, nearly always. */
const WELL: Health = { agentSilent: false, notReturned: false, soak: undefined, outage: false };

export function healthOf(subject: Subject, policy: Policy, alarm: Alarm): Health {
  const { node, shadow, silentSince } = subject;
  if (node.ready && silentSince === undefined && shadow?.spec.state !== 'MonitoringUpdate') return WELL;
  return {
    agentSilent: isSilent(subject, policy, alarm),
    notReturned: shadow !== undefined && hasNotReturned(node, shadow, { policy, alarm }),
    soak: shadow && soakOf(node, shadow, { policy, alarm }),
    outage: node.managed && !node.ready && isOutage(node, policy, alarm),
  };
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
function soakOf(node: NodeView, { spec, status }: ShadowView, { policy, alarm }: Measure): Health['soak'] {
  if (spec.state !== 'MonitoringUpdate' || status?.current_state !== 'MonitoringUpdate') return undefined;
  const entered = spec.state_transition_timestamp == null ? 0 : Date.parse(spec.state_transition_timestamp);
  const since = Math.max(entered, node.readyChangedAt);
  if (node.ready) return alarm.reached(since + policy.soakMs) ? 'passed' : 'waiting';
  return alarm.reached(since + policy.soakTimeoutMs) ? 'failed' : 'waiting';
}

function isOutage(node: NodeView, { notReadyHoldMs }: Policy, alarm: Alarm): boolean {
  return notReadyHoldMs > 0 && !alarm.reached(node.readyChangedAt + notReadyHoldMs);
}
