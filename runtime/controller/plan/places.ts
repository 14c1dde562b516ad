import { concurrency } from './amount.ts';
import type { Policy } from './policy.ts';
import { isOccupied } from './recovery.ts';
import type { Assessed } from './releases.ts';
import type { Snapshot } from './snapshot.ts';
import { isActive } from './subject.ts';

/** The places that the concurrency gives, and who takes them (rule L6). */
export class Places {
  readonly #capacity: number;
  readonly #taken: Set<string>;
  /** When places come back by themselves, the first of them first. */
  readonly #returns: readonly number[];
  /** How many have to come back before anybody who was refused one gets it. */
  #short = Infinity;

  /** @param fleet every node of the cluster: marks can be on any */
  constructor(fleet: readonly Assessed[], { slots, shadows }: Snapshot, { maxConcurrent }: Policy) {
    const managed = fleet.filter(({ subject }) => subject.node.managed).length;
    this.#capacity = concurrency(maxConcurrent, managed);
    this.#taken = new Set(slots.map(({ nodeUid }) => nodeUid));
    // A shadow whose node is not known counts as its owner.
    const strays = new Set(shadows.filter(isActive).flatMap(({ ownerUid }) => ownerUid ?? []));
    const outages = new Map<string, number>();
    for (const { subject, health } of fleet) {
      const { uid } = subject.node;
      strays.delete(uid);
      if (isOccupied(subject, health)) this.#taken.add(uid);
      else if (health.outageUntil !== undefined && !this.#taken.has(uid)) outages.set(uid, health.outageUntil);
    }
    for (const uid of [...strays, ...outages.keys()]) this.#taken.add(uid);
    this.#returns = [...outages.values()].toSorted((a, b) => a - b);
  }

  /** Whether the node has a place now, or got one. */
  take(uid: string): boolean {
    const short = this.#taken.size + Number(!this.#taken.has(uid)) - this.#capacity;
    if (short <= 0) this.#taken.add(uid);
    else this.#short = Math.min(this.#short, short);
    return short <= 0;
  }

  /** When time alone gives a place to somebody who was refused one; undefined = never. */
  get nextAt(): number | undefined {
    return this.#returns[this.#short - 1];
  }
}
