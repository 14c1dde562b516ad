interface FairLimiterOptions {
  /** Most that all parties have at once: tasks, connections or bytes. */
  readonly max: number;
  /** Most tasks of one party: where it is below `max`, one alone never takes every place. @default `max` */
  readonly maxPerParty?: number;
  /** Most tasks of one party that wait for their turn. @default any number */
  readonly maxWaiting?: number;
  /** What a party is told that has too many waiting. */
  readonly busy?: () => Error;
}

/** What somebody outside decides how long to keep, such as an open connection or an answer that waits to be read. */
export interface Holding {
  /** False where the limiter has taken it back, by now or for this: whoever holds it has to end it. */
  add(amount: number): boolean;
  /** To be called when it ends, however it ends; a second call does nothing. */
  release(): void;
}

interface Held {
  amount: number;
  readonly makeWay: () => void;
}

interface Party {
  used: number;
  /** The oldest first. */
  readonly held: Set<Held>;
  readonly waiting: (() => void)[];
}

/**
 * Limits what all have at once, and is fair to the parties, who are network addresses, nodes, drains or connections. Tasks wait: the parties
 * take turns, so that one that asks for a lot delays only itself. What is held is taken back: the oldest of the party that holds the most, so
 * that nobody makes way for who holds more.
 */
export class FairLimiter<P = string> {
  readonly #options: FairLimiterOptions;
  #used = 0;
  /** Parties that have something, or wait. The one whose turn is next comes first. */
  readonly #parties = new Map<P, Party>();

  constructor(options: FairLimiterOptions) {
    this.#options = options;
  }

  /** Rejects as `task` does, and with `busy` where too many of the party wait already. */
  async run<T>(name: P, task: () => Promise<T>): Promise<T> {
    const { maxWaiting = Infinity, busy = () => new Error('too many at once') } = this.#options;
    const party = this.#party(name);
    if (!this.#hasRoom(party) && party.waiting.length >= maxWaiting) throw busy();
    this.#parties.set(name, party);
    await new Promise<void>((resolve) => {
      party.waiting.push(resolve);
      this.#startNext();
    });
    try {
      return await task();
    } finally {
      this.#use(name, party, -1);
      this.#startNext();
    }
  }

  /** @param makeWay ends what is held, because others need the room */
  hold(name: P, makeWay: () => void): Holding {
    const party = this.#party(name);
    const held: Held = { amount: 0, makeWay };
    party.held.add(held);
    this.#parties.set(name, party);
    const release = (): void => this.#release(name, party, held);
    return { add: (amount) => this.#add(name, party, { held, amount }), release };
  }

  #add(name: P, party: Party, { held, amount }: { readonly held: Held; readonly amount: number }): boolean {
    if (!party.held.has(held)) return false;
    held.amount += amount;
    this.#use(name, party, amount);
    while (this.#used > this.#options.max) {
      const [victim, heaviest] = this.#heaviest([name, party]);
      const [oldest] = heaviest.held;
      if (!oldest) break;
      this.#release(victim, heaviest, oldest);
      if (oldest === held) return false;
      oldest.makeWay();
    }
    return true;
  }

  /** The asking party itself where no other has more. */
  #heaviest(asking: readonly [P, Party]): readonly [P, Party] {
    let heaviest = asking;
    for (const one of this.#parties) if (one[1].used > heaviest[1].used) heaviest = one;
    return heaviest;
  }

  #release(name: P, party: Party, held: Held): void {
    if (party.held.delete(held)) this.#use(name, party, -held.amount);
  }

  #party(name: P): Party {
    return this.#parties.get(name) ?? { used: 0, held: new Set(), waiting: [] };
  }

  #use(name: P, party: Party, amount: number): void {
    this.#used += amount;
    party.used += amount;
    if (party.used === 0 && party.held.size + party.waiting.length === 0) this.#parties.delete(name);
  }

  #hasRoom({ used }: Party): boolean {
    const { max, maxPerParty = max } = this.#options;
    return this.#used < max && used < maxPerParty;
  }

  #startNext(): void {
    for (const [name, party] of this.#parties) {
      if (this.#used >= this.#options.max) return;
      const start = this.#hasRoom(party) ? party.waiting.shift() : undefined;
      if (!start) continue;
      this.#use(name, party, 1);
      // Moved to the end of the line, where this loop comes to it again if there is still room.
      this.#parties.delete(name);
      this.#parties.set(name, party);
      start();
    }
  }
}
