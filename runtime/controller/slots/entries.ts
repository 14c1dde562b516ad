import * as z from 'zod';
import type { Lease } from '../../kube/objects.ts';
import { instantOf } from '../../lib/clock.ts';
import { GROUP } from '../../shadow/names.ts';
import type { SlotKey, SlotView } from '../plan/snapshot.ts';

/** On the Lease of the controller: the nodes that may be updating. */
export const SLOTS_ANNOTATION = `${GROUP}/slots`;

const schema = z.array(
  z.object({
    shadow: z.string(),
    nodeUid: z.string(),
    /** How often the slot was taken. It makes each swap change the text, also where a slot is taken again. */
    starts: z.int().min(1).catch(1),
    /** When its update began, RFC 3339. */
    since: z.iso.datetime().optional().catch(undefined),
  }),
);

export type SlotEntry = z.infer<typeof schema>[number];

/** Reads the annotation; undefined for a text that is no list of slots. */
export function parseEntries(text: string | undefined): readonly SlotEntry[] | undefined {
  if (text === undefined) return [];
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The slots on the Lease, for a process that does not lead. It does not know of writes to the shadows, and takes all for settled. */
export function slotsOn(lease: Lease | undefined): readonly SlotView[] {
  const entries = parseEntries(lease?.metadata.annotations?.[SLOTS_ANNOTATION]) ?? [];
  return entries.map(({ shadow, nodeUid, since }) => ({
    shadow,
    nodeUid,
    since: instantOf(since),
    writes: 'settled',
  }));
}

export function formatEntries(entries: readonly SlotEntry[]): string {
  return JSON.stringify(entries);
}

const sameSlot =
  (a: SlotKey) =>
  (b: SlotKey): boolean =>
    a.shadow === b.shadow && a.nodeUid === b.nodeUid;

/** @param now RFC 3339. A slot that is taken again keeps the time at which its update began. */
export function withTaken(entries: readonly SlotEntry[], keys: readonly SlotKey[], now: string): readonly SlotEntry[] {
  const kept = entries.filter((entry) => !keys.some(sameSlot(entry)));
  const taken = keys.map(({ shadow, nodeUid }) => {
    const before = entries.find(sameSlot({ shadow, nodeUid }));
    return { shadow, nodeUid, starts: (before?.starts ?? 0) + 1, since: before ? before.since : now };
  });
  return [...kept, ...taken];
}

export function withoutFreed(entries: readonly SlotEntry[], keys: readonly SlotKey[]): readonly SlotEntry[] {
  return entries.filter((entry) => !keys.some(sameSlot(entry)));
}
