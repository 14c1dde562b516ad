import { concurrency } from './amount.ts';
import type { Policy } from './policy.ts';
import { isOccupied } from './recovery.ts';
import type { Assessed } from './releases.ts';
import type { Snapshot } from './snapshot.ts';
import { isActive, type Subject } from './subject.ts';
import { type Finding, NOT_READY_FIRST, WAITING } from './verdict.ts';

/** Who takes a place. */
export interface Holder {
  /** Its name; its UID, where no node is known. */
  readonly node: string;
  readonly because: 'Update' | 'Marks' | 'NodeNotReady' | 'AgentSilent' | 'NodeGone';
  /** When its place comes back by itself, milliseconds since the Unix epoch. */
  readonly until?: number;
}

/** The places that the concurrency gives, and who takes them (rule L6). */
export class Places {
  readonly #capacity: number;
  readonly #taken: Set<string>;
  /** When places come back by themselves, the first of them first. */
  readonly #returns: readonly number[];
  readonly #fleet: readonly Assessed[];
  readonly #outages = new Map<string, number>();
  /** How many have to come back before anybody who was refused one gets it. */
  #short = Infinity;

  /** @param fleet every node of the cluster: marks can be on any */
  constructor(fleet: readonly Assessed[], snapshot: Snapshot, { maxConcurrent }: Policy) {
    const { slots, shadows } = snapshot;
    const managed = fleet.filter(({ subject }) => subject.node.managed).length;
    this.#capacity = concurrency(maxConcurrent, managed);
    this.#taken = new Set(slots.map(({ nodeUid }) => nodeUid));
    // A shadow whose node is not known counts as its owner; nobody acts on one without an owner.
    const strays = new Set(shadows.filter(isActive).flatMap(({ owners }) => owners));
    const outages = this.#outages;
    this.#fleet = fleet;
    for (const { subject, health } of fleet) {
      const { uid } = subject.node;
      strays.delete(uid);
      if (isOccupied(subject)) this.#taken.add(uid);
      else if (health.outageUntil !== undefined && !this.#taken.has(uid)) outages.set(uid, health.outageUntil);
    }
    for (const uid of [...strays, ...outages.keys()]) this.#taken.add(uid);
    this.#returns = [...outages.values()].toSorted((a, b) => a - b);
  }

  /** Gives the node a place, where it has none yet; what keeps it from one, where something does. */
  take(nodeUid: string): Finding | undefined {
    const short = this.#taken.size + Number(!this.#taken.has(nodeUid)) - this.#capacity;
    if (short > 0) {
      this.#short = Math.min(this.#short, short);
      return this.#taken.size > this.#outages.size ? WAITING : NOT_READY_FIRST;
    }
    this.#taken.add(nodeUid);
    return undefined;
  }

  /** How many places there are. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Who takes a place by now, those that are about to start included: nodes by name, then what belongs to none. */
  get holders(): readonly Holder[] {
    const unknown = new Set(this.#taken);
    const holders: Holder[] = [];
    for (const { subject } of this.#fleet) {
      if (unknown.size === 0) break;
      if (unknown.delete(subject.node.uid)) holders.push(holderOf(subject, this.#outages.get(subject.node.uid)));
    }
    return [...holders, ...[...unknown].toSorted().map((node) => ({ node, because: 'NodeGone' }) as const)];
  }

  /** When time alone gives a place to somebody who was refused one; undefined = never. */
  get nextAt(): number | undefined {
    return this.#returns[this.#short - 1];
  }
}

function holderOf({ node, shadow, slot }: Subject, until: number | undefined): Holder {
  if (until !== undefined) return { node: node.name, because: node.ready ? 'AgentSilent' : 'NodeNotReady', until };
  const isMarked = node.marks !== undefined && !slot && !(shadow && isActive(shadow));
  return { node: node.name, because: isMarked ? 'Marks' : 'Update' };
}
