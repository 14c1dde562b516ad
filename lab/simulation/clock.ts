import type { Clock } from '../../runtime/lib/clock.ts';
import type { Random } from '../../runtime/lib/random.ts';
import { settle, type Timer, VirtualClock } from '../sim/clock.ts';
import { BEGINS_AT, type Instant } from './types.ts';

export type { Timer } from '../sim/clock.ts';

/**
 * True time, by which everything in a simulation happens, in milliseconds since it began. What is due at the same time happens in an order drawn
 * from the seed, one by one: each with all that follows from it before the next begins.
 */
export class TrueTime extends VirtualClock {
  constructor(random: Random) {
    super(BEGINS_AT, random);
  }

  override after(ms: number, happen: () => void): Timer {
    return super.after(Math.ceil(ms), happen);
  }

  /** Promises and what streams put off come before the next turn, and nothing here waits for the system. */
  protected override settled(): Promise<void> {
    return settle(1);
  }
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
    return this.#time.sleep(ms, signal, this.#life.deliver);
  }
}
