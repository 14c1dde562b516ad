import { getOrInsert } from '../../../lib/maps.ts';
import { countNodes, neverStarts } from '../facts/node.ts';
import { failureBudget, provingNodes } from '../../../api/policy/quantity.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import { hasFailed } from '../nodes/blame.ts';
import type { Book } from './books.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { givenBackAt, headsFor, isAtRestOn, isDisturbed, isInDoubt, stuckAt } from '../nodes/in-flight.ts';
import { isSpared } from '../facts/arriving.ts';
import { isCalledOff } from '../facts/phase.ts';
import { haltedBecause } from './halted.ts';
import type { FamilyCounts, OsRelease, ReleaseRules } from './os-release.ts';
import { Proof } from './proof.ts';
import { provenWith, type ProvingCounts } from './proving.ts';
import { lostAt } from './well.ts';
import { NEVER } from '../facts/requeue.ts';
import type { NodeView } from '../facts/snapshot.ts';
import { type Finding, found, listed } from '../facts/verdict.ts';

/** How all OS releases do on the nodes of one policy. This is counted from the shadows for each plan, and nothing is remembered. */
export class OsReleases {
  readonly #families = new Map<string, Family>();
  readonly #rules: ReleaseRules;
  readonly #contested: ReadonlySet<string>;
  #isOneLeft: boolean | undefined;

  /** @param contested families of nodes that the policy would rule, but for other policies of its priority */
  constructor(rules: ReleaseRules, contested: ReadonlySet<string>) {
    this.#rules = rules;
    this.#contested = contested;
  }

  of(family: string, version: string): OsRelease {
    return this.#family(family).tally(version);
  }

  family(name: string): FamilyCounts {
    return this.#family(name);
  }

  /** Each version that a node runs, waits for, is on its way to or has failed on. */
  get all(): readonly OsRelease[] {
    return [...this.#families.values()].flatMap(({ tallies }) =>
      [...tallies.values()].filter(({ isKnown }) => isKnown),
    );
  }

  /** Nodes go back from one of them, at least. To be asked for once every node has been counted. */
  get isOneLeft(): boolean {
    this.#isOneLeft ??= this.all.some(({ isLeft }) => isLeft);
    return this.#isOneLeft;
  }

  /** The node starts on the version. */
  begin(info: AssessedNode, version: string): void {
    this.#family(info.node.family).tally(version).begin(info);
  }

  /** @param those managed nodes that the policy rules and that are alike */
  count(those: readonly AssessedNode[]): void {
    const [info] = those;
    if (!info) return;
    const { node, shadow, phase } = info;
    const family = this.#family(node.family);
    family.join(node, countNodes(those));
    if (!shadow?.status) return;
    const { current_version: current, target_version: target } = shadow.status;
    const running = family.tally(current);
    running.isRun = true;
    if (phase.kind === 'resting') running.rest(those);
    if (current === target) running.isOffered = true;
    else family.tally(target).want(those);
    const heading = headsFor(info);
    const begun = heading === undefined ? undefined : family.tally(heading);
    if (isInDoubt(info, shadow)) family.inDoubt.push(info);
    else begun?.move(info);
  }

  /** Once every node has been counted. */
  settle(): void {
    for (const family of this.#families.values()) family.settle();
  }

  #family(name: string): Family {
    return getOrInsert(this.#families, name, () => new Family(name, this.#contested, this.#rules));
  }
}

/** Hosts of one variant and architecture. */
class Family implements FamilyCounts {
  members = 0;
  /** By whose proof they go. */
  readonly #membersWith = new Map<string, number>();
  readonly tallies = new Map<string, Tally>();
  /** Nodes that are on their way to a version that is not known. */
  readonly inDoubt: AssessedNode[] = [];
  readonly name: string;
  readonly #contested: ReadonlySet<string>;
  readonly #rules: ReleaseRules;
  #counts: ProvingCounts | undefined;

  constructor(name: string, contested: ReadonlySet<string>, rules: ReleaseRules) {
    this.name = name;
    this.#contested = contested;
    this.#rules = rules;
  }

  join(node: NodeView, count: number): void {
    const key = provenWith(node, this.#rules.proof);
    this.members += count;
    this.#membersWith.set(key, (this.#membersWith.get(key) ?? 0) + count);
  }

  get isContested(): boolean {
    return this.#contested.has(this.name);
  }

  /** To be asked for once every node has been counted. */
  get counts(): ProvingCounts {
    const { proof, maxFailed } = this.#rules;
    this.#counts ??= {
      needed: provingNodes(proof.nodes, this.members),
      mayFail: failureBudget(maxFailed, this.members),
      neededIn: new Map([...this.#membersWith].map(([key, count]) => [key, provingNodes(proof.nodes, count)])),
    };
    return this.#counts;
  }

  tally(version: string): Tally {
    return getOrInsert(this.tallies, version, () => new Tally(version, this, this.#rules));
  }

  /** Once every node has been counted. */
  settle(): void {
    for (const info of this.inDoubt) {
      for (const tally of this.tallies.values()) if (!isAtRestOn(info, tally.version)) tally.move(info);
    }
  }
}

class Tally implements OsRelease {
  readonly family: string;
  readonly book: Book;
  readonly proof: Proof;
  isRun = false;
  isOffered = false;
  isReached = false;
  finishedAt = -Infinity;
  wanted = false;
  hasBegun = false;
  readonly version: string;
  readonly #family: Family;
  readonly #rules: ReleaseRules;
  /** Nodes on their way to it. */
  readonly #begun: NodeView[] = [];
  #isAwaited = false;
  /** When the last of those on their way to it is lost. */
  #underWayUntil = -Infinity;

  constructor(version: string, family: Family, rules: ReleaseRules) {
    this.version = version;
    this.family = family.name;
    this.#family = family;
    this.#rules = rules;
    this.book = rules.bookOf({ family: family.name, version });
    this.proof = new Proof(rules, family, this.book);
  }

  get isKnown(): boolean {
    return this.isRun || this.wanted || this.isUnderWay || this.book.counted > 0;
  }

  get isUnderWay(): boolean {
    return this.#begun.length > 0;
  }

  get isHalted(): boolean {
    return this.proof.isHalted;
  }

  get isLeft(): boolean {
    const { rollsBack, version } = this.#rules;
    return this.proof.isRolledBack || (rollsBack && version.exact === undefined && this.proof.isBad);
  }

  get isStopped(): boolean {
    return this.isHalted || this.proof.spent !== undefined;
  }

  get completeAt(): number {
    if (!this.isRun || this.#isAwaited || this.isHalted || this.#family.isContested) return NEVER;
    return Math.max(this.proof.provenAt, this.#underWayUntil);
  }

  rest(those: readonly AssessedNode[]): void {
    for (const { shadow } of those) {
      const { finishedAt, updatedFrom, movedNobody } = shadow ?? {};
      if (finishedAt === undefined) continue;
      if (!movedNobody) this.finishedAt = Math.max(this.finishedAt, finishedAt);
      this.isReached ||= updatedFrom === undefined || compareSemver(updatedFrom, this.version) <= 0;
    }
    this.proof.provers.rest(those.filter(({ node }) => !this.book.failed.has(node.uid)));
  }

  /** Policies that come after this one do not wait for a node that is away or that pauses after a failure: that may take a day. */
  want(those: readonly AssessedNode[]): void {
    this.wanted = true;
    this.isOffered = true;
    this.#isAwaited ||= those.some((info) => {
      const { node, health } = info;
      return node.ready && !neverStarts(node) && !health.agentSilent && !hasFailed(info, this.book);
    });
  }

  /** Puts the release at risk: before anything is asked of its proof. */
  move(info: AssessedNode): void {
    if (!isCalledOff(info.phase)) this.begin(info);
    if (this.book.failed.has(info.node.uid)) return;
    const goneAt = Math.min(lostAt(info, this.#rules), givenBackAt(info));
    this.#underWayUntil = Math.max(this.#underWayUntil, goneAt);
    const times = { goneAt, stuckAt: stuckAt(info, this.#rules.now), isSpared: isSpared(info, this.#rules) };
    this.proof.provers.risk('moving', info.node, times);
    if (isDisturbed(info, this.version)) this.proof.provers.risk('disturbed', info.node, times);
  }

  begin(info: AssessedNode): void {
    this.hasBegun ||= !info.shadow || !isInDoubt(info, info.shadow);
    this.#begun.push(info.node);
  }

  get widening(): Finding {
    const { atOnce, widensAt } = this.proof;
    const message = `${this.version} goes to ${atOnce} at once, and to more as more nodes run it well`;
    return found('Widening', message, atOrNever(widensAt));
  }

  get canaries(): readonly string[] {
    return this.#canaries.map(({ name }) => name);
  }

  get #canaries(): readonly NodeView[] {
    return [...this.proof.provers.resting().map(({ node }) => node), ...this.#begun];
  }

  unprovenTo(node: NodeView): Finding {
    if (this.proof.spentFor(node))
      return found('RolloutHalted', haltedBecause({ because: 'NodesOfAllPolicies' }, this.version));
    const { awaitsChecks, openChecks } = this.proof;
    if (awaitsChecks)
      return found('Unproven', `${this.version} is yet to be proven by the check ${listed(openChecks)}`);
    const { proof } = this.#rules;
    const key = provenWith(node, proof);
    const others = this.#canaries.filter((one) => one.uid !== node.uid && provenWith(one, proof) === key);
    const who = others.length === 0 ? 'other nodes' : listed(others.map(({ name }) => name));
    const where = proof.per === undefined ? '' : ` where ${proof.per} is ${key || 'absent'}`;
    const provenAt = this.proof.provenAtFor(node);
    return found('Unproven', `${this.version} is yet to be proven by ${who}${where}`, atOrNever(provenAt));
  }
}

const atOrNever = (instant: number): number | undefined => (instant === NEVER ? undefined : instant);
