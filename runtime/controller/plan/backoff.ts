import type { Status } from '../../shadow/model.ts';

const MINUTE = 60_000;
const LONGEST_MINUTES = 1440;

/**
 * The first millisecond at which a node may try again: more than min(2^crashes, 1440) minutes after its last failure.
 * Undefined where nothing failed, or nobody knows when.
 */
export function retryAt(status: Status): number | undefined {
  const failedAt = status.state_transition_failure_timestamp;
  if (status.crash_count === 0 || failedAt == null) return undefined;
  return Date.parse(failedAt) + Math.min(2 ** status.crash_count, LONGEST_MINUTES) * MINUTE + 1;
}
