import type { Collection } from '../../kube/collection.ts';
import { isDefinite } from '../../kube/errors.ts';
import type { Lease, ObjectReference } from '../../kube/objects.ts';
import { type Clock, rfc3339 } from '../../lib/clock.ts';
import { type Random, randomId } from '../../lib/random.ts';
import { CONTROLLER_LEASE, GROUP } from '../../api/shadow/names.ts';
import type { PermitKey, PermitView } from '../plan/facts/permit.ts';
import {
  type Amendment,
  type PermitEntry,
  formatEntries,
  parseEntries,
  PERMITS_ANNOTATION,
  type Taking,
  viewOfEntry,
  withAmended,
  withoutFreed,
  withTaken,
} from './entries.ts';

/** Another process holds the Lease, so this one decides nothing any more. */
export class NotLeadingError extends Error {
  override readonly name: string = 'NotLeadingError';
}

/** The permits on the Lease are not those that the plan was made on. */
export class PermitsMovedError extends Error {
  override readonly name = 'PermitsMovedError';
}

/**
 * The list of permits is gone, or is none that this process has written. It ends its term: what it knows of permits is worth nothing, and what it
 * reads is never taken over.
 */
export class PermitsLostError extends NotLeadingError {
  override readonly name: string = 'PermitsLostError';
}

/** The list of permits was overwritten and cannot be read. Nothing starts meanwhile. */
export class UnreadablePermitsError extends Error {
  override readonly name = 'UnreadablePermitsError';
}

interface LedgerOptions {
  readonly leases: Pick<Collection<Lease>, 'get' | 'update'>;
  /** The name under which this process holds the Lease. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The list of permits on the controller's Lease. It is changed only by compare-and-swap. For each permit the ledger also knows whether a write
 * to the shadow may still be under way. For a permit that this process did not take, that is not known.
 */
export class PermitLedger {
  readonly #options: LedgerOptions;
  #entries: readonly PermitEntry[] = [];
  #writes = new Map<string, PermitView['writes']>();
  /** The term has found no list. */
  #isMissing = false;
  /** Lists that this process has sent and that may yet land. */
  #sent: readonly string[] = [];
  #lease: Pick<ObjectReference, 'name' | 'namespace' | 'uid'> = { name: CONTROLLER_LEASE };
  #keeper: Keeper = 'unknown';

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  get permits(): readonly PermitView[] {
    return this.#entries.map((entry) => viewOfEntry(entry, this.#writes.get(entry.nodeUid) ?? 'unknown'));
  }

  /** Why nothing may start: the list has to be made first. */
  get lost(): string | undefined {
    return this.#isMissing ? 'there was no list of permits, and it is being made anew' : undefined;
  }

  /** The Lease itself, for Events about the fleet as a whole. */
  get reference(): ObjectReference {
    return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...this.#lease };
  }

  /** Whether the leader before this term kept no ledgers of releases, e.g. an older controller: they are filled from the shadows then. */
  get seeds(): boolean {
    return this.#keeper === 'other';
  }

  /** Whether the Lease says that this process keeps the ledgers of releases. */
  get isKeeper(): boolean {
    return this.#keeper === 'self';
  }

  /** Says so on the Lease. @throws as `take` */
  async keep(signal: AbortSignal): Promise<void> {
    const lease = await this.#read(signal);
    const { identity } = this.#options;
    const kept = `${identity} ${lease.spec?.leaseTransitions ?? 0}`;
    // The answer to an earlier write may have been lost.
    if (keeperOf(lease, identity) !== 'self') await this.#annotate(lease, { [KEEPER_ANNOTATION]: kept }, signal);
    this.#keeper = 'self';
  }

  /** Forgets what was known: a new term as leader begins. */
  reset(): void {
    this.#keeper = 'unknown';
    this.#entries = [];
    this.#sent = [];
    this.#isMissing = false;
    this.#writes = new Map();
  }

  /** Reads the permits as they stand. @throws NotLeadingError, UnreadablePermitsError */
  async load(signal: AbortSignal): Promise<void> {
    const lease = await this.#read(signal);
    this.#learn(entriesOf(lease));
    this.#isMissing = lease.metadata.annotations?.[PERMITS_ANNOTATION] === undefined;
    this.#keeper = keeperOf(lease, this.#options.identity);
  }

  /** Reads whether the list is still as it was when the plan was made. @throws PermitsMovedError, NotLeadingError, UnreadablePermitsError */
  async confirm(signal: AbortSignal): Promise<void> {
    this.#expectUnmoved(await this.#read(signal));
  }

  /** Makes the list that the term has found missing, with what is under way. @throws as `take` */
  async make(takings: readonly Taking[], signal: AbortSignal): Promise<void> {
    await this.enter(takings, signal);
    this.#isMissing = false;
  }

  /** Puts updates on the list that have begun without a permit. Writes to their shadows may be under way. @throws as `take` */
  async enter(takings: readonly Taking[], signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const newId = (): string => randomId(random);
    await this.#swap((entries) => withTaken(entries, takings, { now: rfc3339(clock.now()), newId }), signal);
  }

  /**
   * Takes permits. The specs of their shadows may be written after this and not before (rule L1).
   * @throws NotLeadingError, UnreadablePermitsError, PermitsMovedError, ConflictError: nothing was taken, so plan again
   * @throws ApiStatusError: the API server refuses the list; after a 4xx of its own nothing was taken
   * @throws UnreachableError: the outcome is unknown until the next swap
   */
  async take(takings: readonly Taking[], signal: AbortSignal): Promise<void> {
    await this.enter(takings, signal);
    for (const { nodeUid } of takings) this.#writes.set(nodeUid, 'settled');
  }

  /** Gives permits back; the last step of rule L3. @throws as `take` */
  async free(keys: readonly PermitKey[], signal: AbortSignal): Promise<void> {
    await this.#swap((entries) => withoutFreed(entries, keys), signal);
    for (const { nodeUid } of keys) this.#writes.delete(nodeUid);
  }

  /** Adds to permits what is learned of their attempts. Where one is no longer on the list, nothing is added. @throws as `take` */
  async amend(amendments: readonly Amendment[], signal: AbortSignal): Promise<void> {
    await this.#swap((entries) => withAmended(entries, amendments), signal);
  }

  /** Records what is known of writes to the shadow of a permit. */
  note(nodeUid: string, writes: PermitView['writes']): void {
    this.#writes.set(nodeUid, writes);
  }

  /** Records that a write to the shadow had an unknown outcome. */
  doubt(shadow: string): void {
    for (const entry of this.#entries) {
      if (entry.shadow === shadow) this.#writes.set(entry.nodeUid, 'unknown');
    }
  }

  async #swap(change: (entries: readonly PermitEntry[]) => readonly PermitEntry[], signal: AbortSignal): Promise<void> {
    const lease = await this.#read(signal);
    const text = formatEntries(change(this.#expectUnmoved(lease)));
    this.#sent = [...this.#sent, text];
    try {
      this.#entries = entriesOf(await this.#annotate(lease, { [PERMITS_ANNOTATION]: text }, signal));
      this.#sent = [];
    } catch (error) {
      if (isDefinite(error)) this.#sent = this.#sent.filter((one) => one !== text);
      throw error;
    }
  }

  /** On the Lease as it was read: where it has changed since, nothing is written. */
  #annotate(lease: Lease, said: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Lease> {
    const annotations = { ...lease.metadata.annotations, ...said };
    return this.#options.leases.update({ ...lease, metadata: { ...lease.metadata, annotations } }, signal);
  }

  /** @returns the list as it is */
  #expectUnmoved(lease: Lease): readonly PermitEntry[] {
    const found = entriesOf(lease);
    const text = formatEntries(found);
    const isThere = lease.metadata.annotations?.[PERMITS_ANNOTATION] !== undefined;
    const isSent = this.#sent.includes(text);
    if (isThere === this.#isMissing && !isSent)
      throw new PermitsLostError('the list of permits is gone, or another has made one');
    if (text === formatEntries(this.#entries)) return found;
    if (!isSent) throw new PermitsLostError('the list of permits is none that this process has written');
    this.#isMissing = false;
    this.#learn(found);
    throw new PermitsMovedError('the permits on the Lease have changed since the plan was made');
  }

  /** Forgets the state of writes for permits that somebody else has taken, or has taken again. */
  #learn(entries: readonly PermitEntry[]): void {
    const known = new Set(this.#entries.map((entry) => JSON.stringify(entry)));
    for (const entry of entries) {
      if (!known.has(JSON.stringify(entry))) this.#writes.delete(entry.nodeUid);
    }
    this.#entries = entries;
  }

  async #read(signal: AbortSignal): Promise<Lease> {
    const lease = await this.#options.leases.get(CONTROLLER_LEASE, signal);
    if (lease?.spec?.holderIdentity !== this.#options.identity)
      throw new NotLeadingError('another process holds the Lease');
    const { name, namespace, uid } = lease.metadata;
    this.#lease = { name, uid, ...(namespace !== undefined && { namespace }) };
    return lease;
  }
}

/** Identity of the leader that keeps the ledgers of releases, and its term (leaseTransitions). An older leader changes the term alone. */
export const KEEPER_ANNOTATION = `${GROUP}/ledger-keeper`;

/** Who kept the ledgers last: this process in this term, the leader of the term before, or neither. */
type Keeper = 'unknown' | 'self' | 'predecessor' | 'other';

function keeperOf({ metadata, spec }: Lease, identity: string): Keeper {
  const [keeper, term] = metadata.annotations?.[KEEPER_ANNOTATION]?.split(' ') ?? [];
  const ago = (spec?.leaseTransitions ?? 0) - Number(term);
  if (ago === 0 && keeper === identity) return 'self';
  return ago === 1 ? 'predecessor' : 'other';
}

function entriesOf({ metadata: { name, annotations } }: Lease): readonly PermitEntry[] {
  const entries = parseEntries(annotations?.[PERMITS_ANNOTATION]);
  if (entries) return entries;
  throw new UnreadablePermitsError(
    `the annotation ${PERMITS_ANNOTATION} of the Lease ${name} is no list of permits: remove it once no node is being updated`,
  );
}
