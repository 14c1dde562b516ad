import { NEVER } from './requeue.ts';

/** How many nodes may be updating at once, and who takes that up: of one policy, or over all. */
export class Budget {
  readonly capacity: number;
  /** UIDs of nodes. */
  readonly #taken = new Set<string>();
  /** Until when nodes take a part that are not being updated, by UID. */
  readonly #outages = new Map<string, number>();
  /** Their ends, the first one first. */
  #ends: readonly number[] | undefined;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get taken(): ReadonlySet<string> {
    return this.#taken;
  }

  /** Until when the node takes a part without being updated; undefined where it is being updated, or takes none. */
  outageUntil(uid: string): number | undefined {
    return this.#outages.get(uid);
  }

  /** @param until NEVER = until its update is over */
  hold(uid: string, until: number): void {
    this.#taken.add(uid);
    if (until !== NEVER) this.#outages.set(uid, until);
  }

  /** How many parts must come back before the node can have one; 0 or less where it has one already, or one is left. */
  shortFor(uid: string): number {
    return this.#taken.size + Number(!this.#taken.has(uid)) - this.capacity;
  }

  /** When time alone has given back so many parts. */
  freedAt(parts: number): number {
    this.#ends ??= [...this.#outages.values()].toSorted((a, b) => a - b);
    return this.#ends[parts - 1] ?? NEVER;
  }

  /** No running update will give anything back. */
  get isHeldByOutages(): boolean {
    return this.#taken.size === this.#outages.size;
  }
}
