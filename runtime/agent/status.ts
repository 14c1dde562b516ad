import { shortened } from '../lib/parts.ts';
import type {
  AgentStatus,
  FailingCheck,
  FailureReason,
  RebootRecord,
  StagedAhead,
  Status,
  UpdateSettings,
  WishState,
} from '../api/shadow/model.ts';
import { hintIn } from '../api/shadow/hint.ts';
import { NOT_OF_AGENTS } from '../api/shadow/names.ts';
import { MAX_CRASHES, stillFailed, withFailed } from '../api/shadow/failed-versions.ts';
import { isSemver } from '../api/shadow/semver.ts';
import type { State } from '../api/shadow/states.ts';
import type { View } from './decide.ts';

/** Pure functions that make the status that the agent sends from the newest status that it has seen. */

/** What has failed. A failure of the host or the cluster becomes one of these when it ends a step. */
export interface Failure {
  /** The state that was wanted. */
  readonly state: State;
  readonly reason: FailureReason;
  readonly message: string;
  readonly version: string;
}

/** The release is to blame for these; the host, the cluster, or nobody, for the others. */
const BLAMES_RELEASE: ReadonlySet<FailureReason> = new Set(['PrepareFailed', 'BootFailed', 'Reverted', 'Unstable']);
const MAX_MESSAGE_BYTES = 1024;

const ofAgents = (status: Status): AgentStatus =>
  Object.fromEntries(Object.entries(status).filter(([field]) => !(field in NOT_OF_AGENTS))) as AgentStatus;

const firstStatus = (version: string): Status => ({ ...NEVER_SAID, current_version: version, target_version: version });

/** Before the first report. */
const NEVER_SAID = {
  current_state: 'Idle',
  crash_count: 0,
  state_transition_failure_timestamp: null,
  reboot: null,
  last_failure: null,
  check: null,
  finished: null,
} as const;

/** The status as it is, with the version that runs. The agent's own fields are null rather than absent, because absent fields would stay. */
export function currentStatus(view: View): AgentStatus {
  const { shadow, version } = view;
  const told = ofAgents(shadow?.status ?? firstStatus(version));
  const failed = stillFailed(told, version);
  // An offer to another version is void: it could be taken for an update to an older version.
  const target_version = told.current_version === version ? told.target_version : version;
  return {
    ...NEVER_SAID,
    ...told,
    target_version,
    current_version: version,
    ...(told.staged && { staged: stillStaged(told.staged, target_version, view) }),
    // An empty list stays: it says that the last failure, which has no record, is not a release's.
    failed_versions: failed.length > 0 || told.failed_versions?.length === 0 ? [...failed] : null,
  };
}

/** What was prepared is void once the host has booted, or offers another version. Why it could not be matters while it is asked for. */
function stillStaged(told: StagedAhead, target: string, { shadow, version, bootId }: View): StagedAhead {
  if (told.boot_id === bootId && told.version === target && target !== version) return told;
  return told.error != null && hintIn(shadow?.metadata.annotations) ? { error: told.error } : {};
}

/** `version` is in the inactive partition. */
export const stagingAhead = (view: View, version: string): AgentStatus => ({
  ...currentStatus(view),
  staged: { version, boot_id: view.bootId },
});

/** It could not be brought there, and nobody is to blame. */
export const failingAhead = (view: View, version: string, error: string): AgentStatus => ({
  ...currentStatus(view),
  staged: { error: bounded(`${version}: ${error}`) },
});

/** Nothing is known of what is in the inactive partition. A cluster, or an apiserver, that does not know of it is told nothing. */
export const nothingStaged = (view: View): AgentStatus => {
  const status = currentStatus(view);
  return status.staged ? { ...status, staged: {} } : status;
};

/** The host has looked for updates. A version that no status could name is not offered. */
export function withOffer(view: View, offered: string): AgentStatus {
  const status = currentStatus(view);
  const target_version = isSemver(offered) ? offered : view.version;
  const staged = status.staged && { staged: stillStaged(status.staged, target_version, view) };
  return { ...status, target_version, check: null, ...staged };
}

/** What the host has answered of its settings, by now. What it says in the same words as before was read when it first said so. */
export function withSettings(status: AgentStatus, read: UpdateSettings | undefined): AgentStatus {
  const { read_at: _, ...before } = status.update_settings ?? {};
  const { read_at: __, ...now } = read ?? {};
  return read === undefined || same(before, now) ? status : { ...status, update_settings: read };
}

/** @param wish null: nothing is wished, and nothing is ours any more */
export const withWish = (status: AgentStatus, wish: WishState | null): AgentStatus => ({
  ...status,
  version_wish: wish && { ...wish, ...(wish.detail != null && { detail: bounded(wish.detail) }) },
});

/** The host cannot look for updates. Its last offer stands. */
export function failingCheck(view: View, { error, ...check }: FailingCheck): AgentStatus {
  return { ...currentStatus(view), check: { ...check, error: bounded(error) } };
}

export const withRebootRecord = (view: View, reboot: RebootRecord | null): AgentStatus => ({
  ...currentStatus(view),
  reboot,
});

/**
 * When a state is reached no reboot is pending, so an old record goes. With the staged state the agent sends a probe: it says that this agent
 * keeps records and has asked for no reboot yet. When the host then dies in its drain, no release is to blame (rule F1).
 */
export function reachedStatus(view: View, state: State): AgentStatus {
  return {
    ...currentStatus(view),
    current_state: state,
    reboot: state === 'StagedAndPerformedUpdate' ? probe(view) : null,
  };
}

function probe({ shadow, bootId }: View): RebootRecord | null {
  const version = shadow?.spec.version;
  return version == null ? null : { boot_id: bootId, version, requested_at: null };
}

/**
 * Back at rest. A completed update clears the failures before it. Boots up to now were those of the attempt.
 * @param time RFC 3339
 */
export function idleStatus(view: View, succeeded: boolean, time: string): AgentStatus {
  const { version, bootId } = view;
  const rest: AgentStatus = { ...currentStatus(view), current_state: 'Idle', reboot: null };
  if (!succeeded) return { ...rest, finished: rest.finished && { ...rest.finished, boot_id: bootId } };
  const finished = { version, at: time, boot_id: bootId, unasked_boots: 0 };
  return { ...rest, crash_count: 0, state_transition_failure_timestamp: null, last_failure: null, finished };
}

/** An attempt has failed. @param time RFC 3339 */
export function failedStatus(view: View, failure: Failure, time: string): AgentStatus {
  return { ...withFailure(nothingStaged(view), failure, time), current_state: 'ErrorReset', reboot: null };
}

/** @param time RFC 3339 */
export function withFailure(before: AgentStatus, failure: Failure, time: string): AgentStatus {
  // A target that changed is no crash: the next attempt should not have to wait.
  const crash = failure.reason !== 'TargetChanged';
  return {
    ...before,
    crash_count: Math.min(before.crash_count + (crash ? 1 : 0), MAX_CRASHES),
    ...(crash && { state_transition_failure_timestamp: time }),
    last_failure: { ...failure, message: bounded(failure.message), time },
    failed_versions: failedVersions(before.failed_versions ?? [], failure),
  };
}

/** The words of a host or a cluster, as a status can hold them. */
const bounded = (words: string): string => shortened(words.toWellFormed(), MAX_MESSAGE_BYTES);

function failedVersions(known: readonly string[], { reason, version }: Failure): string[] | null {
  if (BLAMES_RELEASE.has(reason)) return withFailed(known, version);
  return known.length > 0 ? [...known] : null;
}

/** Whether `status` puts a reboot on record. A probe that comes with a new state does not count: a reduced status may leave it out. */
export function addsRecord({ reboot, current_state }: AgentStatus, { shadow }: View): boolean {
  const before = shadow?.status;
  return reboot != null && current_state === before?.current_state && !same(reboot, before.reboot);
}

/**
 * What is sent while the cluster refuses a status for good, the next where it refuses the one before: the whole status; the same without the
 * record of its failure, with a list of failed versions, so that it blames what the record blames; and the fields of the older contract. A
 * status that adds the record of a reboot is not reduced so far.
 */
export function reductions(status: AgentStatus, view: View): readonly [AgentStatus, ...AgentStatus[]] {
  const withoutRecord = { ...status, last_failure: null, failed_versions: status.failed_versions ?? [] };
  return [
    status,
    ...(status.last_failure == null ? [] : [withoutRecord]),
    ...(addsRecord(status, view) ? [] : [inOlderContract(status, view)]),
  ];
}

/** `status` with the record of its failure where that was withheld: it is the same failure while count and time are the same. */
export function withRecordOf(status: AgentStatus, withheld: AgentStatus | undefined): AgentStatus {
  if (!withheld?.last_failure || status.last_failure != null || status.crash_count === 0) return status;
  const { crash_count: count, state_transition_failure_timestamp: time } = withheld;
  if (status.crash_count !== count || status.state_transition_failure_timestamp !== time) return status;
  const said = { ...status, failed_versions: status.failed_versions ?? withheld.failed_versions };
  const failed_versions = [...stillFailed(said, status.current_version)];
  return { ...status, last_failure: withheld.last_failure, failed_versions };
}

/**
 * The fields of the older contract. A reboot that is on record stays on record. The record of a failure is cleared, or it would stand for
 * another failure. Where a version would be added to the failed ones, the list is cleared as well: a failure without a record counts
 * against the release. Nor is an update that was finished left to stand for another one.
 */
function inOlderContract(status: AgentStatus, { shadow }: View): AgentStatus {
  const { current_version, target_version, current_state, crash_count, state_transition_failure_timestamp } = status;
  const { failed_versions: recorded, finished }: Partial<Status> = shadow?.status ?? {};
  const isRecorded = status.failed_versions?.every((version) => recorded?.includes(version)) ?? false;
  return {
    current_version,
    target_version,
    current_state,
    crash_count,
    state_transition_failure_timestamp,
    last_failure: null,
    ...(status.reboot == null && { reboot: null }),
    ...(!same(status.finished, finished) && { finished: null }),
    staged: null,
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

/** JSON text with sorted keys, where null and absent are the same. */
function canonical(value: unknown): string {
  if (value == null) return 'null';
  if (typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, inner]) => inner != null);
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
