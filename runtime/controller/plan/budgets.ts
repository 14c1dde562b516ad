import { concurrency } from '../../policy/quantity.ts';
import { Budget } from './budget.ts';
import type { Group, Groups } from './groups.ts';
import { type AssessedNode, type Fleet, isLeftOver } from './health.ts';
import { NEVER, type Refusal } from './requeue.ts';
import { bytesOf, LIST_BYTES, type PermitTerms, type SlotKey } from './permit.ts';
import { isUnderWay, PHASES } from './phase.ts';
import { compare, type NodeInfo, type Settings, type Snapshot } from './snapshot.ts';
import { found, NOT_READY_FIRST, WAITING } from './verdict.ts';

/** Who takes a part of the budget. */
export interface Holder {
  /** Its name; its UID, where no node is known. */
  readonly node: string;
  readonly because: 'Update' | 'Marks' | 'NodeNotReady' | 'AgentSilent' | 'NodeGone';
  /** When its part comes back by itself, milliseconds since the Unix epoch. */
  readonly until?: number;
}

/** The budget of each policy, and that of all together: a start takes a part of both (rules L6 and L7). */
export class Budgets {
  /** Known nodes that take a part. */
  readonly #held: AssessedNode[] = [];
  readonly #groups: Groups;
  readonly #all: Budget;
  /** UIDs of nodes that are not known, and take a part. */
  readonly #strays: ReadonlySet<string>;
  /** Of the Lease's list. */
  #bytes = 0;

  constructor(
    { all, managed, unsettled }: Fleet,
    { slots, shadows }: Pick<Snapshot, 'slots' | 'shadows'>,
    { groups, settings }: { readonly groups: Groups; readonly settings: Settings },
  ) {
    this.#groups = groups;
    this.#all = new Budget(concurrency(settings.maxConcurrent, managed.length));
    // A shadow whose node is not known counts by the UID of its owner. A shadow without an owner does not count: nothing acts on it.
    const strays = new Set(shadows.filter(isUnderWay).flatMap(({ owners }) => owners));
    for (const slot of slots) {
      strays.add(slot.nodeUid);
      this.#bytes += bytesOf(slot);
    }
    for (const info of unsettled) {
      strays.delete(info.node.uid);
      if (info.slot || isOccupied(info)) this.#hold(info, NEVER);
      else if (info.health.outageUntil !== undefined) this.#hold(info, info.health.outageUntil);
    }
    // A settled node has no active shadow, but may be named as the owner of another's.
    if (strays.size > 0) for (const { node } of all) strays.delete(node.uid);
    for (const uid of strays) this.#all.hold(uid, NEVER);
    this.#strays = strays;
  }

  get capacity(): number {
    return this.#all.capacity;
  }

  /** Gives the node a part of both budgets, and room on the Lease, where there is some. @returns whether it has them */
  take(info: AssessedNode, { budget }: Group, entry: SlotKey & PermitTerms): boolean {
    const { uid } = info.node;
    if (budget.shortFor(uid) > 0 || this.#all.shortFor(uid) > 0) return false;
    const bytes = bytesOf(entry) - (info.slot ? bytesOf(info.slot) : 0);
    if (this.#bytes + bytes > LIST_BYTES) return false;
    this.#bytes += bytes;
    if (!this.#all.taken.has(uid)) this.#hold(info, NEVER);
    return true;
  }

  /** Of a node that waits for a place: only the budget over all, or the room on the Lease, keeps it from starting. */
  isCapped({ node: { uid } }: NodeInfo, { budget }: Group): boolean {
    return budget.shortFor(uid) <= 0;
  }

  /** Why the node got no part, and when time alone changes that. */
  refusal({ node: { uid } }: NodeInfo, { budget, rules }: Group): Refusal {
    const short = [budget, this.#all].filter((one) => one.shortFor(uid) > 0);
    if (short.length === 0) return { finding: NO_ROOM, changesAt: NEVER };
    if (rules.name === undefined) {
      const finding = short.every((one) => one.isHeldByOutages) ? NOT_READY_FIRST : WAITING;
      return { finding, changesAt: Math.max(...short.map((one) => one.freedAt(one.shortFor(uid)))) };
    }
    const [binding = this.#all] = short;
    const taken = binding === budget ? WAITING_IN_POLICY : CAPPED;
    return {
      finding: binding.isHeldByOutages ? NOT_READY_FIRST : taken,
      changesAt: binding.freedAt(binding.shortFor(uid)),
    };
  }

  /** Who takes up the budget over all now, including those that are about to start: nodes by name, then what belongs to no known node. */
  get holders(): readonly Holder[] {
    const held = this.#held.toSorted((a, b) => compare(a.node.name, b.node.name));
    const known = held.map((info) => holderOf(info, this.#all.outageUntil(info.node.uid)));
    return [...known, ...[...this.#strays].toSorted().map((node) => ({ node, because: 'NodeGone' }) as const)];
  }

  #hold(info: AssessedNode, until: number): void {
    this.#all.hold(info.node.uid, until);
    this.#held.push(info);
    for (const { budget, zones } of this.#groups.claiming(info)) {
      budget.hold(info.node.uid, until);
      zones.occupy(info.node, until);
    }
  }
}

const WAITING_IN_POLICY = found('WaitingForSlot', 'other nodes of the policy are being updated');
const CAPPED = found('WaitingForSlot', 'nodes of all policies together are being updated up to MAX_CONCURRENT_UPDATE');
const NO_ROOM = found('WaitingForSlot', 'the list of the nodes that are being updated is full');

/** Whether an update occupies the node, with or without a slot. */
function isOccupied(info: NodeInfo): boolean {
  return info.node.marks !== undefined || (PHASES[info.phase.kind].isUnderWay && !isLeftOver(info));
}

function holderOf({ node, slot, phase }: NodeInfo, until: number | undefined): Holder {
  if (until !== undefined) return { node: node.name, because: node.ready ? 'AgentSilent' : 'NodeNotReady', until };
  const isMarked = node.marks !== undefined && !slot && !PHASES[phase.kind].isUnderWay;
  return { node: node.name, because: isMarked ? 'Marks' : 'Update' };
}
