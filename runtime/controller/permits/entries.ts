import * as z from 'zod';
import type { Lease } from '../../kube/objects.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { BAD_ENDS } from '../../api/release/model.ts';
import { GROUP } from '../../api/shadow/names.ts';
import type { NoteEnd, NoteReboot } from '../plan/facts/commands.ts';
import type { PermitTerms, PermitKey, PermitView } from '../plan/facts/permit.ts';

/** On the Lease of the controller: the nodes that may be updating. */
export const PERMITS_ANNOTATION = `${GROUP}/slots`;

/** What cannot be read is left out, as an older controller leaves out what it does not know. */
const lenient = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);

const schema = z.array(
  z.object({
    shadow: z.string(),
    nodeUid: z.string(),
    /** How often the permit was taken. An older controller that takes it again changes the text by this alone. */
    starts: z.int().min(1).catch(1),
    /** When its update began, RFC 3339. */
    since: lenient(z.iso.datetime()),
    id: lenient(z.string()),
    family: lenient(z.string()),
    version: lenient(z.string()),
    policy: lenient(z.object({ name: z.string(), uid: z.string() })),
    zone: lenient(z.string()),
    arriving: lenient(z.literal(true)),
    rebootAskedAt: lenient(z.iso.datetime()),
    ended: lenient(z.enum(BAD_ENDS)),
  }),
);

export type PermitEntry = z.infer<typeof schema>[number];

/** A node that is to get a permit, and what for. */
export type Taking = PermitKey & PermitTerms;

/** Reads the annotation; undefined for a text that is no list of permits. */
export function parseEntries(text: string | undefined): readonly PermitEntry[] | undefined {
  if (text === undefined) return [];
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** @param writes what is known of writes to its shadow */
export function viewOfEntry(entry: PermitEntry, writes: PermitView['writes']): PermitView {
  const { shadow, nodeUid, family, version, policy, zone, arriving, since, ended } = entry;
  return {
    shadow,
    nodeUid,
    id: entry.id ?? `${nodeUid} ${since ?? ''}`,
    family,
    version,
    policy,
    zone,
    ...(arriving && { arriving }),
    since: instantOf(since),
    rebootAskedAt: instantOf(entry.rebootAskedAt),
    ended,
    writes,
  };
}

/** The permits on the Lease, for a process that does not lead. It does not know of writes to the shadows, and takes all for settled. */
export function permitsOn(lease: Lease | undefined): readonly PermitView[] {
  const entries = parseEntries(lease?.metadata.annotations?.[PERMITS_ANNOTATION]) ?? [];
  return entries.map((entry) => viewOfEntry(entry, 'settled'));
}

/** The same text for the same permits, in whatever order their fields were filled. */
export function formatEntries(entries: readonly PermitEntry[]): string {
  return JSON.stringify(schema.parse(entries));
}

const samePermit =
  (a: PermitKey) =>
  (b: PermitKey): boolean =>
    a.shadow === b.shadow && a.nodeUid === b.nodeUid;

interface Taken {
  /** RFC 3339. */
  readonly now: string;
  readonly newId: () => string;
}

/** A permit that is taken again is another attempt, and keeps the time at which its update began. */
export function withTaken(
  entries: readonly PermitEntry[],
  takings: readonly Taking[],
  { now, newId }: Taken,
): readonly PermitEntry[] {
  const kept = entries.filter((entry) => !takings.some(samePermit(entry)));
  const taken = takings.map(({ shadow, nodeUid, family, version, policy, zone, arriving }) => {
    const before = entries.find(samePermit({ shadow, nodeUid }));
    const since = before ? before.since : now;
    const terms = { family, version, policy, zone, arriving };
    return { shadow, nodeUid, starts: (before?.starts ?? 0) + 1, since, id: newId(), ...terms };
  });
  return [...kept, ...taken];
}

/** What is learned of an attempt while it lasts, or how it ended. */
export type Amendment = PermitKey & Pick<PermitEntry, 'rebootAskedAt' | 'ended'>;

export function amendmentOf(note: NoteReboot | NoteEnd): Amendment {
  const { shadow, nodeUid } = note;
  if (note.kind === 'note-end') return { shadow, nodeUid, ended: note.ended };
  const { rebootAskedAt: at } = note;
  return { shadow, nodeUid, rebootAskedAt: at === undefined ? undefined : rfc3339(at) };
}

/** Fields that an amendment does not name stay as they are. */
export function withAmended(entries: readonly PermitEntry[], amendments: readonly Amendment[]): readonly PermitEntry[] {
  return entries.map((entry) => ({ ...entry, ...amendments.find(samePermit(entry)) }));
}

export function withoutFreed(entries: readonly PermitEntry[], keys: readonly PermitKey[]): readonly PermitEntry[] {
  return entries.filter((entry) => !keys.some(samePermit(entry)));
}
