import type { Marks } from '../../marks/marks.ts';
import type { RebootRecord, Spec, Status } from '../../shadow/model.ts';
import { nextState } from '../../shadow/states.ts';
import type { NodeView, ShadowView } from './snapshot.ts';

/** How the soak goes of a node that is back from its update; undefined where there is none. */
export type Soak = 'waiting' | 'passed' | 'failed' | undefined;

/**
 * The spec that an update goes on with, by the contract's state machine; undefined where there is nothing to write. Never a start: leaving
 * Idle, or changing the version, needs a slot.
 * @param now RFC 3339
 */
export function progress({ spec, status }: ShadowView, soak: Soak, now: string): Spec | undefined {
  if (spec.state === 'Idle') return status && isSpent(spec, status) ? REST : undefined;
  if (status === undefined) return { state: 'Idle' };
  if (status.current_state === 'ErrorReset') return { ...onwards(spec, now), state: 'Idle' };
  const arrived = status.current_state === spec.state && (spec.state !== 'MonitoringUpdate' || soak === 'passed');
  return arrived ? onwards(spec, now) : undefined;
}

/** The node has reached the wanted state, or has given up, so the controller writes the next state. This does not look at a soak: time ends it. */
export function isStepOver({ spec, status }: Pick<ShadowView, 'spec' | 'status'>): boolean {
  return spec.state !== 'Idle' && (status?.current_state === spec.state || status?.current_state === 'ErrorReset');
}

/** Nulls, because a merge patch leaves alone what it does not name. */
const REST: Spec = { state: 'Idle', version: null, state_transition_timestamp: null };

/** The spec still names the version of an update that is over. */
function isSpent(spec: Spec, status: Status): boolean {
  const named = spec.version != null || spec.state_transition_timestamp != null;
  return named && status.current_state === 'Idle' && status.current_version === status.target_version;
}

/** The node has its version in the inactive partition, and is still in service. */
export function isStaged({ spec, status }: Pick<ShadowView, 'spec' | 'status'>): boolean {
  return spec.state === 'StagedAndPerformedUpdate' && status?.current_state === 'StagedAndPerformedUpdate';
}

/** The agent asks for the node's drain and is refused, so the node was not disturbed yet. @param marks of the node */
export function isRefused({ spec, status }: Pick<ShadowView, 'spec' | 'status'>, marks: Marks | undefined): boolean {
  const isAsking = spec.state === 'RebootedIntoUpdate' && status?.current_state === 'StagedAndPerformedUpdate';
  return isAsking && !marks && status.reboot?.requested_at == null && (status.drain?.blocked_by ?? []).length > 0;
}

/** Whether its update can be called off as if it had never begun. @param marks of the node */
export function isUndisturbed(shadow: Pick<ShadowView, 'spec' | 'status'>, marks: Marks | undefined): boolean {
  return isStaged(shadow) || isRefused(shadow, marks);
}

/** Its update was ended before its node was rebooted, and its agent has not come to rest yet. */
export function isCalledOff({ spec, status }: Pick<ShadowView, 'spec' | 'status'>): boolean {
  return spec.state === 'Idle' && status?.current_state === 'StagedAndPerformedUpdate';
}

/** The spec that calls an update off. It keeps the version, and so is no start. @param now RFC 3339 */
export function calledOff({ spec }: Pick<ShadowView, 'spec'>, now: string): Spec {
  return { state: 'Idle', version: spec.version ?? null, state_transition_timestamp: now };
}

function onwards({ state, version }: Spec, now: string): Spec {
  return { state: nextState(state), version: version ?? null, state_transition_timestamp: now };
}

/**
 * The version that a start would lead to; undefined where nothing can start. For a node at rest it is the offered version. For a node that
 * was told a version and has not begun, it is a newer offer. A withdrawn offer is no start: the agent ends that update by itself.
 */
export function startable({ spec, status }: ShadowView): string | undefined {
  if (status?.current_state !== 'Idle' || status.target_version === status.current_version) return undefined;
  if (spec.state === 'Idle') return status.target_version;
  const retarget = spec.state === 'StagedAndPerformedUpdate' && spec.version !== status.target_version;
  return retarget ? status.target_version : undefined;
}

/** States that end the step in which a reboot is asked for. */
const OVER: ReadonlySet<Status['current_state']> = new Set(['RebootedIntoUpdate', 'ErrorReset']);

/**
 * The reboot that was requested in this attempt (rules B1 and F1), as a text that stays the same for as long as the request does; undefined
 * where none was requested. If the Node has marks, their drain must be over first. An agent that keeps `status.reboot` writes it when the version
 * is staged. For other agents the end of the drain is the request. Under an apiserver that leaves no marks either, the cordon is.
 */
export function rebootRequest({ spec, status }: Pick<ShadowView, 'spec' | 'status'>, node: Host): string | undefined {
  if (spec.state !== 'RebootedIntoUpdate' || !status || OVER.has(status.current_state)) return undefined;
  const { reboot } = status;
  if (!reboot) return unrecordedRequest(node);
  return isRequest(reboot) && reboot.version === spec.version && !isDraining(node) ? reboot.boot_id : undefined;
}

type Host = Pick<NodeView, 'marks' | 'unschedulable'>;

function unrecordedRequest(node: Host): string | undefined {
  if (isDraining(node)) return undefined;
  return node.marks?.id ?? (node.unschedulable ? 'cordoned' : undefined);
}

const isDraining = ({ marks }: Host): boolean => marks !== undefined && marks.drained === undefined;

/** A record without `requested_at` is a probe: no reboot was requested. */
const isRequest = ({ requested_at }: RebootRecord): boolean => requested_at != null;

/** The host was rebooted as recorded, and its agent has yet to report that. What it reports must still fit the spec. */
export function isBackFromReboot(bootId: string | undefined, { status }: Pick<ShadowView, 'status'>): boolean {
  const reboot = status?.reboot;
  return reboot != null && isRequest(reboot) && isAnotherBoot(bootId, reboot.boot_id);
}

/**
 * The kubelet says that the host came back: it runs the version, or was at least booted since the request. The status says that its agent has
 * not reported that yet.
 */
export function isBackUnreported(
  { version, bootId, marks }: NodeView,
  { spec, status, rebootAskedAt }: ShadowView,
): boolean {
  if (!status) return false;
  if (version !== undefined && version === spec.version && version !== status.current_version) return true;
  return rebootAskedAt !== undefined && isAnotherBoot(bootId, status.reboot?.boot_id ?? marks?.boot);
}

/** Since when the host is known to have been asked for a reboot, which nothing takes back; undefined where it was not, or is back from it. */
export function goingDownSince(node: NodeView, shadow: ShadowView): number | undefined {
  const { rebootAskedAt, stateSeenAt, status } = shadow;
  if (rebootAskedAt !== undefined) return isBackUnreported(node, shadow) ? undefined : rebootAskedAt;
  // Somebody has ended the update since. What is on record of the request tells of it all the same.
  const { reboot, current_state: state = 'Idle' } = status ?? {};
  const isUnder =
    reboot != null && isRequest(reboot) && !OVER.has(state) && !isAnotherBoot(node.bootId, reboot.boot_id);
  return isUnder ? stateSeenAt : undefined;
}

function isAnotherBoot(bootId: string | undefined, before: string | null | undefined): boolean {
  return bootId !== undefined && before != null && bootId !== before;
}
