import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { backoff } from '../../lib/retry.ts';
import { HostActionFailedError, HostBusyError, HostProtocolError, HostUnreachableError } from './errors.ts';

/** How long a host may give no answer, none that makes sense, or be unable to begin, before that is an error of its own. */
export const TROUBLE_MS = 60_000;

export interface Insistence {
  readonly clock: Clock;
  readonly random: Random;
  /** On the clock's monotonic scale, milliseconds: no attempt begins later, unless the host is in trouble, which has its own minute. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

/** A trouble that passes by itself more often than not. */
export type Trouble = HostUnreachableError | HostProtocolError | HostActionFailedError;

export function isTrouble(error: unknown): error is Trouble {
  if (error instanceof HostActionFailedError) return error.notBegun;
  return error instanceof HostUnreachableError || error instanceof HostProtocolError;
}

/**
 * Asks until there is an answer. A busy host is asked again until the deadline; one in trouble for a minute, counted from the request
 * that met it first. A busy host is alive, so it ends the trouble: a socket that was away for a moment must not be taken for a dead mount.
 * @throws what `ask` threw last, or at once where asking again is of no use
 */
export async function insist<T>(ask: () => Promise<T>, options: Insistence): Promise<T> {
  const { clock, random, deadline, signal } = options;
  let troubleSince: number | undefined;
  for (let attempt = 0; ; attempt++) {
    const asked = clock.monotonic();
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted || !mayPass(error)) throw error;
      troubleSince = isTrouble(error) ? (troubleSince ?? asked) : undefined;
      const end = troubleSince === undefined ? deadline : troubleSince + TROUBLE_MS;
      const pause = backoff(attempt, { firstMs: 50, maxMs: 1000, random });
      if (clock.monotonic() + pause > end) throw error;
      await clock.sleep(pause, signal);
    }
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof HostBusyError || isTrouble(error);
}
