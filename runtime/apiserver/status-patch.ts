import type { AgentStatus } from '../shadow/model.ts';

/**
 * The merge patch of `.status` for a status that an agent sent: fields that it lacks stay, null clears. Optional fields inside of its
 * records are cleared by name, because a merge would leave those of the record before.
 */
export function statusPatch(sent: AgentStatus): object {
  const { reboot, last_failure, ...rest } = sent;
  return {
    ...rest,
    ...(reboot !== undefined && { reboot: reboot && { ...reboot, requested_at: reboot.requested_at ?? null } }),
    ...(last_failure !== undefined && {
      last_failure: last_failure && { ...last_failure, version: last_failure.version ?? null },
    }),
    ...CLEARED[sent.current_state],
  };
}

/**
 * What a reached state ends, said also for older agents that know neither field: progress of the last drain when a new attempt begins,
 * the record of a reboot when it has led somewhere.
 */
const CLEARED: Readonly<Partial<Record<AgentStatus['current_state'], object>>> = {
  StagedAndPerformedUpdate: { drain: null },
  RebootedIntoUpdate: { reboot: null },
  ErrorReset: { reboot: null },
};
