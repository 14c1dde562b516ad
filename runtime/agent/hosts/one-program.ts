import { DeadlineError, unlessAborted, withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Limits } from './asking.ts';
import { failedAction, HostActionLostError, HostBusyError } from './errors.ts';
import type { HostAction } from './port.ts';
import type { Command, Ended, HostPrograms } from './programs.ts';

interface OneProgramOptions {
  readonly programs: HostPrograms;
  readonly clock: Clock;
}

/** How long a program that was killed may take to end. One that waits for a disk cannot be killed. */
const KILLED_MS = 10_000;

/** The host's programs, one at a time: two at once would write the same disk. A program outlives the call that has started it. */
export class OneProgram {
  readonly #options: OneProgramOptions;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: OneProgramOptions) {
    this.#options = options;
  }

  /** Runs a program, and kills it at the deadline. @throws HostBusyError where it, or an earlier one, does not end; HostUnreachableError; the signal's reason */
  async run(command: Command, limits: Limits): Promise<Ended> {
    const { programs, clock } = this.#options;
    await this.idle(limits);
    const run = programs.run(command, Math.max(0, limits.deadline - clock.monotonic()));
    this.#running = run.catch(() => undefined);
    return this.#wait(run, { ...limits, deadline: limits.deadline + KILLED_MS });
  }

  /** @throws HostBusyError where a program that an earlier call has started does not end in time; the signal's reason */
  async idle(limits: Limits): Promise<void> {
    limits.signal?.throwIfAborted();
    await this.#wait(this.#running, limits);
  }

  async #wait<T>(work: Promise<T>, { deadline, signal }: Limits): Promise<T> {
    const { clock } = this.#options;
    try {
      const ms = Math.max(0, deadline - clock.monotonic());
      return await withDeadline({ clock, ms, signal }, (limited) => unlessAborted(work, limited));
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      throw new HostBusyError('a program of the host that was started earlier still runs');
    }
  }
}

/**
 * @param hasWritten whether it had begun to write a release
 * @throws WriteFailedError, HostActionFailedError, HostActionLostError
 */
export function expectSuccess(action: HostAction, { exit, overdue, stderr }: Ended, hasWritten: boolean): void {
  if (exit === 0) return;
  if (exit === undefined)
    throw new HostActionLostError(action, overdue ? 'it still ran at the deadline' : 'it was killed');
  throw failedAction(action, { stderr, exit, hasWritten });
}
