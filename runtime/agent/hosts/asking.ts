import { retry, type RetryPolicy } from '../../lib/retry.ts';
import { HostActionFailedError, HostProtocolError, HostUnreachableError } from './errors.ts';

/** How drivers ask their hosts. */

/** Until when one call of a driver may ask the host. */
export interface Limits {
  /** On the clock's monotonic scale, milliseconds. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

/** Between two requests. */
export const PAUSES = { firstMs: 50, maxMs: 1000 };

/** How long the host may be in trouble before the call fails, milliseconds from the first failure. */
const TROUBLE_MS = 60_000;

/** Asks a host in trouble again, until that has lasted for a minute without a break. */
export function throughTrouble<T>(
  request: () => Promise<T>,
  { clock, random, signal }: Pick<RetryPolicy, 'clock' | 'random' | 'signal'>,
): Promise<T> {
  const policy = { clock, random, signal, ...PAUSES };
  return retry(request, { ...policy, isTransient: isTrouble, giveUpAfterMs: TROUBLE_MS });
}

/** The host gives no answer, an answer without a meaning, or cannot begin. Most often this passes by itself. */
function isTrouble(error: unknown): boolean {
  if (error instanceof HostActionFailedError) return error.notBegun;
  return error instanceof HostUnreachableError || error instanceof HostProtocolError;
}
