import { DAY_MS, instantOf } from '../../../lib/clock.ts';
import { getOrInsert } from '../../../lib/maps.ts';
import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import type { Failure, UnderPolicy } from '../../../api/release/model.ts';
import { type CheckStates, isCheckEntry } from '../facts/checks.ts';
import { saysOf } from './proving.ts';
import type { EnteredLedgers } from './entered.ts';
import { keyOf, type Ledgers, type OsReleaseName, type ReleaseDecisions } from '../facts/ledgers.ts';
import { type Place, placeOf } from '../facts/places.ts';

interface Terms {
  readonly ledgers: Pick<Ledgers, 'decisionsOn'>;
  readonly names: ReadonlySet<string>;
  /** While not all is known to be current, no halt ends. */
  readonly isCurrent: boolean;
  readonly now: number;
}

/** What the ledger of a release says under one policy. */
export interface Book {
  /** UIDs of the nodes that have an entry, under whichever policy: these may always try again. */
  readonly failed: ReadonlySet<string>;
  /** Entries that count for the policy; and those of nodes among them. */
  readonly counted: number;
  readonly countedNodes: number;
  readonly entries: readonly Failure[];
  readonly people: ReleaseDecisions;
  /** It was proven under this very policy, by the proof that the policy asks for now. */
  readonly isProven: boolean;
  /** The same by whatever proof that asked for. */
  readonly wasProven: boolean;
  /** Values of a label that are known to have proven it so; undefined where the policy has it proven by all nodes together. */
  readonly provenFor: ReadonlySet<string> | undefined;
  /** Nodes that may fail, by which it was halted; undefined where it was not. */
  readonly haltedBy: number | undefined;
  /** A check of the policy has failed on it. */
  readonly hasFailedCheck: boolean;
  readonly checks: CheckStates;
  readonly before: UnderPolicy;
  readonly over: OverPolicies;
}

const checksIn = ({ checks }: UnderPolicy): CheckStates => checks ?? {};

/** Whom an unproven release counts as put at risk: all that are on their way to it, or those alone that are disturbed for it. */
export type Risk = 'moving' | 'disturbed';

/** What one policy makes of an unproven release. */
interface OfPolicy {
  /** How many it lets be put at risk; undefined where it has proven the release, or has no nodes for it. */
  readonly limit: () => number | undefined;
  /** By UID, until when each counts. */
  readonly atRisk: (as: Risk) => ReadonlyMap<string, number>;
}

/** As many nodes have failed on an unproven release over all policies as may, though none has halted it. */
export interface Spent {
  readonly entries: readonly Failure[];
  readonly mayFail: number;
}

/** Who is put at risk by an unproven release over all policies together (rule F2). */
class OverPolicies {
  readonly #failed: readonly Failure[];
  readonly #policies: OfPolicy[] = [];
  readonly #places = new Map<Risk, Place>();

  constructor(failed: readonly Failure[]) {
    this.#failed = failed;
  }

  join(policy: OfPolicy): void {
    this.#policies.push(policy);
  }

  /** To be asked for, as places are, once every node has been counted; undefined where further ones may fail. */
  get spent(): Spent | undefined {
    const mayFail = this.#greatest;
    return this.#failed.length >= mayFail ? { entries: this.#failed, mayFail } : undefined;
  }

  get #greatest(): number {
    return Math.max(...this.#policies.flatMap(({ limit }) => limit() ?? []));
  }

  /** To be asked for once every node has been counted. */
  place(risk: Risk): Place {
    return getOrInsert(this.#places, risk, () => {
      const atRisk = new Map(this.#policies.flatMap((one) => [...one.atRisk(risk)]));
      return placeOf(this.#greatest, atRisk, atRisk.size + this.#failed.length);
    });
  }
}

const failuresIn = (entries: readonly (readonly [string, Failure])[]): readonly Failure[] =>
  entries.map(([, failure]) => failure);

/** For which values it was proven under this very policy, by the proof that the policy asks for now. */
function provenIn(
  { provenFor }: UnderPolicy,
  rules: Pick<UpdatePolicy, 'proof' | 'checks'>,
  uid: string,
): Book['provenFor'] {
  if (rules.proof.per === undefined) return undefined;
  return new Set(provenFor?.uid === uid && provenFor.met === saysOf(rules) ? provenFor.values : []);
}

/** Reads ledgers for the policies of a plan. */
export class Books {
  readonly #entered: EnteredLedgers;
  readonly #terms: Terms;
  readonly #over = new Map<string, OverPolicies>();

  constructor(entered: EnteredLedgers, terms: Terms) {
    this.#entered = entered;
    this.#terms = terms;
  }

  of(release: OsReleaseName, rules: Pick<UpdatePolicy, 'name' | 'proof' | 'checks'>, uid: string): Book {
    const { name = '' } = rules;
    const ledger = this.#entered.of(release);
    const before = ledger.policies[name] ?? {};
    const wasProven = before.provenAt != null && (before.uid ?? '') === uid;
    const isProven = wasProven && before.met === saysOf(rules);
    const provenFor = provenIn(before, rules, uid);
    const entries = Object.entries(ledger.failures);
    const ofNodes = entries.filter(([node]) => !isCheckEntry(node));
    const { isCurrent } = this.#terms;
    const own = entries.filter((entry) => this.#countsFor(name, isProven, entry));
    const ownChecks = own.filter(([key]) => isCheckEntry(key)).length;
    const people = this.#terms.ledgers.decisionsOn(release, name);
    const limit = before.haltedAt == null ? undefined : Number(before.limit);
    const failed = people.decision === 'Allow' ? [] : failuresIn(ofNodes);
    return {
      failed: new Set(ofNodes.map(([node]) => node)),
      counted: limit !== undefined && !isCurrent ? Math.max(own.length, limit) : own.length,
      countedNodes: own.length - ownChecks,
      entries: failuresIn(own),
      people,
      isProven,
      wasProven,
      provenFor,
      haltedBy: limit,
      hasFailedCheck: ownChecks > 0,
      checks: checksIn(before),
      before,
      over: getOrInsert(this.#over, keyOf(release), () => new OverPolicies(failed)),
    };
  }

  #countsFor(name: string, isProven: boolean, [key, failure]: readonly [string, Failure]): boolean {
    if (isCheckEntry(key)) return failure.policy === name;
    const { names, now } = this.#terms;
    if (isProven && failure.reason === 'Gone' && (instantOf(failure.at) ?? 0) + DAY_MS <= now) return false;
    const ruler = this.#entered.rulerOf(key, failure);
    return ruler === name || !names.has(ruler);
  }

  /** When the last update under the policy was finished, on whichever node: it may be gone since. */
  lastFinishedAt(policy: string): number {
    const known = [...this.#entered.all].map((one) => this.#entered.of(one).policies[policy]?.lastFinishedAt);
    return Math.max(-Infinity, ...known.flatMap((time) => Math.min(instantOf(time) ?? -Infinity, this.#terms.now)));
  }
}
