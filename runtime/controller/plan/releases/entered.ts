import { DAY_MS, instantOf } from '../../../lib/clock.ts';
import { EMPTY, enter, isFullFor, type Ledger, remove, removeWhere, under } from '../../../api/release/ledger.ts';
import type { BadEnd, Failure, UnderPolicy } from '../../../api/release/model.ts';
import { isCheckEntry } from '../facts/checks.ts';
import type { Free, NoteEnd } from '../facts/commands.ts';
import { statedBootOf } from '../nodes/blame.ts';
import { badEndOf, type End, failureOf, recoveredAt } from '../nodes/ends.ts';
import { isFailedByPods } from '../nodes/evidence.ts';
import {
  type FailureOn,
  failuresOfGone,
  type Gone,
  lastOf,
  lastOfNode,
  mayBeAsked,
  releaseOf,
  shadowOf,
} from '../nodes/gone.ts';
import type { AssessedNode, Fleet } from '../nodes/health.ts';
import type { PermitView } from '../facts/permit.ts';
import { keyOf, type Ledgers, type OsReleaseName } from '../facts/ledgers.ts';
import { NEVER } from '../facts/requeue.ts';
import type { Rulings } from '../facts/rulings.ts';
import { seedsOf } from './seeds.ts';
import type { NodeView, Settings, Snapshot, WriteRefusal } from '../facts/snapshot.ts';

/** What a node that is Ready has not recovered from. */
const NOT_OF_READINESS: ReadonlySet<BadEnd | undefined> = new Set(['CheckFailed', 'WorkloadsNotBack']);

interface Known {
  readonly snapshot: Gone['snapshot'] & Pick<Snapshot, 'releases' | 'policies' | 'notCurrent'>;
  readonly rulings: Pick<Rulings, 'all' | 'claims'>;
  readonly fleet: Pick<Fleet, 'all' | 'unsettled'>;
  readonly settings: Pick<Settings, 'soakTimeoutMs'>;
  readonly now: number;
}

/** After that, nothing is kept of a policy's checks once it is gone. */
const GONE_MS = 7 * DAY_MS;

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
    for (const info of known.fleet.unsettled) this.#enter(info);
    for (const one of failuresOfGone({ ...known, ledgers })) this.#enterGone(one);
  }

  get all(): Iterable<OsReleaseName> {
    return this.#all.values();
  }

  of(release: OsReleaseName): Ledger {
    return this.#all.get(keyOf(release))?.ledger ?? EMPTY;
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
    const { node, shadow, phase, health } = info;
    if (health.checks === 'failed' || health.settling === 'failed') return this.#isEntered(info);
    if (isFailedByPods(info) && health.soak === 'passed') return this.#isEntered(info);
    if (health.soak === 'passed') return !this.#hasEntry(node, shadow?.spec.version ?? '');
    return phase.kind === 'resting' || health.soak === 'failed' || this.#isEntered(info);
  }

  #isEntered(info: AssessedNode): boolean {
    const { node, permit } = info;
    const end = badEndOf(info);
    return !end || permit?.ended !== undefined || this.#isKnown(node, end);
  }

  /** What keeps the end of its attempt on the Lease, where the ledger refuses it: then the node need not wait for that, and its permit alone does. */
  noteOf(info: AssessedNode): NoteEnd | undefined {
    const { node, permit, phase, health } = info;
    const end = badEndOf(info);
    if (!end || permit?.version !== end.version || permit.ended || this.#isKnown(node, end)) return undefined;
    const isToRest = phase.kind === 'failed' || health.agentSilent;
    if (!isToRest || this.#ledgers.refusalOf({ family: node.family, version: end.version }) === undefined)
      return undefined;
    return { kind: 'note-end', shadow: permit.shadow, nodeUid: permit.nodeUid, ended: end.reason };
  }

  /** Why the permit of its update, which is over, stays; undefined where it does not wait for a ledger. */
  unwritten({ node: { family }, permit }: AssessedNode): Pick<WriteRefusal, 'message'> | undefined {
    if (!permit?.ended || permit.version === undefined) return undefined;
    const { version } = permit;
    return {
      message: this.#ledgers.refusalOf({ family, version }) ?? `${version}: how its update ended is being entered`,
    };
  }

  /** The command, if the permit may be given back: nothing of the attempt is still to be entered. @param holder undefined where the node is gone */
  freed(free: Free, permit: PermitView, holder: AssessedNode | undefined): readonly Free[] {
    const { nodeUid: uid, id: attempt, ended } = permit;
    const release = releaseOf(permit, this.#known.snapshot);
    if (!release || this.#isKnown({ uid, ...release }, { ...release, attempt })) return [free];
    if (ended) return [];
    if (!holder) return this.#freedUnasked(free, permit);
    return holder.phase.kind === 'resting' || this.mayRest(holder) ? [free] : [];
  }

  /** Nothing is asked for by way of a shadow that is gone. */
  #freedUnasked(free: Free, permit: PermitView): readonly Free[] {
    const { snapshot } = this.#known;
    const lastNode = lastOfNode(permit.nodeUid, snapshot);
    if (mayBeAsked(permit, lastOf(permit, snapshot), lastNode)) return [];
    return [shadowOf(permit, snapshot) ? { ...free, isUnasked: true, lastNode } : free];
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
    for (const seed of seedsOf({ rulings, unsettled: fleet.unsettled, now })) this.#change(seed, seed.add);
  }

  #enter(info: AssessedNode): void {
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

  #enterGone({ family, version, uid, failure }: FailureOn): void {
    this.#change({ family, version }, (ledger) => {
      const isKnown = ledger.failures[uid]?.attempt === failure.attempt;
      return isKnown ? ledger : enter(ledger, uid, failure);
    });
  }

  #withoutRecovered({ version }: OsReleaseName, ledger: Ledger): Ledger {
    const { now, settings } = this.#known;
    let kept = this.#withoutGone(ledger);
    for (const uid of Object.keys(kept.failures)) {
      const info = this.#nodeOf(uid);
      // That it is Ready was never in question.
      if (NOT_OF_READINESS.has(kept.failures[uid]?.reason)) continue;
      if (!info || [badEndOf(info), statedBootOf(info)].some((end) => end?.version === version)) continue;
      const at = recoveredAt(info, version, Math.max(info.ruling.rules.soakMs, settings.soakTimeoutMs));
      if (at <= now) kept = remove(kept, uid);
      else this.changesAt = Math.min(this.changesAt, at);
    }
    return kept;
  }

  /** A check that has failed says nothing once its policy is known to be no more. */
  #withoutGone(ledger: Ledger): Ledger {
    const { policies, notCurrent } = this.#known.snapshot;
    if (notCurrent !== undefined) return ledger;
    const isGone = (name: string): boolean => policies.every(({ policy }) => (policy.name ?? '') !== name);
    const kept = removeWhere(ledger, (key, { policy }) => isCheckEntry(key) && isGone(policy));
    const over = Object.entries(kept.policies).filter(([name, one]) => isGone(name) && this.#isOver(one));
    return over.reduce((one, [name]) => under(one, name, { checks: null }), kept);
  }

  /** A policy that is made anew, as by a sync, goes on with its checks. */
  #isOver({ checks, lastSeenAt }: UnderPolicy): boolean {
    return checks != null && (instantOf(lastSeenAt) ?? -Infinity) + GONE_MS <= this.#known.now;
  }

  #nodeOf(uid: string): AssessedNode | undefined {
    this.#nodes ??= new Map(this.#known.fleet.all.map((info) => [info.node.uid, info]));
    return this.#nodes.get(uid);
  }
}
