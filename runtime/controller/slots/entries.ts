import * as z from 'zod';
import type { Lease } from '../../kube/objects.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { BAD_ENDS } from '../../release/model.ts';
import { GROUP } from '../../shadow/names.ts';
import type { NoteEnd, NoteReboot } from '../plan/commands.ts';
import type { PermitTerms, SlotKey, SlotView } from '../plan/permit.ts';

/** On the Lease of the controller: the nodes that may be updating. */
export const SLOTS_ANNOTATION = `${GROUP}/slots`;

/** What cannot be read is left out, as an older controller leaves out what it does not know. */
const lenient = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);

const schema = z.array(
  z.object({
    shadow: z.string(),
    nodeUid: z.string(),
    /** How often the slot was taken. An older controller that takes it again changes the text by this alone. */
    starts: z.int().min(1).catch(1),
    /** When its update began, RFC 3339. */
    since: lenient(z.iso.datetime()),
    id: lenient(z.string()),
    family: lenient(z.string()),
    version: lenient(z.string()),
    policy: lenient(z.object({ name: z.string(), uid: z.string() })),
    zone: lenient(z.string()),
    rebootAskedAt: lenient(z.iso.datetime()),
    ended: lenient(z.enum(BAD_ENDS)),
  }),
);

export type SlotEntry = z.infer<typeof schema>[number];

/** A node that is to get a slot, and what for. */
export type Taking = SlotKey & PermitTerms;

/** Reads the annotation; undefined for a text that is no list of slots. */
export function parseEntries(text: string | undefined): readonly SlotEntry[] | undefined {
  if (text === undefined) return [];
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** @param writes what is known of writes to its shadow */
export function viewOfEntry(entry: SlotEntry, writes: SlotView['writes']): SlotView {
  const { shadow, nodeUid, family, version, policy, zone, since, ended } = entry;
  return {
    shadow,
    nodeUid,
    id: entry.id ?? `${nodeUid} ${since ?? ''}`,
    family,
    version,
    policy,
    zone,
    since: instantOf(since),
    rebootAskedAt: instantOf(entry.rebootAskedAt),
    ended,
    writes,
  };
}

/** The slots on the Lease, for a process that does not lead. It does not know of writes to the shadows, and takes all for settled. */
export function slotsOn(lease: Lease | undefined): readonly SlotView[] {
  const entries = parseEntries(lease?.metadata.annotations?.[SLOTS_ANNOTATION]) ?? [];
  return entries.map((entry) => viewOfEntry(entry, 'settled'));
}

/** The same text for the same slots, in whatever order their fields were filled. */
export function formatEntries(entries: readonly SlotEntry[]): string {
  return JSON.stringify(schema.parse(entries));
}

const sameSlot =
  (a: SlotKey) =>
  (b: SlotKey): boolean =>
    a.shadow === b.shadow && a.nodeUid === b.nodeUid;

interface Taken {
  /** RFC 3339. */
  readonly now: string;
  readonly newId: () => string;
}

/** A slot that is taken again is another attempt, and keeps the time at which its update began. */
export function withTaken(
  entries: readonly SlotEntry[],
  takings: readonly Taking[],
  { now, newId }: Taken,
): readonly SlotEntry[] {
  const kept = entries.filter((entry) => !takings.some(sameSlot(entry)));
  const taken = takings.map(({ shadow, nodeUid, family, version, policy, zone }) => {
    const before = entries.find(sameSlot({ shadow, nodeUid }));
    const since = before ? before.since : now;
    return { shadow, nodeUid, starts: (before?.starts ?? 0) + 1, since, id: newId(), family, version, policy, zone };
  });
  return [...kept, ...taken];
}

/** What is learned of an attempt while it lasts, or how it ended. */
export type Amendment = SlotKey & Pick<SlotEntry, 'rebootAskedAt' | 'ended'>;

export function amendmentOf(note: NoteReboot | NoteEnd): Amendment {
  const { shadow, nodeUid } = note;
  if (note.kind === 'note-end') return { shadow, nodeUid, ended: note.ended };
  const { rebootAskedAt: at } = note;
  return { shadow, nodeUid, rebootAskedAt: at === undefined ? undefined : rfc3339(at) };
}

/** Fields that an amendment does not name stay as they are. */
export function withAmended(entries: readonly SlotEntry[], amendments: readonly Amendment[]): readonly SlotEntry[] {
  return entries.map((entry) => ({ ...entry, ...amendments.find(sameSlot(entry)) }));
}

export function withoutFreed(entries: readonly SlotEntry[], keys: readonly SlotKey[]): readonly SlotEntry[] {
  return entries.filter((entry) => !keys.some(sameSlot(entry)));
}
