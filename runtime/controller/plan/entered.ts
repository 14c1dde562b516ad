import { rfc3339 } from '../../lib/clock.ts';
import { EMPTY, enter, isFullFor, type Ledger, remove, strictest } from '../../release/ledger.ts';
import type { Decision, Failure } from '../../release/model.ts';
import { ANY_FAMILY, releaseObjectName } from '../../release/names.ts';
import { nodeNameOf } from '../../shadow/names.ts';
import type { Free, NoteEnd } from './commands.ts';
import { badEndOf, type End, failureOf, mayBeAsked, recoveredAt } from './ends.ts';
import type { AssessedNode, Fleet } from './health.ts';
import type { SlotKey, SlotView } from './permit.ts';
import type { OsReleaseName } from './releases.ts';
import { NEVER } from './requeue.ts';
import type { Rulings } from './rulings.ts';
import { seedsOf } from './seeds.ts';
import type { LastOfShadow, NodeView, ReleaseView, Settings, ShadowView, Snapshot, WriteRefusal } from './snapshot.ts';
import { type Finding, found } from './verdict.ts';

/** What is decided on. */
interface Known {
  readonly snapshot: Pick<Snapshot, 'releases' | 'slots' | 'shadows' | 'deletedShadows'>;
  readonly rulings: Pick<Rulings, 'all'>;
  readonly fleet: Pick<Fleet, 'all' | 'managed' | 'unsettled'>;
  readonly settings: Pick<Settings, 'soakTimeoutMs'>;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export const keyOf = ({ family, version }: OsReleaseName): string => `${family} ${version}`;

/** The ledgers of a snapshot. */
export class Ledgers {
  readonly #own = new Map<string, ReleaseView>();
  readonly #decisions = new Map<string, Decision[]>();
  readonly #refused: ReadonlyMap<string, string>;

  constructor({ objects, refused }: Snapshot['releases']) {
    this.#refused = refused;
    for (const view of objects) {
      const key = keyOf(view);
      if (view.name === releaseObjectName(view)) this.#own.set(key, view);
      this.#decisions.set(key, [...(this.#decisions.get(key) ?? []), view.decision]);
    }
  }

  get own(): Iterable<ReleaseView> {
    return this.#own.values();
  }

  /** That the controller keeps; undefined where there is none yet. */
  of(release: OsReleaseName): ReleaseView | undefined {
    return this.#own.get(keyOf(release));
  }

  /** What people have decided. */
  decisionOn({ family, version }: OsReleaseName): Decision {
    const said = [family, ANY_FAMILY].flatMap((one) => this.#decisions.get(keyOf({ family: one, version })) ?? []);
    return strictest(said);
  }

  /** Whether some are being made: what is said of their nodes meanwhile is over within a moment, and not worth a write each. */
  awaits(writes: readonly { readonly name: string; readonly seen: ReleaseView | undefined }[]): boolean {
    return writes.some(({ name, seen }) => !seen && !this.#refused.has(name));
  }

  /** Why it cannot be written, as a sentence. */
  refusalOf(release: OsReleaseName): string | undefined {
    const refused = this.#refused.size === 0 ? undefined : this.#refused.get(releaseObjectName(release));
    return refused === undefined ? undefined : `${release.version}: ${refused}`;
  }

  /** Why nothing starts on it: what becomes of it could not be remembered. */
  unkept(release: OsReleaseName): Finding | undefined {
    const refused = this.refusalOf(release);
    if (refused !== undefined) return found('WriteRefused', refused);
    return this.of(release) ? undefined : found('WaitingForSlot', `the ledger of ${release.version} is being made`);
  }
}

/** The ledgers with what this plan sees of ends of attempts: bad ones are entered, and entries of nodes that have recovered are removed (rule F3). */
export class EnteredLedgers {
  readonly #ledgers: Ledgers;
  readonly #known: Known;
  readonly #all = new Map<string, OsReleaseName & { ledger: Ledger }>();
  /** By UID. Made where a ledger has entries. */
  #nodes: ReadonlyMap<string, AssessedNode> | undefined;
  /** When time alone removes an entry. */
  changesAt = NEVER;

  constructor(ledgers: Ledgers, known: Known) {
    this.#ledgers = ledgers;
    this.#known = known;
    for (const { family, version, ledger } of ledgers.own)
      this.#all.set(keyOf({ family, version }), { family, version, ledger });
    if (known.snapshot.releases.seeds) this.#seed();
    for (const one of this.#all.values()) one.ledger = this.#withoutRecovered(one, one.ledger);
    for (const info of known.fleet.all) this.#enter(info);
    this.#enterGone();
  }

  get all(): Iterable<OsReleaseName> {
    return this.#all.values();
  }

  of(release: OsReleaseName): Ledger {
    return this.#all.get(keyOf(release))?.ledger ?? EMPTY;
  }

  decisionOn(release: OsReleaseName): Decision {
    return this.#ledgers.decisionOn(release);
  }

  /** The policy that rules the node now, or that ruled it when it was there. */
  rulerOf(uid: string, { policy }: Failure): string {
    const info = this.#nodeOf(uid);
    return info ? (info.ruling.policy?.name ?? '') : policy;
  }

  /**
   * Whether the update of the node may come to rest: a bad end is entered by then, and after a good one nothing is left in the ledger (rule F3).
   * What the API server has counts, so that no later leader misses it.
   */
  mayRest(info: AssessedNode): boolean {
    const { node, shadow, slot, phase, health } = info;
    if (health.soak === 'passed') return !this.#hasEntry(node, shadow?.spec.version ?? '');
    if (phase.kind === 'resting' || health.soak === 'failed') return true;
    const end = badEndOf(info);
    return !end || slot?.ended !== undefined || this.#isKnown(node, end);
  }

  /** What keeps the end of its attempt on the Lease, where the ledger refuses it: then the node need not wait for that, and its slot alone does. */
  noteOf(info: AssessedNode): NoteEnd | undefined {
    const { node, slot, phase, health } = info;
    const end = badEndOf(info);
    if (!end || slot?.version !== end.version || slot.ended || this.#isKnown(node, end)) return undefined;
    const isToRest = phase.kind === 'failed' || health.agentSilent;
    if (!isToRest || this.#ledgers.refusalOf({ family: node.family, version: end.version }) === undefined)
      return undefined;
    return { kind: 'note-end', shadow: slot.shadow, nodeUid: slot.nodeUid, ended: end.reason };
  }

  /** Why the slot of its update, which is over, stays; undefined where it does not wait for a ledger. */
  unwritten({ node: { family }, slot }: AssessedNode): Pick<WriteRefusal, 'message'> | undefined {
    if (!slot?.ended || slot.version === undefined) return undefined;
    const { version } = slot;
    return {
      message: this.#ledgers.refusalOf({ family, version }) ?? `${version}: how its update ended is being entered`,
    };
  }

  /** The command, if the slot may be given back: nothing of the attempt is still to be entered. @param holder undefined where the node is gone */
  freed(free: Free, slot: SlotView, holder: AssessedNode | undefined): readonly Free[] {
    const { family, version, nodeUid: uid, id: attempt, ended } = slot;
    if (family === undefined || version === undefined) return [free];
    const isKnown = this.#isKnown({ uid, family }, { version, attempt });
    if (isKnown) return [free];
    if (ended) return [];
    if (!holder) return this.#freedUnasked(free, slot);
    return holder.phase.kind === 'resting' || this.mayRest(holder) ? [free] : [];
  }

  /** Nothing is asked for by way of a shadow that is gone. */
  #freedUnasked(free: Free, slot: SlotView): readonly Free[] {
    if (mayBeAsked(slot, this.#lastOf(slot))) return [];
    return [this.#shadowOf(slot) ? { ...free, isUnasked: true } : free];
  }

  /** A full ledger is not waited for: its release has failed often enough without this. */
  #isKnown(
    { uid, family }: Pick<NodeView, 'uid' | 'family'>,
    { version, attempt }: Pick<End, 'version' | 'attempt'>,
  ): boolean {
    const seen = this.#seenOf(family, version);
    const { [uid]: failure } = seen.failures;
    return failure?.attempt === attempt || seen.cleared[uid]?.attempt === attempt || isFullFor(seen, uid);
  }

  #hasEntry({ uid, family }: Pick<NodeView, 'uid' | 'family'>, version: string): boolean {
    return uid in this.#seenOf(family, version).failures;
  }

  /** As the API server has it. */
  #seenOf(family: string, version: string): Ledger {
    return this.#ledgers.of({ family, version })?.ledger ?? EMPTY;
  }

  #change({ family, version }: OsReleaseName, change: (ledger: Ledger) => Ledger): void {
    const one = this.#all.get(keyOf({ family, version })) ?? { family, version, ledger: EMPTY };
    one.ledger = change(one.ledger);
    this.#all.set(keyOf(one), one);
  }

  #seed(): void {
    const { rulings, fleet, now } = this.#known;
    for (const seed of seedsOf({ rulings, managed: fleet.managed, now })) this.#change(seed, seed.add);
  }

  #enter(info: AssessedNode): void {
    if (info.isSettled && (info.shadow?.status?.crash_count ?? 0) === 0) return;
    const { node, health, shadow } = info;
    const end = badEndOf(info);
    if (end) {
      this.#change({ family: node.family, version: end.version }, (ledger) =>
        enter(ledger, node.uid, failureOf(info, end, this.#known.now)),
      );
    } else if (health.soak === 'passed' && shadow?.spec.version != null) {
      this.#change({ family: node.family, version: shadow.spec.version }, (ledger) => remove(ledger, node.uid));
    }
  }

  /** A node that has a slot is not settled. */
  #enterGone(): void {
    const { snapshot, fleet } = this.#known;
    if (snapshot.slots.length === 0) return;
    const there = new Set(fleet.unsettled.map(({ node }) => node.uid));
    for (const slot of snapshot.slots) if (!there.has(slot.nodeUid)) this.#enterGoneOf(slot);
  }

  #enterGoneOf(slot: SlotView): void {
    const { family, version, nodeUid, id, policy, ended } = slot;
    if (family === undefined || version === undefined) return;
    if (!ended && !mayBeAsked(slot, this.#lastOf(slot))) return;
    const node = nodeNameOf(slot.shadow) ?? slot.shadow;
    const gone = {
      node,
      policy: policy?.name ?? '',
      attempt: id,
      reason: ended ?? 'Gone',
      at: rfc3339(this.#known.now),
    } as const;
    this.#change({ family, version }, (ledger) => (nodeUid in ledger.failures ? ledger : enter(ledger, nodeUid, gone)));
  }

  #withoutRecovered({ version }: OsReleaseName, ledger: Ledger): Ledger {
    const { now, settings } = this.#known;
    let kept = ledger;
    for (const uid of Object.keys(ledger.failures)) {
      const info = this.#nodeOf(uid);
      if (!info || badEndOf(info)?.version === version) continue;
      const at = recoveredAt(info, version, Math.max(info.ruling.rules.soakMs, settings.soakTimeoutMs));
      if (at <= now) kept = remove(kept, uid);
      else this.changesAt = Math.min(this.changesAt, at);
    }
    return kept;
  }

  #nodeOf(uid: string): AssessedNode | undefined {
    this.#nodes ??= new Map(this.#known.fleet.all.map((info) => [info.node.uid, info]));
    return this.#nodes.get(uid);
  }

  #shadowOf(slot: SlotKey): ShadowView | undefined {
    return this.#known.snapshot.shadows.find((shadow) => isOf(slot, shadow));
  }

  /** What its shadow says, or said when it was deleted. */
  #lastOf(slot: SlotKey): LastOfShadow | undefined {
    return this.#shadowOf(slot) ?? this.#known.snapshot.deletedShadows?.findLast((shadow) => isOf(slot, shadow));
  }
}

const isOf = ({ shadow, nodeUid }: SlotKey, { name, owners }: Pick<LastOfShadow, 'name' | 'owners'>): boolean =>
  name === shadow && owners.includes(nodeUid);
