import { DAY_MS, instantOf } from '../../../lib/clock.ts';
import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import { type Book, OverPolicies, saysOf } from '../facts/counts.ts';
import type { EnteredLedgers } from './entered.ts';
import { keyOf, type OsReleaseName } from '../facts/ledgers.ts';

interface Terms {
  readonly names: ReadonlySet<string>;
  /** While not all is known to be current, no halt ends. */
  readonly isCurrent: boolean;
  readonly now: number;
}

/** Reads ledgers for the policies of a plan. */
export class Books {
  readonly #ledgers: EnteredLedgers;
  readonly #terms: Terms;
  readonly #over = new Map<string, OverPolicies>();

  constructor(ledgers: EnteredLedgers, terms: Terms) {
    this.#ledgers = ledgers;
    this.#terms = terms;
  }

  of(release: OsReleaseName, { name = '', proof }: Pick<UpdatePolicy, 'name' | 'proof'>, uid: string): Book {
    const ledger = this.#ledgers.of(release);
    const before = ledger.policies[name] ?? {};
    const isProven = before.provenAt != null && (before.uid ?? '') === uid && before.met === saysOf(proof);
    const entries = Object.entries(ledger.failures);
    const { names, isCurrent, now } = this.#terms;
    const own = entries.filter(([node, failure]) => {
      if (isProven && failure.reason === 'Gone' && (instantOf(failure.at) ?? 0) + DAY_MS <= now) return false;
      const ruler = this.#ledgers.rulerOf(node, failure);
      return ruler === name || !names.has(ruler);
    });
    const decision = this.#ledgers.decisionOn(release);
    const limit = before.haltedAt == null ? undefined : Number(before.limit);
    return {
      failed: new Set(entries.map(([node]) => node)),
      counted: limit !== undefined && !isCurrent ? Math.max(own.length, limit) : own.length,
      entries: own.map(([, failure]) => failure),
      decision,
      isProven,
      haltedBy: limit,
      before,
      over: this.#overOf(keyOf(release), decision === 'Allow' ? 0 : entries.length),
    };
  }

  /** When the last update under the policy was finished, on whichever node: it may be gone since. */
  lastFinishedAt(policy: string): number {
    const known = [...this.#ledgers.all].map((one) => this.#ledgers.of(one).policies[policy]?.lastFinishedAt);
    return Math.max(-Infinity, ...known.flatMap((time) => Math.min(instantOf(time) ?? -Infinity, this.#terms.now)));
  }

  #overOf(key: string, failed: number): OverPolicies {
    const known = this.#over.get(key) ?? new OverPolicies(failed, this.#terms.now);
    this.#over.set(key, known);
    return known;
  }
}
