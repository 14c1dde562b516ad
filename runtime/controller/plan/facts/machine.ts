import type { Spec } from '../../../api/shadow/model.ts';
import { nextState } from '../../../api/shadow/states.ts';
import type { Completion } from './commands.ts';
import type { PermitView } from './permit.ts';
import { isStepOver, type Phase } from './phase.ts';
import type { ShadowView } from './snapshot.ts';

/** How the soak goes of a node that is back from its update; undefined where there is none. */
export type Soak = 'waiting' | 'passed' | 'failed' | undefined;

/**
 * The spec that an update goes on with, by the contract's state machine; undefined where there is nothing to write. Never a start: leaving
 * Idle, or changing the version, needs a permit.
 * @param now RFC 3339
 */
export function progress({ shadow, phase }: Progressing, soak: Soak, now: string): Spec | undefined {
  const { spec, status } = shadow;
  if (phase.kind === 'resting') return phase.spent ? REST : undefined;
  if (!status) return spec.state === 'Idle' ? undefined : { state: 'Idle' };
  if (phase.kind === 'failed') return { ...onwards(spec, now), state: 'Idle' };
  return isStepOver(phase) && (spec.state !== 'MonitoringUpdate' || soak === 'passed') ? onwards(spec, now) : undefined;
}

interface Progressing {
  readonly shadow: Pick<ShadowView, 'spec' | 'status'>;
  readonly phase: Phase;
}

/** Nulls, because a merge patch leaves alone what it does not name. */
const REST: Spec = { state: 'Idle', version: null, state_transition_timestamp: null };

/** The spec that calls an update off. It keeps the version, and so is no start. @param now RFC 3339 */
export function calledOff({ spec }: Pick<ShadowView, 'spec'>, now: string): Spec {
  const capacity = spec.capacity == null ? {} : { capacity: null };
  return { state: 'Idle', version: spec.version ?? null, state_transition_timestamp: now, ...capacity };
}

/** What is kept of an update that ends well. The step in which it ends has begun when the agent was back. */
export function completionOf({ stepBeganAt, updatedFrom }: ShadowView, permit: PermitView | undefined): Completion {
  const { since: beganAt, id: attempt, rebootAskedAt } = permit ?? {};
  const rebootMs = rebootAskedAt === undefined ? undefined : Math.max(0, stepBeganAt - rebootAskedAt);
  return { beganAt, rebootMs, attempt, versionBefore: updatedFrom };
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
