import type { ShadowView } from './snapshot.ts';

const MINUTE = 60_000;
const LONGEST_MINUTES = 1440;

/**
 * The first millisecond at which a node may try again: more than min(2^crashes, 1440) minutes after its last failure.
 * Undefined where nothing failed, or nobody knows when.
 */
export function retryAt({ status, failedAt }: Pick<ShadowView, 'status' | 'failedAt'>): number | undefined {
  if (!status || status.crash_count === 0 || failedAt === undefined) return undefined;
  return failedAt + Math.min(2 ** status.crash_count, LONGEST_MINUTES) * MINUTE + 1;
}
