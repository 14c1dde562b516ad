import { instantOf } from '../../lib/clock.ts';
import type { Alarm } from './alarm.ts';
import type { Health } from './health.ts';
import { isStepOver } from './machine.ts';
import type { Policy } from './policy.ts';
import type { NodeView, ShadowView } from './snapshot.ts';
import { atTime, type Finding, found } from './verdict.ts';

const MINUTE_MS = 60_000;
/** An agent waits two hours for a host that is busy, and begins anew where the host is rebooted meanwhile. */
const STAGING_MS = 180 * MINUTE_MS;
/** What a reboot takes besides the drain: the load balancers' time, activation, volumes, the boot itself. */
const REBOOTING_MS = 60 * MINUTE_MS;
/** Whatever else an agent does it does at once. */
const OTHER_MS = 30 * MINUTE_MS;

export interface Limits {
  readonly policy: Policy;
  readonly alarm: Alarm;
}

/**
 * What there is to say of an update whose step takes longer than it may; undefined while it does not. Asked only of an update that would else
 * be said to run: nothing but a person ends this. A soak has times of its own.
 */
export function stalled(
  { node, shadow, health }: { readonly node: NodeView; readonly shadow: ShadowView; readonly health: Health },
  { policy, alarm }: Limits,
): Finding | undefined {
  if (health.soak !== undefined) return undefined;
  const begun = stepBegan(shadow);
  const since = node.ready ? begun : Math.max(begun, node.readyChangedAt);
  if (!alarm.reached(since + (node.ready ? limitOf(shadow, policy) : policy.returnTimeoutMs))) return undefined;
  return { ...found('ProgressDeadlineExceeded', messageOf(node, shadow, since)), since };
}

/** By the stamp of the controller, which outlives the process that wrote it; of one whose clock was ahead, since it was seen. */
function stepBegan({ spec, stateSeenAt }: ShadowView): number {
  return Math.min(instantOf(spec.state_transition_timestamp) ?? stateSeenAt, stateSeenAt);
}

/**
 * How long the step may take, milliseconds. Where it is over, a controller that was away or a pause that is lifted is late, and no node: the
 * next is written with this very plan, or the verdict says what keeps it from that.
 */
function limitOf(shadow: ShadowView, { drainTimeoutMs }: Policy): number {
  const { state } = shadow.spec;
  if (isStepOver(shadow)) return Infinity;
  if (state === 'StagedAndPerformedUpdate') return STAGING_MS;
  if (state !== 'RebootedIntoUpdate') return OTHER_MS;
  return drainTimeoutMs === 0 ? Infinity : drainTimeoutMs + REBOOTING_MS;
}

function messageOf({ ready }: NodeView, { spec }: ShadowView, since: number): string {
  const version = spec.version ?? 'the next version';
  return ready
    ? `the update to ${version} has made no progress towards ${spec.state} since ${atTime(since)}`
    : `the node is not Ready since ${atTime(since)}, in the middle of its update to ${version}`;
}
