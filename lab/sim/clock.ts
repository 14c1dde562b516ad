import type { Clock } from '../../runtime/lib/clock.ts';
import { Heap } from './heap.ts';

/** What happens at some later time. */
export interface Timer {
  readonly at: number;
  readonly tie: number;
  readonly order: number;
  /** Undefined where it was cancelled: it stays where it is until its turn comes, and is then passed over. */
  happen: (() => void) | undefined;
}

function isBefore(a: Timer, b: Timer): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie;
}

/** More sleeps than this do not begin at one moment, unless something goes round and round without time. */
const MOST_AT_ONCE = 1_000_000;

/**
 * A clock that moves only when told to. It visits every moment at which something is due, in order, and lets all work that follows settle
 * before it goes on, so a test never sees a half-done step and never waits for real time.
 */
export class VirtualClock implements Clock {
  readonly #start: number;
  readonly #tie: () => number;
  readonly #queue = new Heap<Timer>(isBefore);
  #elapsed = 0;
  #order = 0;
  /** When the last sleep began, and how many have begun then. */
  #begunAt = 0;
  #begun = 0;

  /**
   * @param start wall clock at the beginning, milliseconds since the Unix epoch
   * @param tie what is due at the same time happens by these numbers, the smallest first, and then as it was asked for
   */
  constructor(start = Date.parse('2026-01-01T00:00:00Z'), tie: () => number = () => 0) {
    this.#start = start;
    this.#tie = tie;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  /** Lets it happen after `ms` milliseconds. */
  after(ms: number, happen: () => void): Timer {
    const timer = { at: this.#elapsed + Math.max(0, ms), tie: this.#tie(), order: this.#order++, happen };
    this.#queue.push(timer);
    return timer;
  }

  cancel(timer: Timer): void {
    timer.happen = undefined;
  }

  /**
   * Rejects where so many sleeps begin at one moment that time would never move on.
   * @param deliver brings the end of the sleep to whoever sleeps, at once unless told
   */
  sleep(ms: number, signal?: AbortSignal, deliver: (wake: () => void) => void = (wake) => wake()): Promise<void> {
    this.#begun = this.#begunAt === this.#elapsed ? this.#begun + 1 : 1;
    this.#begunAt = this.#elapsed;
    if (this.#begun > MOST_AT_ONCE) return Promise.reject(new Error('something goes round without time'));
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(reasonOf(signal));
      const onAbort = (): void => {
        this.cancel(timer);
        reject(reasonOf(signal));
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const timer = this.after(ms, () => deliver(wake));
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Moves time on by `ms`, and lets happen what is due on the way. */
  async advance(ms: number): Promise<void> {
    await this.run(this.#elapsed + ms);
  }

  /** Lets happen what is due until `end`, or until `isOver`, which is asked after each thing. */
  async run(end: number, isOver: () => boolean = () => false): Promise<void> {
    await this.settled();
    while (!isOver()) {
      const next = this.#next();
      if (!next || next.at > end) {
        this.#elapsed = Math.max(this.#elapsed, end);
        return;
      }
      this.#queue.pop();
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.happen?.();
      await this.settled();
    }
  }

  /** Moves time on, at most by `limitMs`, until `promise` settles. @throws Error when it has not by then */
  async advanceUntil<T>(promise: Promise<T>, limitMs: number): Promise<T> {
    let isSettled = false;
    const mark = (): void => {
      isSettled = true;
    };
    promise.then(mark, mark);
    const end = this.#elapsed + limitMs;
    await this.run(end, () => isSettled || (this.#next()?.at ?? Infinity) > end);
    if (!isSettled) throw new Error(`not settled after ${limitMs} ms of virtual time`);
    return promise;
  }

  protected settled(): Promise<void> {
    return settle();
  }

  #next(): Timer | undefined {
    while (this.#queue.first && !this.#queue.first.happen) this.#queue.pop();
    return this.#queue.first;
  }
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal?.reason });
}

/** Lets everything run that waits for nothing but other code: promises, then what they schedule, a few rounds deep. */
export async function settle(rounds = 8): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve));
}
