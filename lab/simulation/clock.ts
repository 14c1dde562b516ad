import type { Clock } from '../../runtime/lib/clock.ts';
import type { Random } from '../../runtime/lib/random.ts';
import { Heap } from '../sim/heap.ts';
import { BEGINS_AT, type Instant } from './types.ts';

/** What happens at some later time. */
export interface Timer {
  readonly at: Instant;
  readonly tie: number;
  readonly order: number;
  /** Undefined where it was cancelled: it stays in the queue until its turn comes, and is then passed over. */
  happen: (() => void) | undefined;
}

/**
 * True time, by which everything in a simulation happens. What is due at the same time happens in an order drawn from the seed, one by one:
 * each with all that follows from it before the next begins.
 */
export class TrueTime implements Clock {
  readonly #random: Random;
  readonly #queue = new Heap<Timer>(isBefore);
  #now: Instant = 0;
  #order = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  now(): number {
    return BEGINS_AT + this.#now;
  }

  /** Milliseconds since the simulation began. */
  monotonic(): Instant {
    return this.#now;
  }

  /** Lets it happen after `ms` milliseconds. */
  after(ms: number, happen: () => void): Timer {
    const timer = { at: this.#now + Math.max(0, Math.ceil(ms)), tie: this.#random(), order: this.#order++, happen };
    this.#queue.push(timer);
    return timer;
  }

  cancel(timer: Timer): void {
    timer.happen = undefined;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleeping(this, { ms, signal, deliver: (wake) => wake() });
  }

  /** Lets happen what is due until `end`, or until `isOver`, which is asked after each thing. */
  async run(end: Instant, isOver: () => boolean = () => false): Promise<void> {
    await followed();
    while (!isOver()) {
      const next = this.#next();
      if (!next || next.at > end) {
        this.#now = Math.max(this.#now, end);
        return;
      }
      this.#queue.pop();
      this.#now = next.at;
      next.happen?.();
      await followed();
    }
  }

  #next(): Timer | undefined {
    while (this.#queue.first && !this.#queue.first.happen) this.#queue.pop();
    return this.#queue.first;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie;
}

/** Resolves when nothing is left but what waits for time: promises and what streams put off come before, and nothing here waits for the system. */
function followed(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

interface Sleep {
  readonly ms: number;
  readonly signal: AbortSignal | undefined;
  readonly deliver: (wake: () => void) => void;
}

function sleeping(time: TrueTime, { ms, signal, deliver }: Sleep): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      time.cancel(timer);
      reject(reasonOf(signal));
    };
    if (signal?.aborted) return reject(reasonOf(signal));
    const timer = time.after(ms, () =>
      deliver(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal?.reason });
}

/**
 * One life of a process: whatever reaches it comes through here. Once it is over nothing does, whatever the process still waits for; while it
 * is frozen everything waits.
 */
export class Life {
  #isOver = false;
  #isSilent = false;
  #freezes = 0;
  #held: (() => void)[] = [];
  readonly #onOver = new Set<() => void>();

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether its machine went with it: nothing is left that could close its connections. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Whether it neither acts nor hears, for now or for ever. */
  get isStill(): boolean {
    return this.#isOver || this.#freezes > 0;
  }

  /** Lets it happen to the process: now, when it is no longer frozen, or never. */
  readonly deliver = (happen: () => void): void => {
    if (this.#isOver) return;
    if (this.#freezes > 0) this.#held.push(happen);
    else happen();
  };

  /** Returns what ends it. */
  freeze(): () => void {
    let isOver = false;
    this.#freezes += 1;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#freezes -= 1;
      if (this.#freezes > 0) return;
      for (const happen of this.#held.splice(0)) this.deliver(happen);
    };
  }

  end(how?: 'silent'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isSilent = how === 'silent';
    this.#held = [];
    for (const happen of this.#onOver) happen();
  }

  /** Returns what takes it back. */
  onOver(happen: () => void): () => void {
    if (this.#isOver) happen();
    else this.#onOver.add(happen);
    return () => this.#onOver.delete(happen);
  }
}

/** The clock of a process: its wall clock is off, and its sleeps end only while it lives. */
export class ProcessClock implements Clock {
  readonly #time: TrueTime;
  readonly #life: Life;
  readonly #began: Instant;
  readonly #off: () => number;

  /** @param off by how many milliseconds its wall clock is ahead of true time, at any moment */
  constructor(time: TrueTime, life: Life, off: () => number) {
    this.#time = time;
    this.#life = life;
    this.#began = time.monotonic();
    this.#off = off;
  }

  now(): number {
    return this.#time.now() + this.#off();
  }

  monotonic(): number {
    return this.#time.monotonic() - this.#began;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleeping(this.#time, { ms, signal, deliver: this.#life.deliver });
  }
}
