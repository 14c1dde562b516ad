import { withFailed, without } from '../api/shadow/failed-versions.ts';
import type { AgentStatus, Shadow, Status, WishState } from '../api/shadow/model.ts';
import type { State } from '../api/shadow/states.ts';

/** As much of the shadow as the merge needs. */
export interface Stored extends Pick<Shadow, 'spec'> {
  readonly status?: Partial<Status> | null | undefined;
}

/**
 * The merge patch of `.status` for a status that an agent sent: fields that it lacks stay, null clears. Optional fields inside of its
 * records are cleared by name, because a merge would leave those of the record before.
 * @param shadow as it is stored
 */
export function statusPatch(sent: AgentStatus, { spec, status: before }: Stored): object {
  const { reboot, last_failure, check, staged, update_settings, version_wish, ...rest } = sent;
  return {
    ...rest,
    // An agent that does not know one of these says nothing of it, and what another one said would stay for ever.
    check: whole(check, { succeeded_at: null }),
    staged: whole(staged, NOTHING_STAGED),
    update_settings: whole(update_settings, NO_SETTINGS),
    ...(version_wish !== undefined && { version_wish: version_wish && wish(version_wish) }),
    ...(reboot !== undefined && { reboot: reboot && { ...reboot, requested_at: reboot.requested_at ?? null } }),
    ...(last_failure !== undefined && {
      last_failure: last_failure && { ...last_failure, version: last_failure.version ?? null },
    }),
    ...unsaid(sent, { spec, status: before }),
    ...ended(sent, before),
  };
}

/**
 * Whether the patch for it depends on more of what is stored than which state was reached: what an older agent does not say, and what a drain has
 * displaced, which is looked at when the node newly is in MonitoringUpdate.
 * @param before that state; undefined where it is not known, on which it depends whether what has begun before ends with StagedAndPerformedUpdate
 */
export function dependsOnStored(sent: AgentStatus, before: State | undefined): boolean {
  const { current_state: reached } = sent;
  if (reached === 'StagedAndPerformedUpdate') return before === undefined || isOfOlder(sent);
  return (reached === 'MonitoringUpdate' && before !== reached) || isOfOlder(sent);
}

/** What an agent sends that does not know why an update has failed. */
const isOfOlder = ({ last_failure, failed_versions }: AgentStatus): boolean =>
  last_failure === undefined && failed_versions === undefined;

/** With a null for each field that it lacks. */
const whole = (record: object | null | undefined, nulls: object): object | null =>
  record == null ? null : { ...nulls, ...record };

/** What an agent of ours has set on its host is known from here alone, so that one which does not know of it leaves it there. */
const wish = ({ ours, before, ...said }: WishState): object => ({
  refused: null,
  detail: null,
  ...said,
  ours: { ...NO_LOCK, ...ours },
  before: { ...NO_LOCK, ...before },
});

const NO_LOCK = { version_lock: null, ignore_waves: null };
const NOTHING_STAGED = { version: null, boot_id: null, error: null };
const NO_SETTINGS = { seed: null, ignore_waves: null, version_lock: null, metadata_base_url: null };

/**
 * Adds what an older agent cannot say. Its new failure clears the record of an earlier one, and the version that it runs is no longer a
 * failed one. It gives no reasons, so each of its failures is blamed on the release.
 */
function unsaid(sent: AgentStatus, { spec, status: before }: Stored): object {
  if (!isOfOlder(sent)) return {};
  const known = without(before?.failed_versions ?? [], sent.current_version);
  const hasFailed = sent.crash_count > (before?.crash_count ?? 0);
  if (!hasFailed) return { failed_versions: orNull(known) };
  const failed = spec.version == null ? known : withFailed(known, spec.version);
  return { last_failure: null, failed_versions: orNull(failed) };
}

/** An empty list would say that nothing failed; null, that nothing is on record. */
function orNull(versions: readonly string[]): readonly string[] | null {
  return versions.length > 0 ? versions : null;
}

/**
 * Clears the records that end with a state, also for older agents, which know neither of them. The record of a reboot ends when the reboot
 * has led to a result. The progress of the last drain ends only when a new attempt begins: until then it proves that a drain of ours has
 * run. A record of a reboot that is there when an attempt begins belongs to an earlier attempt, unless the agent names it.
 */
function ended({ current_state: reached, reboot, finished }: AgentStatus, before: Stored['status']): object {
  // What was finished before is no longer what runs. An older agent does not say what is.
  if (reached === 'RebootedIntoUpdate') return { reboot: null, ...(finished === undefined && { finished: null }) };
  if (reached === 'ErrorReset') return { reboot: null };
  if (reached !== 'StagedAndPerformedUpdate' || before?.current_state === reached) return {};
  return { drain: null, displaced: null, ...(reboot === undefined && { reboot: null }) };
}
