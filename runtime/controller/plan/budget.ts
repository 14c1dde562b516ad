import { type AssessedNode, isLeftOver } from './health.ts';
import { concurrency } from '../../policy/quantity.ts';
import type { Settings } from './settings.ts';
import { NEVER } from './requeue.ts';
import { isActive, type NodeInfo, type Snapshot } from './snapshot.ts';
import { type Finding, NOT_READY_FIRST, WAITING } from './verdict.ts';

/** Who takes a part of the budget. */
export interface Holder {
  /** Its name; its UID, where no node is known. */
  readonly node: string;
  readonly because: 'Update' | 'Marks' | 'NodeNotReady' | 'AgentSilent' | 'NodeGone';
  /** When its part comes back by itself, milliseconds since the Unix epoch. */
  readonly until?: number;
}

/** How many nodes may be updating at once, and who takes that up (rules L6 and L7). */
export class Budget {
  readonly capacity: number;
  readonly #fleet: readonly AssessedNode[];
  /** UIDs of nodes. */
  readonly #taken: Set<string>;
  /** Until when nodes take a part that are not being updated, by UID. */
  readonly #outages = new Map<string, number>();
  /** How many places must come back before a node that was refused a slot gets one, for the node that needs the fewest. */
  #short = Infinity;

  /** @param fleet every node of the cluster: marks can be on any */
  constructor(fleet: readonly AssessedNode[], { slots, shadows }: Snapshot, { maxConcurrent }: Settings) {
    this.#fleet = fleet;
    this.#taken = new Set(slots.map(({ nodeUid }) => nodeUid));
    // A shadow whose node is not known counts by the UID of its owner. Nobody acts on a shadow without an owner.
    const strays = new Set(shadows.filter(isActive).flatMap(({ owners }) => owners));
    let managed = 0;
    for (const info of fleet) {
      const { uid } = info.node;
      const { outageUntil } = info.health;
      if (info.node.managed) managed += 1;
      if (strays.size > 0) strays.delete(uid);
      if (isOccupied(info)) this.#taken.add(uid);
      else if (outageUntil !== undefined && !this.#taken.has(uid)) this.#outages.set(uid, outageUntil);
    }
    for (const uid of [...strays, ...this.#outages.keys()]) this.#taken.add(uid);
    this.capacity = concurrency(maxConcurrent, managed);
  }

  /** Gives the node a slot, where it has none yet. @returns what keeps it from a slot, where something does */
  take(uid: string): Finding | undefined {
    const short = this.#taken.size + Number(!this.#taken.has(uid)) - this.capacity;
    if (short > 0) {
      this.#short = Math.min(this.#short, short);
      return this.#taken.size > this.#outages.size ? WAITING : NOT_READY_FIRST;
    }
    this.#taken.add(uid);
    return undefined;
  }

  /** Who takes up the budget now, including those that are about to start: nodes by name, then what belongs to no known node. */
  get holders(): readonly Holder[] {
    const unknown = new Set(this.#taken);
    const holders: Holder[] = [];
    for (const info of this.#fleet) {
      if (unknown.size === 0) break;
      if (unknown.delete(info.node.uid)) holders.push(holderOf(info, this.#outages.get(info.node.uid)));
    }
    return [...holders, ...[...unknown].toSorted().map((node) => ({ node, because: 'NodeGone' }) as const)];
  }

  /** When time alone gives a slot to somebody who was refused one. */
  get changesAt(): number {
    const ends = [...this.#outages.values()].toSorted((a, b) => a - b);
    return ends[this.#short - 1] ?? NEVER;
  }
}

/** Whether an update takes up this node, whether or not it has a slot. */
function isOccupied(info: NodeInfo): boolean {
  const { node, shadow } = info;
  if (node.marks) return true;
  return shadow !== undefined && isActive(shadow) && !isLeftOver(info);
}

function holderOf({ node, shadow, slot }: NodeInfo, until: number | undefined): Holder {
  if (until !== undefined) return { node: node.name, because: node.ready ? 'AgentSilent' : 'NodeNotReady', until };
  const isMarked = node.marks !== undefined && !slot && !(shadow && isActive(shadow));
  return { node: node.name, because: isMarked ? 'Marks' : 'Update' };
}
