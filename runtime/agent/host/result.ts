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

/** The host holds its lock until the result is written. This long after a status that could be read, and had none, the work was killed. */
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
  const outlook = new Outlook();
  for (let pause = firstLookMs; ; pause = nextLookMs(clock.monotonic() - start)) {
    if (!outlook.isTroubled && clock.monotonic() + pause > deadline) break;
    await clock.sleep(pause, signal);
    const seen = await lookOnce(awaited);
    if (seen.kind === 'finished') return seen.status;
    if (outlook.isHopeless(seen, clock.monotonic())) break;
  }
  throw outlook.failure(action);
}

/** What was seen of an action without a result, on the clock's monotonic scale. */
class Outlook {
  #freeSince: number | undefined;
  #troubleSince: number | undefined;
  #trouble: Trouble | undefined;

  /** The last look failed. A host in trouble has its minute even at the deadline: its socket may only be away for a moment. */
  get isTroubled(): boolean {
    return this.#trouble !== undefined;
  }

  /** Takes note of what was seen `now`; true when it is of no use to look on. */
  isHopeless(seen: Unfinished, now: number): boolean {
    // Whoever has the lock after it was seen free is somebody else.
    if (seen.kind === 'free') this.#freeSince ??= now;
    this.#trouble = seen.kind === 'trouble' ? seen.error : undefined;
    this.#troubleSince = this.#trouble && (this.#troubleSince ?? now);
    return now - (this.#freeSince ?? now) >= LOST_MS || now - (this.#troubleSince ?? now) >= TROUBLE_MS;
  }

  failure(action: HostAction): Error {
    if (this.#freeSince !== undefined) return new HostActionLostError(action, 'it was killed');
    return this.#trouble ?? new HostActionLostError(action, 'it still ran at the deadline');
  }
}

type Unfinished =
  | { readonly kind: 'working' }
  /** The lock is free, and there is no result. */
  | { readonly kind: 'free' }
  | { readonly kind: 'trouble'; readonly error: Trouble };

type Seen = Unfinished | { readonly kind: 'finished'; readonly status: Finished };

async function lookOnce(awaited: Awaited): Promise<Seen> {
  const { action, before, signal } = awaited;
  try {
    const status = await awaited.look();
    return hasResult(action, before, status) ? { kind: 'finished', status } : { kind: 'free' };
  } catch (error) {
    if (!signal?.aborted && error instanceof HostBusyError) return { kind: 'working' };
    if (!signal?.aborted && isTrouble(error)) return { kind: 'trouble', error };
    throw error;
  }
}
