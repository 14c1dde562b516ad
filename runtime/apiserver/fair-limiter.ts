import { RefusedError } from './refusal.ts';

interface FairLimiterOptions {
  /** Most tasks that run at once. */
  readonly max: number;
  /** Most of them for one party: where it is below `max`, one alone never takes every place. */
  readonly maxPerParty: number;
  /** Most tasks of one party that wait. @default any number */
  readonly maxWaiting?: number;
  /** What a caller beyond that is told. */
  readonly busy?: string;
}

interface Party {
  running: number;
  readonly waiting: (() => void)[];
}

/** Limits how many tasks run at once, and lets the parties take turns: a party that asks for a lot delays only itself. */
export class FairLimiter {
  readonly #options: FairLimiterOptions;
  #running = 0;
  /** Parties with tasks. The one whose turn is next comes first. */
  readonly #parties = new Map<string, Party>();

  constructor(options: FairLimiterOptions) {
    this.#options = options;
  }

  /** Rejects as `task` does. @throws RefusedError 503 where too many of the party wait already */
  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const { maxWaiting = Infinity, busy = 'too many at once; ask again' } = this.#options;
    const party = this.#parties.get(name) ?? { running: 0, waiting: [] };
    if (party.waiting.length >= maxWaiting) throw new RefusedError(503, 'Busy', busy);
    this.#parties.set(name, party);
    await new Promise<void>((resolve) => {
      party.waiting.push(resolve);
      this.#startNext();
    });
    try {
      return await task();
    } finally {
      this.#running--;
      party.running--;
      if (party.running + party.waiting.length === 0) this.#parties.delete(name);
      this.#startNext();
    }
  }

  #startNext(): void {
    const { max, maxPerParty } = this.#options;
    for (const [name, party] of this.#parties) {
      if (this.#running >= max) return;
      const start = party.running < maxPerParty ? party.waiting.shift() : undefined;
      if (!start) continue;
      this.#running++;
      party.running++;
      // Moved to the end of the line, where this loop comes to it again if there is still room.
      this.#parties.delete(name);
      this.#parties.set(name, party);
      start();
    }
  }
}
