import type { Clock } from '../../runtime/lib/clock.ts';
import { Heap } from './heap.ts';

interface Sleeper {
  readonly at: number;
  readonly order: number;
  /** It was aborted: it stays where it is until its turn comes, and is then passed over. */
  isGone: boolean;
  wake(): void;
}

/** More sleeps than this do not begin at one moment, unless something goes round and round without time. */
const MOST_AT_ONCE = 1_000_000;

/**
 * A clock that moves only when told to. `advance` visits every moment at which somebody wakes, in order, and lets all work that follows
 * settle before it goes on, so a test never sees a half-done step and never waits for real time.
 */
export class VirtualClock implements Clock {
  readonly #start: number;
  #elapsed = 0;
  #order = 0;
  /** When the last sleep began, and how many have begun then. */
  #begunAt = 0;
  #begun = 0;
  readonly #sleepers = new Heap<Sleeper>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));

  /** @param start wall clock at the beginning, milliseconds since the Unix epoch */
  constructor(start = Date.parse('2026-01-01T00:00:00Z')) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  /** Rejects where so many sleeps begin at one moment that time would never move on. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.#begun = this.#begunAt === this.#elapsed ? this.#begun + 1 : 1;
    this.#begunAt = this.#elapsed;
    if (this.#begun > MOST_AT_ONCE) return Promise.reject(new Error('something goes round without time'));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        sleeper.isGone = true;
        reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal?.reason }));
      };
      const sleeper: Sleeper = {
        isGone: false,
        at: this.#elapsed + Math.max(0, ms),
        order: this.#order++,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      if (signal?.aborted) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#sleepers.push(sleeper);
    });
  }

  /** Moves time on by `ms`, waking every sleeper that is due on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settle();
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.#elapsed = Math.max(this.#elapsed, next.at);
      this.#sleepers.pop();
      next.wake();
      await settle();
    }
    this.#elapsed = end;
  }

  /** Moves time on, at most by `limitMs`, until `promise` settles. @throws Error when it has not by then */
  async advanceUntil<T>(promise: Promise<T>, limitMs: number): Promise<T> {
    const settled = { yet: false };
    const mark = (): void => {
      settled.yet = true;
    };
    promise.then(mark, mark);
    const end = this.#elapsed + limitMs;
    await settle();
    while (!settled.yet) {
      const next = this.#next();
      if (!next || next.at > end) throw new Error(`not settled after ${limitMs} ms of virtual time`);
      await this.advance(next.at - this.#elapsed);
    }
    return promise;
  }

  #next(): Sleeper | undefined {
    while (this.#sleepers.first?.isGone) this.#sleepers.pop();
    return this.#sleepers.first;
  }
}

/** Lets everything run that waits for nothing but other code: promises, then what they schedule, a few rounds deep. */
export async function settle(rounds = 8): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve));
}
