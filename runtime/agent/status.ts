import { shortened } from '../lib/parts.ts';
import type { AgentStatus, FailureReason, RebootRecord, Status } from '../shadow/model.ts';
import { withFailed, without } from '../shadow/failed-versions.ts';
import type { State } from '../shadow/states.ts';
import type { View } from './decide.ts';

/** Pure makers of the status that the agent sends, each from the newest one that it has seen. */

/** A failed attempt. Host and cluster failures become one of these where they end a step. */
export interface Failure {
  /** The state that was wanted. */
  readonly state: State;
  readonly reason: FailureReason;
  readonly message: string;
  readonly version: string;
}

/** These are the release's fault; the others are the cluster's, or nobody's. */
const BLAMES_RELEASE: ReadonlySet<FailureReason> = new Set(['PrepareFailed', 'ActivateFailed', 'BootFailed']);
const MAX_MESSAGE_BYTES = 1024;

const unsaid = (version: string): Status => ({ ...NEVER_SAID, current_version: version, target_version: version });

/** Before the first report. */
const NEVER_SAID = {
  current_state: 'Idle',
  crash_count: 0,
  state_transition_failure_timestamp: null,
  reboot: null,
  last_failure: null,
} as const;

/** The status as it is, with the version that runs. Fields that are the agent's are null rather than absent: absent ones would stay. */
export function present({ shadow, version }: View): AgentStatus {
  const { conditions: _, drain: __, ...said }: Status = shadow?.status ?? unsaid(version);
  const others = without(said.failed_versions ?? [], version);
  return {
    ...NEVER_SAID,
    ...said,
    // What the host offered to another version is void: it could be taken for an update that leads back.
    target_version: said.current_version === version ? said.target_version : version,
    current_version: version,
    failed_versions: others.length > 0 ? others : null,
  };
}

export const offering = (view: View, target: string): AgentStatus => ({ ...present(view), target_version: target });

export const recording = (view: View, reboot: RebootRecord | null): AgentStatus => ({ ...present(view), reboot });

/**
 * No state that is reached leaves a reboot pending: a record that is still there is of the past. With what it has staged the agent says that it
 * keeps records, and that it has asked for no reboot yet: where the host then dies in its drain, no release is to blame (rule F1).
 */
export function reaching(view: View, state: State): AgentStatus {
  return { ...present(view), current_state: state, reboot: state === 'StagedAndPerformedUpdate' ? probe(view) : null };
}

function probe({ shadow, bootId }: View): RebootRecord | null {
  const version = shadow?.spec.version;
  return version == null ? null : { boot_id: bootId, version, requested_at: null };
}

/** Back at rest; a completed update makes up for the failures before it. */
export function resting(view: View, succeeded: boolean): AgentStatus {
  const rest: AgentStatus = { ...present(view), current_state: 'Idle', reboot: null };
  if (!succeeded) return rest;
  return { ...rest, crash_count: 0, state_transition_failure_timestamp: null, last_failure: null };
}

/** @param time RFC 3339 */
export function failing(view: View, failure: Failure, time: string): AgentStatus {
  const before = present(view);
  // A target that changed is not a crash: the next attempt should not have to wait for it.
  const crash = failure.reason !== 'TargetChanged';
  return {
    ...before,
    current_state: 'ErrorReset',
    crash_count: before.crash_count + (crash ? 1 : 0),
    ...(crash && { state_transition_failure_timestamp: time }),
    reboot: null,
    last_failure: { ...failure, message: shortened(failure.message, MAX_MESSAGE_BYTES), time },
    failed_versions: blame(before.failed_versions ?? [], failure),
  };
}

function blame(failed: readonly string[], { reason, version }: Failure): string[] | null {
  if (BLAMES_RELEASE.has(reason)) return withFailed(failed, version);
  return failed.length > 0 ? [...failed] : null;
}

/** Whether `status` is sent to put a reboot on record. The probe that comes with a new state can be left out of it. */
export function addsRecord({ reboot, current_state }: AgentStatus, { shadow }: View): boolean {
  const before = shadow?.status;
  return reboot != null && current_state === before?.current_state && !same(reboot, before.reboot);
}

/**
 * What is left of a status that the cluster refuses: the fields of the older contract. A reboot that is on record stays there. The record
 * of a failure is taken back rather than left to stand for another one. A version that cannot be added to those that failed has the list taken back as well, because a failure
 * without a record is put down to the release.
 */
export function inOlderContract(status: AgentStatus, { shadow }: View): AgentStatus {
  const { current_version, target_version, current_state, crash_count, state_transition_failure_timestamp } = status;
  const recorded = shadow?.status?.failed_versions ?? [];
  const isRecorded = status.failed_versions?.every((version) => recorded.includes(version)) ?? false;
  return {
    current_version,
    target_version,
    current_state,
    crash_count,
    state_transition_failure_timestamp,
    last_failure: null,
    ...(status.reboot == null && { reboot: null }),
    ...(!isRecorded && { failed_versions: null }),
  };
}

/** Whether sending `status` would change what is there. */
export function alreadySaid(status: AgentStatus, view: View): boolean {
  if (!view.shadow?.status) return false;
  const there: AgentStatus = view.shadow.status;
  return (Object.keys(status) as (keyof AgentStatus)[]).every((field) => same(status[field], there[field]));
}

function same(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** JSON text with sorted keys, in which null and absent are the same. */
function canonical(value: unknown): string {
  if (value == null) return 'null';
  if (typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, inner]) => inner != null);
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
