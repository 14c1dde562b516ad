import type { ProofRules, UpdatePolicy } from '../../../api/policy/policy.ts';
import type { UnderPolicy } from '../../../api/release/model.ts';
import type { Quantity } from '../../../api/policy/quantity.ts';
import { conditionUpToDate } from '../facts/conditions.ts';
import type { Book, Risk } from './books.ts';
import { standing } from '../facts/checks.ts';
import { saysOf } from '../facts/counts.ts';
import { isBlamed } from '../facts/phase.ts';
import { type Claim, type Place, placeOf } from '../facts/places.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import type { NodeInfo, NodeView, Settings } from '../facts/snapshot.ts';

/** How long a node may be away, milliseconds. */
type Patience = Pick<Settings, 'returnTimeoutMs' | 'agentTimeoutMs'>;

/** How a release is proven. */
export interface ProvingRules extends Patience, Pick<UpdatePolicy, 'checks'> {
  /** UID of the policy; empty for the variables. */
  readonly uid: string;
  readonly maxFailed: Quantity;
  readonly proof: ProofRules;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The rules of a policy as numbers of nodes of one family. */
export interface ProvingCounts {
  /** Nodes that prove a release. */
  readonly needed: number;
  /** Nodes that may fail on it once it is proven. */
  readonly mayFail: number;
}

/** While a release is unproven, this many more may fail on it than prove it: one broken machine does not stop a fleet. */
const SPARE_FAILURES = 2;

/**
 * How far a release is proven among the nodes of one policy and family (rule F2). It is proven by enough nodes at rest that run it and have been
 * well for long enough. Until then:
 * - no more nodes run it or are on their way to it than are needed for the proof,
 * - nodes on their way and nodes that failed stay together within the failure budget, which is small meanwhile,
 * - a node that has failed on it may always try again: its recovery is a proof.
 */
export class Proof {
  readonly #rules: ProvingRules;
  readonly #family: { readonly counts: ProvingCounts };
  readonly #book: Book;
  /** By UID, until when each counts: nodes on their way to it, except for those that have failed on it. */
  readonly #at: Readonly<Record<Risk, Map<string, number>>> = { moving: new Map(), disturbed: new Map() };
  /** Nodes at rest on it, which are looked at where it is not known to be proven. */
  readonly #resting: NodeInfo[] = [];
  readonly #places = new Map<Risk, readonly Place[]>();
  #enoughAt: number | undefined;
  /** From when on each of those at rest has been well for long enough. */
  #wellFrom: readonly number[] | undefined;

  /** @param family its counts are asked for once all nodes have been counted */
  constructor(rules: ProvingRules, family: { readonly counts: ProvingCounts }, book: Book) {
    this.#rules = rules;
    this.#family = family;
    this.#book = book;
  }

  /** The node is at rest and runs the release. */
  rest(info: NodeInfo): void {
    this.#resting.push(info);
  }

  /** The node is on its way, and has not failed on the release. @param goneAt from when on it is lost */
  risk(as: Risk, { uid }: Pick<NodeView, 'uid'>, goneAt: number): void {
    if (!this.#isThere(goneAt)) return;
    for (const counted of [this.#at[as], this.#book.over[as]]) counted.set(uid, goneAt);
  }

  #isThere(goneAt: number): boolean {
    return goneAt > this.#rules.now;
  }

  /** What was proven stays so. */
  get proven(): boolean {
    return this.#book.isProven || (this.#isWell && !this.isHalted && this.openChecks.length === 0);
  }

  /** Nodes have shown that it is sound, and what its policy asks besides is still to be answered. */
  get awaitsChecks(): boolean {
    return !this.#book.isProven && this.#isWell && !this.isHalted && this.openChecks.length > 0;
  }

  get #isWell(): boolean {
    return this.#enoughWellAt <= this.#rules.now;
  }

  /** Names of the checks that are still to pass. */
  get openChecks(): readonly string[] {
    const { uid: attempt, checks } = this.#rules;
    const open = checks.proof.filter((check) => {
      const { result } = standing(this.#book.checks, check.name, { check, attempt }) ?? {};
      return result !== 'Passed' && !(result === 'Failed' && this.#book.decision === 'Allow');
    });
    return open.map(({ name }) => name);
  }

  /** Of the policy, on which it is halted. */
  get hasFailedCheck(): boolean {
    return this.#book.hasFailedCheck && this.#book.decision !== 'Allow';
  }

  /** People have halted it, or as many nodes failed as may: such a halt keeps its limit, and ends only by fewer entries or by people. */
  get isHalted(): boolean {
    return this.isHaltedByPeople || this.#isOverLimit;
  }

  get isHaltedByPeople(): boolean {
    return this.#book.decision === 'Halt' || this.isRolledBack;
  }

  /** People have its nodes go back. */
  get isRolledBack(): boolean {
    return this.#book.isRolledBack;
  }

  /** Its failures have halted it. A check that was asked anew of what was proven once, because it was changed, says nothing of what nodes run. */
  get isBad(): boolean {
    if (!this.isHalted || this.isHaltedByPeople) return false;
    const { before, countedNodes } = this.#book;
    return !this.hasFailedCheck || before.provenAt == null || this.#isTooMany(countedNodes);
  }

  /** What the ledger is to say of it. @param at RFC 3339 */
  standing(at: string): UnderPolicy {
    const { uid } = this.#rules;
    const { before, isProven } = this.#book;
    const proves = !isProven && this.proven;
    return {
      ...(proves && { uid, met: saysOf(this.#rules), provenAt: at }),
      haltedAt: this.#isOverLimit ? (before.haltedAt ?? at) : null,
      limit: this.#isOverLimit ? String(this.haltsAt) : null,
    };
  }

  get #isOverLimit(): boolean {
    const { counted } = this.#book;
    if (this.hasFailedCheck) return true;
    return this.#isTooMany(counted);
  }

  #isTooMany(counted: number): boolean {
    return this.#book.decision !== 'Allow' && counted >= this.haltsAt;
  }

  #limit(isProven: boolean): number {
    const { needed, mayFail } = this.#family.counts;
    return isProven ? mayFail : Math.min(mayFail, needed + SPARE_FAILURES);
  }

  /** When it is proven, if all stays as it is: milliseconds since the Unix epoch. -Infinity = it is; NEVER = time alone does not prove it. */
  get provenAt(): number {
    if (this.proven) return -Infinity;
    return this.isHalted || this.openChecks.length > 0 ? NEVER : this.#enoughWellAt;
  }

  /** When time alone proves it, or lets its checks be asked. */
  get changesAt(): number {
    return this.proven || this.isHalted ? NEVER : this.#enoughWellAt;
  }

  /** When enough nodes at rest will have been well for long enough. */
  get #enoughWellAt(): number {
    const { now } = this.#rules;
    this.#enoughAt ??= soonest(this.#wellAt, { count: this.needed, now });
    return this.#enoughAt;
  }

  /** Nodes that may fail on the release. */
  get mayFail(): number {
    return this.#limit(this.proven);
  }

  /** By how many it was halted, or would be now. What nodes run by a proof is not worse for being asked another one. */
  get haltsAt(): number {
    const { haltedBy, wasProven } = this.#book;
    return haltedBy ?? this.#limit(wasProven);
  }

  /**
   * What a node that has not failed on it takes up by its way to it, or by being disturbed for it; nothing where it is proven and does not widen. To be
   * asked for once every node has been counted.
   */
  claims(as: Risk, { uid: key }: Pick<NodeView, 'uid'>): readonly Claim[] {
    const places = this.#places.get(as) ?? this.#placesOf(as);
    this.#places.set(as, places);
    return places.map((place) => ({ place, key }));
  }

  #placesOf(as: Risk): readonly Place[] {
    const { decision, counted, over } = this.#book;
    const { [as]: atRisk } = this.#at;
    if (this.proven) return this.#widens ? [placeOf(this.atOnce, atRisk)] : [];
    const failed = decision === 'Allow' ? 0 : counted;
    return [
      placeOf(this.needed, new Map([...this.#restingAt(), ...atRisk])),
      placeOf(this.mayFail, atRisk, atRisk.size + failed),
      over.place(as),
    ];
  }

  get #widens(): boolean {
    return this.#rules.proof.widen !== undefined;
  }

  /** Nodes that may update to it at once: once it is proven, a multiple of those that have been well on it for the soak, but never fewer than prove it. */
  get atOnce(): number {
    const { proof, now } = this.#rules;
    if (!this.proven || proof.widen === undefined) return this.proven ? Infinity : this.needed;
    const well = this.#wellAt.filter((instant) => instant <= now).length;
    return Math.max(this.needed, proof.widen * well);
  }

  /** When time alone lets more of them update at once. */
  get widensAt(): number {
    return this.#widens ? nextAfter(this.#rules.now, this.#wellAt) : NEVER;
  }

  get #wellAt(): readonly number[] {
    this.#wellFrom ??= this.#resting.map((info) => wellFrom(info, this.#rules.proof.soakMs));
    return this.#wellFrom;
  }

  #restingAt(): readonly (readonly [uid: string, goneAt: number])[] {
    const all = this.#resting.map((info) => [info.node.uid, lostAt(info, this.#rules)] as const);
    return all.filter(([, goneAt]) => this.#isThere(goneAt));
  }

  /** Nodes that prove it. */
  get needed(): number {
    return this.#family.counts.needed;
  }
}

/** The instant by which so many of them have passed; -Infinity where they have by now. */
function soonest(
  instants: readonly number[],
  { count, now }: { readonly count: number; readonly now: number },
): number {
  const ahead = instants.filter((instant) => instant > now);
  const missing = count - (instants.length - ahead.length);
  return missing <= 0 ? -Infinity : (ahead.toSorted((a, b) => a - b)[missing - 1] ?? NEVER);
}

/** From when on a node that runs the release, and is at rest, has been well for long enough. */
function wellFrom({ node, shadow, silentSince }: NodeInfo, soakMs: number): number {
  if (!node.ready || !shadow || silentSince !== undefined) return NEVER;
  if (soakMs === 0) return -Infinity;
  // Its agent is back, and its condition says so only with the next write. Until then it is not known since when the node has been well.
  if (conditionUpToDate(shadow.status)?.reason === 'AgentSilent') return NEVER;
  const { upToDateSince = shadow.stateSeenAt, finishedAt = -Infinity } = shadow;
  return Math.max(upToDateSince, finishedAt, node.readyFrom) + soakMs;
}

/**
 * From when on a node counts as lost: it is not Ready, or its agent is silent, for as long as a reboot may take, and no reboot was asked for. A
 * node that was asked to reboot is waited for, and so is one that is back from it: either is a failure in the end (rule F1). A lost node starts
 * nothing either, so a silent agent has at least the time after which it is missed.
 */
export function lostAt({ node, silentSince, phase }: NodeInfo, patience: Patience): number {
  if (node.ready && silentSince === undefined) return NEVER;
  if (isBlamed(phase)) return NEVER;
  const { returnTimeoutMs, agentTimeoutMs } = patience;
  if (!node.ready) return node.readinessSeenAt + returnTimeoutMs;
  return Math.max(silentSince ?? NEVER, node.readinessSeenAt) + Math.max(returnTimeoutMs, agentTimeoutMs);
}
