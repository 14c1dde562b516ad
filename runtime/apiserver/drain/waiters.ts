import type { Clock } from '../../lib/clock.ts';

/** How long a run goes on without a waiter. An agent that asks again, here, has done so by then. */
const LONGEST_ABSENCE_MS = 10_000;

/**
 * Those who wait for a run. An agent comes to any replica with its next request: what each of them may do for one drain would add up if
 * runs that nobody waits for went on.
 */
export class Waiters {
  readonly #clock: Clock;
  readonly #absence = new AbortController();
  #count = 0;
  #back = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#count;
  }

  /** Aborts when the last of them has been gone for a while. */
  get absence(): AbortSignal {
    return this.#absence.signal;
  }

  /** Resolves as `awaited` does, and counts until then. */
  async wait<T>(awaited: Promise<T>): Promise<T> {
    this.#count++;
    this.#back.abort();
    try {
      return await awaited;
    } finally {
      this.#count--;
      if (this.#count === 0) this.#left();
    }
  }

  #left(): void {
    this.#back = new AbortController();
    const absent = this.#clock.sleep(LONGEST_ABSENCE_MS, this.#back.signal);
    absent.then(
      () => this.#absence.abort(),
      () => undefined,
    );
  }
}
