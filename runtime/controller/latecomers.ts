import type { Clock } from '../lib/clock.ts';

/** What the API server takes in twice this time, at its worst, when it is well. */
const PATIENCE_MS = 2000;
/** Nodes that may hang before the others wait for them: their requests take up connections. */
const MOST = 20;

export interface LatecomersOptions {
  readonly clock: Clock;
  /** Told when something that was late is over. */
  readonly onOver: () => void;
}

/** Commands whose answer is long in coming: plans go on without the nodes that they are for, until it has come or is given up. */
export class Latecomers {
  readonly #options: LatecomersOptions;
  /** By name of the shadow. */
  readonly #late = new Map<string, Promise<unknown>>();

  constructor(options: LatecomersOptions) {
    this.#options = options;
  }

  /** Whether nothing may be asked for this node now. */
  blocks(target: string): boolean {
    return this.#late.has(target) || this.#late.size >= MOST;
  }

  /** What `work` comes to, or `late` where that takes long: it then goes on by itself, and its failure is nobody's. */
  async await<T>(target: string, work: Promise<T>): Promise<T | 'late'> {
    const { clock, onOver } = this.#options;
    const inTime = new AbortController();
    const late = clock.sleep(PATIENCE_MS, inTime.signal).then(
      () => 'late' as const,
      () => work,
    );
    try {
      const first = await Promise.race([work, late]);
      if (first === 'late') this.#add(target, work, onOver);
      return first;
    } finally {
      inTime.abort();
    }
  }

  /** When nothing is late any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#late.values());
  }

  #add(target: string, work: Promise<unknown>, onOver: () => void): void {
    const over = (): void => {
      this.#late.delete(target);
      onOver();
    };
    this.#late.set(target, work.then(over, over));
  }
}
