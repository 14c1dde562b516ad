import type { Clock } from './clock.ts';
import { jitter, type Random } from './random.ts';

interface BackoffOptions {
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

export interface RetryPolicy extends BackoffOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Whether the same attempt may succeed later. */
  readonly isTransient: (error: unknown) => boolean;
  /** No attempt begins later than this after the first failure, milliseconds. Unlimited by default. */
  readonly giveUpAfterMs?: number;
  /** No attempt but the first begins later: milliseconds on the clock's monotonic scale. None by default. */
  readonly deadline?: number;
  /** Called with each error that is followed by another attempt, and with how many attempts have failed by then. */
  readonly onRetry?: (error: unknown, failures: number) => void;
}

/**
 * Repeats `attempt` until it succeeds, after growing pauses.
 * @throws the error of the last attempt: one that is not transient, or one after which the policy's time is over
 */
export async function retry<T>(attempt: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { clock, signal, isTransient, onRetry } = policy;
  let end: number | undefined;
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      const pause = backoff(failures, policy);
      end ??= endAfter(policy);
      if (signal?.aborted || !isTransient(error) || clock.monotonic() + pause > end) throw error;
      onRetry?.(error, failures + 1);
      await clock.sleep(pause, signal);
    }
  }
}

/** When no more attempts begin, after a first failure at this moment. */
function endAfter({ clock, giveUpAfterMs = Infinity, deadline = Infinity }: RetryPolicy): number {
  return Math.min(deadline, clock.monotonic() + giveUpAfterMs);
}

/** Measures for how long a condition has held without a break. */
export class Streak {
  readonly #clock: Clock;
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records whether the condition holds now. @returns milliseconds since it began to hold, 0 where it does not */
  note(isSo: boolean): number {
    const now = this.#clock.monotonic();
    this.#since = isSo ? (this.#since ?? now) : undefined;
    return now - (this.#since ?? now);
  }
}
