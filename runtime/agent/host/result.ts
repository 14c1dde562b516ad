import { HostActionLostError, HostBusyError } from './errors.ts';
import { type Insistence, isTrouble, type Trouble, TROUBLE_MS } from './insist.ts';
import { nextLookMs } from './pace.ts';
import type { HostAction, HostCommand, HostStatus } from './port.ts';

export interface Awaited extends Insistence {
  readonly action: HostAction;
  /** The status that the action started from. */
  readonly before: HostStatus | undefined;
  readonly firstLookMs: number;
  /** One look at the status. @throws HostBusyError while the host works */
  look(): Promise<HostStatus | undefined>;
}

export type Finished = HostStatus & { readonly lastCommand: HostCommand };

/**
 * The host holds its lock until the result is written. A status that can be read, and has none, for this long belongs to work that
 * was killed.
 */
const LOST_MS = 5000;

/** Whether `after` tells of an end of `action` that `before` does not. */
export function hasResult(
  action: HostAction,
  before: HostStatus | undefined,
  after: HostStatus | undefined,
): after is Finished {
  const command = after?.lastCommand;
  return command?.type === action && command.timestamp !== before?.lastCommand?.timestamp;
}

/**
 * Waits for the result of an action that has been started.
 * @throws HostActionLostError when there will be none, or none by the deadline
 * @throws HostUnreachableError, HostProtocolError after a minute without an answer
 */
export async function awaitResult(awaited: Awaited): Promise<Finished> {
  const { action, clock, deadline, signal, firstLookMs } = awaited;
  const start = clock.monotonic();
  let pause = firstLookMs;
  let last: Unfinished = { kind: 'working' };
  let since = start;
  while (clock.monotonic() + pause <= deadline) {
    await clock.sleep(pause, signal);
    const seen = await lookOnce(awaited);
    if (seen.kind === 'finished') return seen.status;
    const now = clock.monotonic();
    if (seen.kind !== last.kind) since = now;
    last = seen;
    if (now - since >= GIVE_UP_MS[seen.kind]) break;
    pause = nextLookMs(now - start);
  }
  throw failure(action, last);
}

type Unfinished =
  | { readonly kind: 'working' }
  /** The lock is free, and there is no result. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'trouble'; readonly error: Trouble };

type Seen = Unfinished | { readonly kind: 'finished'; readonly status: Finished };

/** How long the same may be seen without a break. */
const GIVE_UP_MS: Readonly<Record<Unfinished['kind'], number>> = {
  working: Infinity,
  silent: LOST_MS,
  trouble: TROUBLE_MS,
};

async function lookOnce(awaited: Awaited): Promise<Seen> {
  const { action, before, signal } = awaited;
  try {
    const status = await awaited.look();
    return hasResult(action, before, status) ? { kind: 'finished', status } : { kind: 'silent' };
  } catch (error) {
    if (!signal?.aborted && error instanceof HostBusyError) return { kind: 'working' };
    if (!signal?.aborted && isTrouble(error)) return { kind: 'trouble', error };
    throw error;
  }
}

function failure(action: HostAction, last: Unfinished): Error {
  if (last.kind === 'trouble') return last.error;
  return new HostActionLostError(action, last.kind === 'silent' ? 'it was killed' : 'it still ran at the deadline');
}
