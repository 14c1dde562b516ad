import { jitter, type Random } from './random.ts';

export interface BackoffOptions {
  /** First delay, milliseconds. */
  readonly firstMs: number;
  /** Longest delay, milliseconds. */
  readonly maxMs: number;
  readonly random: Random;
}

/** Delay before attempt `attempt` (0 = the first retry): doubling, capped, with 20 % jitter. */
export function backoff(attempt: number, options: BackoffOptions): number {
  const plain = Math.min(options.firstMs * 2 ** attempt, options.maxMs);
  return jitter(plain, 0.2, options.random);
}
