import type { EventRecord } from '../kube/events.ts';
import type { ObjectReference } from '../kube/objects.ts';
import { durationText } from '../lib/duration.ts';
import type { Spec, Status } from '../shadow/model.ts';
import { API_VERSION, KIND } from '../shadow/names.ts';
import type { Command, SetSpec } from './plan/commands.ts';
import type { NodeView, ShadowView } from './plan/snapshot.ts';
import type { Setback } from './plan/verdict.ts';

/** What people are told of in `kubectl describe`, from a command that was carried out. */
export interface Occasion {
  readonly command: Command;
  readonly shadow: ShadowView | undefined;
  readonly namespace: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The Event of a command that was carried out; undefined where it is nothing to tell of. */
export function eventOf({ command, shadow, namespace, now }: Occasion): EventRecord | undefined {
  if (!shadow) return undefined;
  const regarding = referenceTo(shadow, namespace);
  if (command.kind === 'set-spec') return ended(shadow, regarding, tookOf(command, now));
  if (command.kind === 'start') {
    const message = `update from ${shadow.status?.current_version} to ${command.spec.version} started`;
    return { regarding, type: 'Normal', reason: 'UpdateStarted', message };
  }
  if (command.kind === 'call-off') {
    const message = `update to ${command.spec.version} called off before the node was drained: ${command.because.message}`;
    return { regarding, type: 'Normal', reason: 'UpdateCalledOff', message };
  }
  if (command.kind === 'rescue') return { regarding, type: 'Warning', reason: 'UpdateRescued', message: RESCUED };
  return undefined;
}

const RESCUED =
  'no agent runs on the node: its update was ended and what the operator had changed on the node was undone';

const tookOf = ({ completes }: SetSpec, now: number): number | undefined =>
  completes?.beganAt === undefined ? undefined : Math.max(0, now - completes.beganAt);

/** A spec that leads to Idle ends an update, well or badly. */
function ended(
  { spec, status }: ShadowView,
  regarding: ObjectReference,
  tookMs: number | undefined,
): EventRecord | undefined {
  if (status?.current_state === 'ErrorReset') return failed(spec, status, regarding);
  if (spec.state !== 'MonitoringUpdate') return undefined;
  return {
    regarding,
    type: 'Normal',
    reason: 'UpdateFinished',
    message: `the node runs ${status?.current_version}${tookMs === undefined ? '' : `, after ${durationText(tookMs)}`}`,
  };
}

function failed({ version }: Spec, status: Status, regarding: ObjectReference): EventRecord {
  const { last_failure: failure, crash_count: crashes } = status;
  if (isCancelled(status)) {
    const message = `update to ${version} ended: ${failure?.message}`;
    return { regarding, type: 'Normal', reason: 'UpdateCancelled', message };
  }
  const why = failure ? `${failure.reason}: ${failure.message}` : 'the agent did not say why';
  const message = `update to ${version} failed (${crashes} in a row): ${why}`;
  return { regarding, type: 'Warning', reason: 'UpdateFailed', message };
}

/** Of an update that ended as ErrorReset: nothing went wrong, the host only is no longer offered what was wanted. */
export function isCancelled({ last_failure: failure }: Pick<Status, 'last_failure'>): boolean {
  return failure?.reason === 'TargetChanged';
}

/** An agent that never came has no shadow to tell it of. */
export function agentMissing({ name, uid }: NodeView): EventRecord {
  return {
    regarding: { apiVersion: 'v1', kind: 'Node', name, uid },
    type: 'Warning',
    reason: 'AgentMissing',
    message: 'the node is labelled for updates, but no agent has registered it',
    occasion: `agentmissing.${uid}`,
  };
}

export interface SetbackOccasion {
  readonly verdict: Setback;
  readonly node: NodeView;
  readonly shadow: ShadowView;
  readonly namespace: string;
}

/** A process that does not know that another has told of it names the Event alike. */
export function setback({ verdict, node, shadow, namespace }: SetbackOccasion): EventRecord {
  const { reason, message } = verdict;
  const begun = reason === 'ProgressDeadlineExceeded' ? (verdict.since ?? node.readyChangedAt) : node.readyChangedAt;
  const occasion = `${reason.toLowerCase()}.${begun.toString(16)}`;
  return { regarding: referenceTo(shadow, namespace), type: 'Warning', reason, message, occasion };
}

function referenceTo({ name, uid }: ShadowView, namespace: string): ObjectReference {
  return { apiVersion: API_VERSION, kind: KIND, name, namespace, uid };
}
