import type { Marks } from '../../marks/marks.ts';
import type { Spec, Status } from '../../shadow/model.ts';
import { nextState } from '../../shadow/states.ts';
import type { Health } from './health.ts';
import type { ShadowView } from './snapshot.ts';

/**
 * The spec that an update goes on with, by the contract's state machine; undefined where there is nothing to write. Never a start: leaving
 * Idle, or changing the version, needs a slot.
 * @param now RFC 3339
 */
export function progress({ spec, status }: ShadowView, soak: Health['soak'], now: string): Spec | undefined {
  if (spec.state === 'Idle') return status && isSpent(spec, status) ? REST : undefined;
  if (status === undefined) return { state: 'Idle' };
  if (status.current_state === 'ErrorReset') return { ...onwards(spec, now), state: 'Idle' };
  const arrived = status.current_state === spec.state && (spec.state !== 'MonitoringUpdate' || soak === 'passed');
  return arrived ? onwards(spec, now) : undefined;
}

/** The node has done what is wanted of it, or has given up: what comes next is the controller's to write. A soak apart, which time ends. */
export function isStepOver({ spec, status }: Pick<ShadowView, 'spec' | 'status'>): boolean {
  return spec.state !== 'Idle' && (status?.current_state === spec.state || status?.current_state === 'ErrorReset');
}

/** Nulls, because a merge patch leaves alone what it does not name. */
const REST: Spec = { state: 'Idle', version: null, state_transition_timestamp: null };

/** It still names the version of an update that is over. */
function isSpent(spec: Spec, status: Status): boolean {
  const named = spec.version != null || spec.state_transition_timestamp != null;
  return named && status.current_state === 'Idle' && status.current_version === status.target_version;
}

/** The node has its version in the inactive slot, and is in service: nobody has been told to disturb it. */
export function isStaged({ spec, status }: Pick<ShadowView, 'spec' | 'status'>): boolean {
  return spec.state === 'StagedAndPerformedUpdate' && status?.current_state === 'StagedAndPerformedUpdate';
}

/** Its agent asks for its drain and is refused, so that nothing was done to the node yet. @param marks of the node */
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

/** The spec of an update that is over before it has led anywhere. It keeps the version, and so is no start. @param now RFC 3339 */
export function calledOff({ spec }: Pick<ShadowView, 'spec'>, now: string): Spec {
  return { state: 'Idle', version: spec.version ?? null, state_transition_timestamp: now };
}

function onwards({ state, version }: Spec, now: string): Spec {
  return { state: nextState(state), version: version ?? null, state_transition_timestamp: now };
}

/**
 * The version that a start would lead to: at rest the one that is offered, and for a node that has begun nothing yet a newer offer than the
 * one it was told. Undefined where nothing can start. A withdrawn offer is no start: the agent ends that update by itself.
 */
export function startable({ spec, status }: ShadowView): string | undefined {
  if (status?.current_state !== 'Idle' || status.target_version === status.current_version) return undefined;
  if (spec.state === 'Idle') return status.target_version;
  const retarget = spec.state === 'StagedAndPerformedUpdate' && spec.version !== status.target_version;
  return retarget ? status.target_version : undefined;
}
