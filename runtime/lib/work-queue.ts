import type { Clock } from './clock.ts';
import type { Random } from './random.ts';
import { type Pause, RateLimiter } from './rate-limiter.ts';
import { Wakeup } from './wakeup.ts';

interface WorkQueueOptions<T> {
  readonly clock: Clock;
  readonly random: Random;
  /** Of two items with one key, the second waits until the first is done. */
  readonly keyOf: (item: T) => string;
  /** Does the work of an item. Never rejects. */
  readonly work: (item: T, signal: AbortSignal) => Promise<void>;
  /** Items that may be under way. */
  readonly atOnce: number;
  /** Milliseconds between the beginnings of two items. @default 0 */
  readonly paceMs?: number;
  /** What an item is now: it does not rest because of another version. @default it rests because of every version */
  readonly versionOf?: (item: T) => string;
}

/**
 * Works in the background on the newest list of items: `replace` drops all items that have not begun. An item whose work was in vain can be made to
 * rest: client-go's rate limiting queue.
 */
export class WorkQueue<T> {
  readonly #options: WorkQueueOptions<T>;
  readonly #wakeup = new Wakeup();
  #pending: readonly T[] = [];
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #limiter: RateLimiter;

  constructor(options: WorkQueueOptions<T>) {
    this.#options = options;
    this.#limiter = new RateLimiter(options);
  }

  replace(pending: readonly T[]): void {
    this.#pending = pending;
    if (pending.length > 0) this.#wakeup.ring();
  }

  /** Items with the key of this one rest, ever longer. @param version rests alone; undefined = every version */
  rest(item: T, pause: Pause, version?: string): void {
    this.#limiter.add(this.#options.keyOf(item), pause, version);
  }

  /** The next rest of such an item is a first one. */
  forget(item: T): void {
    this.#limiter.forget(this.#options.keyOf(item));
  }

  /** Works until the signal aborts and what is under way is done. What came before is forgotten. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, keyOf, work, paceMs = 0 } = this.#options;
    const underWay = this.#underWay;
    this.#pending = [];
    this.#limiter.clear();
    while (!signal.aborted) {
      const next = this.#take();
      if (next === undefined) {
        await this.#wakeup.wait(clock, clock.now() + this.#shortestRestMs, signal);
        continue;
      }
      const key = keyOf(next);
      const done = work(next, signal).finally(() => {
        underWay.delete(key);
        this.#wakeup.ring();
      });
      underWay.set(key, done);
      if (paceMs > 0) await clock.sleep(paceMs, signal).catch(() => undefined);
    }
    await Promise.all(underWay.values());
  }

  /** Whether an item with this key is under way. */
  isUnderWay(key: string): boolean {
    return this.#underWay.has(key);
  }

  #take(): T | undefined {
    const { keyOf, atOnce } = this.#options;
    const underWay = this.#underWay;
    if (underWay.size >= atOnce) return undefined;
    const next = this.#pending.find((item) => !underWay.has(keyOf(item)) && this.#restMs(item) <= 0);
    this.#pending = this.#pending.filter((one) => one !== next);
    return next;
  }

  /** Timers know no fractions of a millisecond: one that is left would be waited for in vain. */
  #restMs(item: T): number {
    const { keyOf, versionOf } = this.#options;
    return Math.ceil(this.#limiter.restMs(keyOf(item), versionOf && (() => versionOf(item))));
  }

  /** Milliseconds until the first of the resting items may begin. */
  get #shortestRestMs(): number {
    return Math.min(...this.#pending.map((item) => this.#restMs(item)).filter((rest) => rest > 0));
  }
}
