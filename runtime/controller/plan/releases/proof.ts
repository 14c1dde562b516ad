import { getOrInsert } from '../../../lib/maps.ts';
import { MAX_PROVEN_VALUES, type UnderPolicy } from '../../../api/release/model.ts';
import type { Book, Risk, Spent } from './books.ts';
import { standing } from '../facts/checks.ts';
import { type Claim, type Place, placeOf } from '../facts/places.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import type { WhyHalted } from './halted.ts';
import { Provers } from './provers.ts';
import { type Proven, provenWith, type ProvingCounts, type ProvingRules, saysOf } from './proving.ts';
import { enoughWellFrom } from './well.ts';

/** While a release is unproven, this many more may fail on it than prove it: one broken machine does not stop a fleet. */
const SPARE_FAILURES = 2;

/**
 * How far a release is proven among the nodes of one policy and family (rule F2). It is proven by enough nodes at rest that run it and have been
 * well for long enough. Until then:
 * - no more nodes run it or are on their way to it than are needed for the proof,
 * - nodes on their way and nodes that failed stay together within the failure budget, which is small meanwhile,
 * - a node that has failed on it may always try again: its recovery is a proof.
 *
 * Where its policy has it proven per value of a label, nodes of each value go by their own proof. Until one value has proven it, they are bounded like one.
 */
export class Proof {
  /** All of them are to be counted before anything else is asked. */
  readonly provers: Provers;
  readonly #rules: ProvingRules;
  readonly #family: { readonly counts: ProvingCounts };
  readonly #book: Book;
  readonly #places = new Map<string, Place>();
  readonly #enoughAt = new Map<string, number>();
  #proven: boolean | undefined;

  /** @param family its counts are asked for once all nodes have been counted */
  constructor(rules: ProvingRules, family: { readonly counts: ProvingCounts }, book: Book) {
    this.#rules = rules;
    this.#family = family;
    this.#book = book;
    this.provers = new Provers(rules);
    book.over.join({
      limit: () => (family.counts.neededIn.size === 0 || this.proven ? undefined : this.mayFail),
      atRisk: (as) => this.#unprovenAt(as),
    });
  }

  /** What was proven stays so. */
  get proven(): boolean {
    this.#proven ??= this.#book.isProven || (this.#keys.length > 0 && this.#unproven.length === 0);
    return this.#proven;
  }

  isProvenFor(node: Proven): boolean {
    return this.#isProvenWith(provenWith(node, this.#rules.proof));
  }

  #isProvenWith(key: string): boolean {
    if (this.#book.provenFor?.has(key) ?? this.#book.isProven) return true;
    return this.#enoughWellAt(key) <= this.#rules.now && !this.isHalted && this.openChecks.length === 0;
  }

  get #keys(): readonly string[] {
    return [...this.#family.counts.neededIn.keys()];
  }

  get #unproven(): readonly string[] {
    return this.#keys.filter((key) => !this.#isProvenWith(key));
  }

  /** Nodes have shown that it is sound, and what its policy asks besides is still to be answered. */
  get awaitsChecks(): boolean {
    if (this.isHalted || this.openChecks.length === 0) return false;
    return this.#unproven.some((key) => this.#enoughWellAt(key) <= this.#rules.now);
  }

  /** Names of the checks that are still to pass. */
  get openChecks(): readonly string[] {
    const { uid: attempt, checks } = this.#rules;
    const open = checks.proof.filter((check) => {
      const { result } = standing(this.#book.checks, check.name, { check, attempt }) ?? {};
      return result !== 'Passed' && !(result === 'Failed' && this.#book.people.decision === 'Allow');
    });
    return open.map(({ name }) => name);
  }

  /** Of the policy, on which it is halted. */
  get #hasFailedCheck(): boolean {
    return this.#book.hasFailedCheck && this.#book.people.decision !== 'Allow';
  }

  /** People have halted it, or as many nodes failed as may: such a halt keeps its limit, and ends only by fewer entries or by people. */
  get isHalted(): boolean {
    return this.#isHaltedByPeople || this.#isOverLimit;
  }

  /** Of one that is halted, or that is `spent`. */
  get whyHalted(): WhyHalted {
    const { haltedBy: decided } = this.#book.people;
    if (this.#isHaltedByPeople) return { because: this.isRolledBack ? 'Rollback' : 'People', decided };
    if (!this.#isOverLimit) return { because: 'NodesOfAllPolicies' };
    return { because: this.#hasFailedCheck ? 'Check' : 'Nodes' };
  }

  get #isHaltedByPeople(): boolean {
    return this.#book.people.decision === 'Halt' || this.isRolledBack;
  }

  /** People have its nodes go back. */
  get isRolledBack(): boolean {
    return this.#book.people.isRolledBack;
  }

  /** Its failures have halted it. A check that was asked anew of what was proven once, because it was changed, says nothing of what nodes run. */
  get isBad(): boolean {
    if (!this.isHalted || this.#isHaltedByPeople) return false;
    const { before, countedNodes } = this.#book;
    return !this.#hasFailedCheck || before.provenAt == null || this.#isTooMany(countedNodes);
  }

  /** What keeps it from being proven without people, though it is not halted: as many nodes have failed over all policies as may. */
  get spent(): Spent | undefined {
    if (this.isHalted) return undefined;
    return this.#unproven.map((key) => this.#spentWith(key)).find((one) => one !== undefined);
  }

  /** The same for one node. */
  spentFor(node: Proven): Spent | undefined {
    return this.#spentWith(provenWith(node, this.#rules.proof), node.uid);
  }

  /** Where enough nodes are there to prove it, only these are waited for. @param but UID of a node that is none of them */
  #spentWith(key: string, but = ''): Spent | undefined {
    const { spent } = this.#book.over;
    if (!spent || this.proven) return undefined;
    const { used, limit, taken } = this.#provingPlace('moving', key);
    return used - Number(taken.has(but)) < limit ? spent : undefined;
  }

  /** What the ledger is to say of it. @param at RFC 3339 */
  standing(at: string): UnderPolicy {
    const { uid } = this.#rules;
    const { before, isProven } = this.#book;
    const proves = !isProven && this.proven;
    const values = this.provenFor;
    return {
      ...(proves && { uid, met: saysOf(this.#rules), provenAt: at }),
      ...(values && { provenFor: { uid, met: saysOf(this.#rules), values } }),
      haltedAt: this.#isOverLimit ? (before.haltedAt ?? at) : null,
      limit: this.#isOverLimit ? String(this.haltsAt) : null,
    };
  }

  get #isOverLimit(): boolean {
    const { counted } = this.#book;
    if (this.#hasFailedCheck) return true;
    return this.#isTooMany(counted);
  }

  #isTooMany(counted: number): boolean {
    return this.#book.people.decision !== 'Allow' && counted >= this.haltsAt;
  }

  #limit(isProven: boolean): number {
    const { needed, mayFail } = this.#family.counts;
    return isProven ? mayFail : Math.min(mayFail, needed + SPARE_FAILURES);
  }

  /** Values that have proven it, those first that are known to have; undefined where it is not proven per value, or none has. */
  get provenFor(): string[] | undefined {
    const { provenFor } = this.#book;
    if (!provenFor) return undefined;
    const all = new Set([...provenFor, ...this.#keys.filter((key) => this.#isProvenWith(key)).toSorted()]);
    return all.size === 0 ? undefined : [...all].slice(0, MAX_PROVEN_VALUES);
  }

  /** When it is proven, if all stays as it is: milliseconds since the Unix epoch. -Infinity = it is; NEVER = time alone does not prove it. */
  get provenAt(): number {
    if (this.proven) return -Infinity;
    const open = this.#unproven.map((key) => this.#enoughWellAt(key));
    return this.#neverYet || open.length === 0 ? NEVER : Math.max(...open);
  }

  /** The same for one node. */
  provenAtFor(node: Proven): number {
    const key = provenWith(node, this.#rules.proof);
    if (this.#isProvenWith(key)) return -Infinity;
    return this.#neverYet ? NEVER : this.#enoughWellAt(key);
  }

  get #neverYet(): boolean {
    return this.isHalted || this.openChecks.length > 0;
  }

  /** When time alone proves it to some node, or lets its checks be asked. */
  get changesAt(): number {
    if (this.proven || this.isHalted) return NEVER;
    const instants = this.#unproven.map((key) => this.#enoughWellAt(key));
    return nextAfter(this.#rules.now, instants);
  }

  /** When enough of these nodes at rest will have been well for long enough. */
  #enoughWellAt(key: string): number {
    return getOrInsert(this.#enoughAt, key, () => {
      const { now, proof } = this.#rules;
      return enoughWellFrom(this.provers.resting(key), { count: this.#neededIn(key), soakMs: proof.soakMs, now });
    });
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
  claims(as: Risk, node: Proven): readonly Claim[] {
    const places = this.#placesOf(as, provenWith(node, this.#rules.proof));
    return places.map((place) => ({ place, key: node.uid }));
  }

  #placesOf(as: Risk, key: string): readonly Place[] {
    if (this.#isProvenWith(key))
      return this.#widens
        ? [this.#place(`${as}, widening`, () => placeOf(this.atOnce, this.provers.widening(as)))]
        : [];
    const { people, counted, over } = this.#book;
    const failed = people.decision === 'Allow' ? 0 : counted;
    const atRisk = this.#unprovenAt(as);
    const isFirst = this.#keys.length > 1 && this.#unproven.length === this.#keys.length;
    return [
      this.#provingPlace(as, key),
      ...(isFirst ? [this.#place(`${as} by all`, () => this.#proving(as))] : []),
      this.#place(as, () => placeOf(this.mayFail, atRisk, atRisk.size + failed)),
      ...(this.proven ? [] : [over.place(as)]),
    ];
  }

  #provingPlace(as: Risk, key: string): Place {
    return this.#place(`${as} by ${key}`, () => this.#proving(as, key));
  }

  #place(name: string, make: () => Place): Place {
    return getOrInsert(this.#places, name, make);
  }

  /** Who is to prove it: nodes of one value, or all. */
  #proving(as: Risk, key?: string): Place {
    return placeOf(key === undefined ? this.needed : this.#neededIn(key), this.provers.all(as, key));
  }

  /** Nodes on their way that it is not proven to. */
  #unprovenAt(as: Risk): ReadonlyMap<string, number> {
    return this.provers.atRisk(as, (key) => !this.#isProvenWith(key));
  }

  get #widens(): boolean {
    return this.#rules.proof.widen !== undefined;
  }

  /** Nodes that may update to it at once: once it is proven, a multiple of those that have been well on it for the soak, but never fewer than prove it. */
  get atOnce(): number {
    return Math.max(this.needed, (this.#rules.proof.widen ?? 0) * this.provers.well);
  }

  /** When time alone lets more of them update at once. */
  get widensAt(): number {
    return this.#widens ? nextAfter(this.#rules.now, this.provers.wellAt) : NEVER;
  }

  /** Nodes that prove it. */
  get needed(): number {
    return this.#family.counts.needed;
  }

  /** Nodes that prove it to this one. */
  neededFor(node: Proven): number {
    return this.#neededIn(provenWith(node, this.#rules.proof));
  }

  #neededIn(key: string): number {
    return this.#family.counts.neededIn.get(key) ?? this.needed;
  }
}
