import { DeadlineError, unlessAborted, withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { HostBusyError } from './errors.ts';
import type { Command, Ended, HostPrograms } from './programs.ts';

interface OneProgramOptions {
  readonly programs: HostPrograms;
  readonly clock: Clock;
}

/** When a program is done, and whose wait may end before. */
interface Until {
  /** On the clock's monotonic scale, milliseconds. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
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

  /** Kills it at the deadline. @throws HostBusyError where that, or an earlier one, does not end; HostUnreachableError; the signal's reason */
  async run(command: Command, until: Until): Promise<Ended> {
    const { programs, clock } = this.#options;
    await this.idle(until);
    const run = programs.run(command, Math.max(0, until.deadline - clock.monotonic()));
    this.#running = run.catch(() => undefined);
    return this.#wait(run, { ...until, deadline: until.deadline + KILLED_MS });
  }

  /** @throws HostBusyError where a program that an earlier call has started does not end in time; the signal's reason */
  async idle(until: Until): Promise<void> {
    until.signal?.throwIfAborted();
    await this.#wait(this.#running, until);
  }

  async #wait<T>(work: Promise<T>, { deadline, signal }: Until): Promise<T> {
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
