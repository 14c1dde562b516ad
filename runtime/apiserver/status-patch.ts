import type { AgentStatus, Status } from '../shadow/model.ts';

/**
 * The merge patch of `.status` for a status that an agent sent: fields that it lacks stay, null clears. Optional fields inside of its
 * records are cleared by name, because a merge would leave those of the record before.
 * @param before the status as it is stored
 */
export function statusPatch(sent: AgentStatus, before: Status | null | undefined): object {
  const { reboot, last_failure, ...rest } = sent;
  return {
    ...rest,
    ...(reboot !== undefined && { reboot: reboot && { ...reboot, requested_at: reboot.requested_at ?? null } }),
    ...(last_failure !== undefined && {
      last_failure: last_failure && { ...last_failure, version: last_failure.version ?? null },
    }),
    ...ended(sent.current_state, before),
  };
}

/**
 * What a state ends, said also for older agents that know neither field: the record of a reboot when it has led somewhere; progress of the
 * last drain when a new attempt begins, and then only: for the rest of the attempt it is the evidence that a drain of ours has run.
 */
function ended(reached: AgentStatus['current_state'], before: Status | null | undefined): object {
  if (reached === 'RebootedIntoUpdate' || reached === 'ErrorReset') return { reboot: null };
  return reached === 'StagedAndPerformedUpdate' && before?.current_state !== reached ? { drain: null } : {};
}
