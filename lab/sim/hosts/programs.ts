import type { Command, Ended, HostPrograms } from '../../../runtime/agent/hosts/programs.ts';
import { DeadlineError, withDeadline } from '../../../runtime/lib/abort.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { SimulatedHost } from './host.ts';

export interface InProcessProgramsOptions {
  readonly host: SimulatedHost;
  readonly clock: Clock;
  /** Ends with the container that they are started in. */
  readonly container: AbortSignal;
}

/** The programs of a simulated host without processes, on any clock. */
export class InProcessHostPrograms implements HostPrograms {
  readonly #options: InProcessProgramsOptions;
  constructor(options: InProcessProgramsOptions) {
    this.#options = options;
  }

  async run(command: Command, timeoutMs: number): Promise<Ended> {
    const { host, clock, container } = this.#options;
    return withDeadline({ clock, ms: timeoutMs, signal: container }, async (limited) => {
      const end = await host.run(command, limited);
      return { ...end, overdue: limited.reason instanceof DeadlineError };
    });
  }
}
