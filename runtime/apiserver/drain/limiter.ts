/** Lets at most `max` tasks run at once; the others wait in line. */
export class Limiter {
  readonly #max: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Rejects as `task` does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // A place is handed over rather than freed, or a newcomer could take it first.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
