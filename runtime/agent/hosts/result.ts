import type { Clock } from '../../lib/clock.ts';
import { HostActionLostError } from './errors.ts';
import type { HostAction, HostCommand, HostStatus } from './port.ts';

interface ActionUnderWay {
  readonly action: HostAction;
  /** The status that the action started from. */
  readonly before: HostStatus | undefined;
  readonly firstLookMs: number;
  /** On the clock's monotonic scale, milliseconds. */
  readonly deadline: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** One look at the status. */
  look(): Promise<HostStatus | undefined | 'working'>;
}

export type Finished = HostStatus & { readonly lastCommand: HostCommand };

/** The host holds its lock until the result is written. When the lock is free for this long without a result, the work was killed. */
const LOST_MS = 5000;

/** Whether `after` shows an end of `action` that `before` does not show. */
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
 * @throws HostActionLostError when there will be none, or none by the deadline; what `look` throws
 */
export async function awaitResult(underWay: ActionUnderWay): Promise<Finished> {
  const { action, before, firstLookMs, deadline, clock, signal } = underWay;
  const start = clock.monotonic();
  let freeSince: number | undefined;
  for (let pause = firstLookMs; clock.monotonic() + pause <= deadline; pause = nextLookMs(clock.monotonic() - start)) {
    await clock.sleep(pause, signal);
    const seen = await underWay.look();
    if (seen !== 'working') {
      if (hasResult(action, before, seen)) return seen;
      // Never reset: once the lock was free, whoever takes it next is somebody else.
      freeSince ??= clock.monotonic();
    }
    if (clock.monotonic() - (freeSince ?? Infinity) >= LOST_MS) break;
  }
  throw new HostActionLostError(action, freeSince === undefined ? 'it still ran at the deadline' : 'it was killed');
}

/**
 * The pause before the next look at an action that has run for `waitedMs`: 5 % of that time, between 20 and 250 ms. Each look costs the
 * host a request, so long actions are looked at less often.
 */
function nextLookMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs * 0.05, 20), 250);
}

/** A longer first wait would come from one slow action in the past. A few early looks cost less. */
const LONGEST_FIRST_LOOK_MS = 10_000;
const MARGIN_MS = 25;

/**
 * How long an action usually takes. An idle host repeats the same refresh, so a first look after the usual time finds it done, and a check
 * costs three requests. The estimate rises at once and falls slowly, because a look too early costs a request and a look too late costs
 * nothing.
 */
export class UsualDuration {
  #usualMs: number | undefined;

  record(tookMs: number): void {
    const usual = this.#usualMs ?? tookMs;
    this.#usualMs = Math.max(tookMs, usual + (tookMs - usual) / 4);
  }

  /** Milliseconds from the start of the action to the first look at it. */
  firstLookMs(): number {
    if (this.#usualMs === undefined) return nextLookMs(0);
    return Math.min(this.#usualMs + MARGIN_MS, LONGEST_FIRST_LOOK_MS);
  }
}
