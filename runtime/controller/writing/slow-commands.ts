import { DeadlineError, unlessAborted, withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';

/** Twice the time that a healthy API server takes for a command at worst. */
const PATIENCE_MS = 2000;
/** With this many slow commands all others wait too, because the slow requests take up connections. */
const MAX_SLOW = 20;

interface SlowCommandsOptions {
  readonly clock: Clock;
  /** Called when a command that was slow is over. */
  readonly onOver: () => void;
}

/** Commands that have had no answer for long. Plans leave their nodes out until the answer comes or the request is given up. */
export class SlowCommands {
  readonly #options: SlowCommandsOptions;
  /** By name of the shadow. */
  readonly #slow = new Map<string, Promise<unknown>>();

  constructor(options: SlowCommandsOptions) {
    this.#options = options;
  }

  /** Whether no command may be sent for this node now. */
  blocks(target: string): boolean {
    return this.#slow.has(target) || this.#slow.size >= MAX_SLOW;
  }

  /** The result of `work`, or `slow` where that takes long. The work then continues, and its failure is ignored. */
  async waitFor<T>(target: string, work: Promise<T>): Promise<T | 'slow'> {
    const { clock, onOver } = this.#options;
    const over = (): void => {
      this.#slow.delete(target);
      onOver();
    };
    try {
      return await withDeadline({ clock, ms: PATIENCE_MS }, (late) => unlessAborted(work, late));
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      this.#slow.set(target, work.then(over, over));
      return 'slow';
    }
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#slow.values());
  }
}
