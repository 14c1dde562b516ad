import type { Clock } from '../../runtime/lib/clock.ts';
import { outcomeOf } from './view/outcome.ts';
import type { Recorder } from './view/recorder.ts';

/**
 * For how long a fleet at rest is watched for an offer that has not come yet: longer than a host takes whose first look for updates is
 * lost, which is seen after 60 s, and made good at the next interval of 120 s and a tenth.
 */
const QUIET_MS = 200_000;

export interface EndOptions {
  /** Version that every node is to reach. */
  readonly to: string;
  readonly clock: Clock;
  /** Ends the rollout wherever it is. */
  readonly signal: AbortSignal;
}

/** The end of a rollout: when its outcome is certain, it was interrupted, or the world broke. */
export class End {
  readonly #options: EndOptions;
  readonly #done = Promise.withResolvers<void>();
  #quiet: AbortController | undefined;

  constructor(options: EndOptions) {
    const { signal } = options;
    this.#options = options;
    signal.addEventListener('abort', () => this.#done.resolve(), { once: true });
    if (signal.aborted) this.#done.resolve();
  }

  get over(): Promise<void> {
    return this.#done.promise;
  }

  /** After each change. */
  look(recorder: Pick<Recorder, 'nodes' | 'shadows'>): void {
    const outcome = outcomeOf(recorder, this.#options.to);
    if (outcome === 'over') this.#done.resolve();
    if (outcome === 'quiet') void this.#waitForOffers();
    else this.#quiet?.abort(new Error('something happens'));
  }

  broken(error: unknown): void {
    if (this.#options.signal.aborted) this.#done.resolve();
    else this.#done.reject(error);
  }

  async #waitForOffers(): Promise<void> {
    if (this.#quiet && !this.#quiet.signal.aborted) return;
    const { clock, signal } = this.#options;
    this.#quiet = new AbortController();
    try {
      await clock.sleep(QUIET_MS, AbortSignal.any([this.#quiet.signal, signal]));
      this.#done.resolve();
    } catch {
      // Something happens after all, or the rollout was ended.
    }
  }
}
