import type { TrueTime } from '../clock.ts';

/** What happens later, and may take more than one step. */
export class Timers {
  readonly #time: TrueTime;

  constructor(time: TrueTime) {
    this.#time = time;
  }

  /** Acts after so many milliseconds, unless what is returned is called before. */
  after(ms: number, act: () => unknown): () => void {
    const timer = this.#time.after(ms, () => this.do(act));
    return () => this.#time.cancel(timer);
  }

  /** Acts now. A failure, which would be a mistake of the simulation, ends the run. */
  do(act: () => unknown): void {
    const done = act();
    if (!(done instanceof Promise)) return;
    done.catch((error: unknown) => {
      this.#time.after(0, () => {
        throw error;
      });
    });
  }
}
