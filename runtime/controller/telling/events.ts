import type { EventRecord } from '../../kube/event-recorder.ts';
import type { ObjectReference } from '../../kube/objects.ts';
import { durationText, instantOf } from '../../lib/clock.ts';
import type { Spec, Status } from '../../api/shadow/model.ts';
import { API_VERSION, KIND } from '../../api/shadow/names.ts';
import type { Command } from '../plan/facts/commands.ts';
import { isUnasked } from '../plan/nodes/blame.ts';
import type { OsReleaseName } from '../plan/facts/ledgers.ts';
import { haltedBecause } from '../plan/releases/halted.ts';
import type { Halted } from '../plan/releases/os-release.ts';
import type { NodeView, ShadowView } from '../plan/facts/snapshot.ts';
import type { Setback } from '../plan/facts/verdict.ts';
import type { FleetReason } from '../plan/facts/reasons.ts';
import type { Warning } from '../plan/answer/warnings.ts';

/** Every Event of the controller. Those of the fleet are about the controller's Lease, which all leaders share. */

const normal = (regarding: ObjectReference, reason: string, message: string): EventRecord => ({
  regarding,
  type: 'Normal',
  reason,
  message,
});

const warning = (regarding: ObjectReference, reason: string, message: string): EventRecord => ({
  ...normal(regarding, reason, message),
  type: 'Warning',
});

/** Commands that begin or end an update, or bring it a step further. */
type UpdateCommand = Extract<Command, { kind: 'start' | 'set-spec' | 'call-off' | 'rescue' }>;

export function isOfUpdate(command: Command): command is UpdateCommand {
  return ['start', 'set-spec', 'call-off', 'rescue'].includes(command.kind);
}

/** A command and what it was decided on. */
export interface SentCommand {
  readonly command: UpdateCommand;
  readonly shadow: ShadowView;
}

/**
 * The Event of a command that was carried out; undefined for a step in the middle of an update.
 * @param namespace the operator's own; @param now milliseconds since the Unix epoch
 */
export function commandCarriedOut(
  { command, shadow }: SentCommand,
  namespace: string,
  now: number,
): EventRecord | undefined {
  const regarding = referenceTo(shadow, namespace);
  if (command.kind === 'set-spec') return updateEnded(shadow, regarding, tookMs(command, now));
  if (command.kind === 'start') {
    const asked = command.askedBy === undefined ? '' : `, asked for by ${command.askedBy}`;
    const message = `update from ${shadow.status?.current_version} to ${command.spec.version} started${asked}`;
    return normal(regarding, 'UpdateStarted', message);
  }
  if (command.kind === 'call-off') {
    const when = command.crossed ? 'in the middle of its drain' : 'before the node was drained';
    const message = `update to ${command.spec.version} called off ${when}: ${command.because.message}`;
    return normal(regarding, 'UpdateCalledOff', message);
  }
  return warning(regarding, 'UpdateRescued', RESCUED);
}

/** What an update that was carried out to its end has left undone; undefined where all that its drain has moved runs again. */
export function workloadsNotBack({ command, shadow }: SentCommand, namespace: string): EventRecord | undefined {
  const notBack = command.kind === 'set-spec' ? command.completes?.notBack : undefined;
  if (notBack === undefined) return undefined;
  const message = `nobody waits any longer for what the drain has moved: ${notBack}`;
  return warning(referenceTo(shadow, namespace), 'WorkloadsNotBack', message);
}

const RESCUED =
  'no agent runs on the node: its update was ended and what the operator had changed on the node was undone';

function tookMs({ completes }: Extract<Command, { kind: 'set-spec' }>, now: number): number | undefined {
  return completes?.beganAt === undefined ? undefined : Math.max(0, now - completes.beganAt);
}

/** The result of the update that a write to the spec of this shadow ends; undefined where that is a step on the way, or it is over already. */
export function resultOf({ spec, status }: ShadowView): 'succeeded' | 'failed' | 'cancelled' | undefined {
  // Where there is no status, somebody has removed it, and the update ends as it is.
  if (!status) return spec.state === 'Idle' ? undefined : 'failed';
  if (status.current_state === 'ErrorReset') return isCancelled(status) ? 'cancelled' : 'failed';
  return spec.state === 'MonitoringUpdate' ? 'succeeded' : undefined;
}

function updateEnded(
  shadow: ShadowView,
  regarding: ObjectReference,
  took: number | undefined,
): EventRecord | undefined {
  const { spec, status } = shadow;
  const result = resultOf(shadow);
  if (result === undefined) return undefined;
  if (!status)
    return warning(regarding, 'UpdateFailed', `update to ${spec.version} ended: the status of the shadow was removed`);
  if (result !== 'succeeded') return updateFailed(spec, status, regarding);
  const after = took === undefined ? '' : `, after ${durationText(took)}`;
  return normal(regarding, 'UpdateFinished', `the node runs ${status.current_version}${after}`);
}

/** The failure of a node's last attempt, also after the controller has answered it with Idle. @param namespace the operator's own */
export function lastFailure(shadow: ShadowView, namespace: string): EventRecord | undefined {
  const { spec, status } = shadow;
  if (!status || status.crash_count === 0 || isCancelled(status)) return undefined;
  // Its update ended well, and a verdict tells what became of the node since.
  if (isUnasked(status.last_failure?.reason)) return undefined;
  return updateFailed(spec, status, referenceTo(shadow, namespace));
}

function updateFailed({ version }: Spec, status: Status, regarding: ObjectReference): EventRecord {
  const { last_failure: failure, crash_count: crashes } = status;
  if (isCancelled(status))
    return normal(regarding, 'UpdateCancelled', `update to ${version} ended: ${failure?.message}`);
  const why = failure ? `${failure.reason}: ${failure.message}` : 'the agent did not say why';
  return warning(regarding, 'UpdateFailed', `update to ${version} failed (${crashes} in a row): ${why}`);
}

/** Whether an update that ended as ErrorReset was cancelled and has not failed: the host is no longer offered the version. */
function isCancelled({ last_failure: failure }: Pick<Status, 'last_failure'>): boolean {
  return failure?.reason === 'TargetChanged';
}

/** About the Node. Every process gives it the same occasion, as to setbacks. */
const warningOn = ({ name, uid }: NodeView, reason: string, message: string): EventRecord => ({
  ...warning({ apiVersion: 'v1', kind: 'Node', name, uid }, reason, message),
  occasion: `${reason.toLowerCase()}.${uid}`,
});

const UNREADABLE =
  'what the operator has put on the node cannot be read: kubectl brupop leftovers says what is to be done';
/** Part of what the operator has left on the node is not known any more. */
export const marksUnreadable = (node: NodeView): EventRecord => warningOn(node, 'MarksUnreadable', UNREADABLE);

const NO_AGENT = 'the node is labelled for updates, but no agent has reported on it';
/** Its shadow is not there yet, or has no status that could say so. */
export const agentMissing = (node: NodeView): EventRecord => warningOn(node, 'AgentMissing', NO_AGENT);

interface SetbackOn {
  readonly verdict: Setback;
  readonly node: NodeView;
  readonly shadow: ShadowView;
}

/** Every process gives it the same occasion, so that a leader that does not know of its predecessor's Event makes no second one. */
export function setback({ verdict, node, shadow }: SetbackOn, namespace: string): EventRecord {
  const { reason, message } = verdict;
  // A reboot may be too short to be seen on the Node. Then only the step tells this update from an earlier one.
  const stepAt = instantOf(shadow.spec.state_transition_timestamp) ?? -Infinity;
  const changedAt = reason === 'NotReturned' ? Math.max(node.readyChangedAt, stepAt) : node.readyChangedAt;
  const failedAt = isUnasked(reason) ? instantOf(shadow.status?.state_transition_failure_timestamp) : undefined;
  const begun = reason === 'ProgressDeadlineExceeded' ? (verdict.since ?? changedAt) : (failedAt ?? changedAt);
  const occasion = `${reason.toLowerCase()}.${begun.toString(16)}`;
  return { ...warning(referenceTo(shadow, namespace), reason, message), occasion };
}

export function rolloutHalted(regarding: ObjectReference, release: Halted): EventRecord {
  const failed = release.failures > 0 ? ` (${release.failures} failed)` : '';
  const message = `no further node starts on ${nameOf(release)}: ${haltedBecause(release, 'it')}${failed}`;
  return warning(regarding, 'RolloutHalted', message);
}

/** About a release, which is called as `nameOf` gives it. */
type OfRelease = (regarding: ObjectReference, name: string) => EventRecord;

export const rolloutResumed: OfRelease = (regarding, name) =>
  normal(regarding, 'RolloutResumed', `nodes may start on ${name} again`);
export const rolloutStarted: OfRelease = (regarding, name) =>
  normal(regarding, 'RolloutStarted', `nodes are being updated to ${name}`);
export const releasePublished: OfRelease = (regarding, name) =>
  normal(regarding, 'ReleasePublished', `${name} is out; kubectl brupop releases says when it reaches nodes`);
export const rolloutComplete: OfRelease = (regarding, name) =>
  normal(regarding, 'RolloutComplete', `no node waits for ${name} any more`);

export const nameOf = ({ family, version }: OsReleaseName): string => `${version} (${family})`;

/** For a schedule that is moments and not windows. */
export const windowTriggered = (regarding: ObjectReference): EventRecord =>
  normal(regarding, 'WindowOpened', 'the schedule has started updates for all nodes that wait');

export const windowTurned = (regarding: ObjectReference, isOpen: boolean): EventRecord =>
  isOpen
    ? normal(regarding, 'WindowOpened', 'updates may start')
    : normal(regarding, 'WindowClosed', 'no update starts until the next window');

/** Nothing is decided until a person has mended the list of permits. */
export const permitsUnreadable = (regarding: ObjectReference, { message }: Error): EventRecord =>
  warning(regarding, 'SlotsUnreadable', `nothing goes on: ${message}`);

interface Warned {
  readonly reason: FleetReason | Warning['reason'];
  readonly message: string;
}

/** What keeps the whole fleet from updates, or what is to be known of one that begins. */
export const warningGiven = (regarding: ObjectReference, { reason, message }: Warned): EventRecord =>
  warning(regarding, reason, message);

function referenceTo({ name, uid }: Pick<ShadowView, 'name' | 'uid'>, namespace: string): ObjectReference {
  return { apiVersion: API_VERSION, kind: KIND, name, namespace, uid };
}
