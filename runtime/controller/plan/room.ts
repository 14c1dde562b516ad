import type { SlotKey, Snapshot } from './snapshot.ts';

/** What an entry has besides its two names, at most: nobody takes one slot a million times. */
const FRAME = '{"shadow":"","nodeUid":"","starts":999999,"since":"2026-01-01T00:00:00Z"},'.length;

/** Bytes that a slot takes on the list, at most. */
export const slotBytes = ({ shadow, nodeUid }: SlotKey): number => FRAME + shadow.length + nodeUid.length;

/** What room is left on the list of slots (rule L7). */
export class Room {
  readonly #listed: Set<string>;
  #left: number;

  constructor({ slots, slotCapacity }: Pick<Snapshot, 'slots' | 'slotCapacity'>) {
    this.#listed = new Set(slots.map(({ nodeUid }) => nodeUid));
    this.#left = slots.reduce((left, slot) => left - slotBytes(slot), slotCapacity);
  }

  /** Whether the slot can be taken, or taken once more. */
  fits(slot: SlotKey): boolean {
    return this.#listed.has(slot.nodeUid) || slotBytes(slot) <= this.#left;
  }

  take(slot: SlotKey): void {
    if (this.#listed.has(slot.nodeUid)) return;
    this.#listed.add(slot.nodeUid);
    this.#left -= slotBytes(slot);
  }
}
