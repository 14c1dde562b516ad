import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { NodeFacts } from './facts.ts';
import { type PolicyFacts, policyFacts } from './policy-facts.ts';
import type { Terms } from './settings.ts';

/** What holds for a node: the terms of the policy that rules it, or of the variables; or nothing may start, because nobody knows. */
export type Ruling =
  | { readonly kind: 'ruled'; readonly by: Group }
  | { readonly kind: 'broken' | 'conflict'; readonly names: readonly string[] };

/** Nodes that one policy rules, and its terms. The name of the variables is empty. */
export type Group = Readonly<{
  [K in Exclude<keyof PolicyFacts, 'priority' | 'selects' | 'broken' | 'letsFinish'>]: NonNullable<PolicyFacts[K]>;
}> &
  Pick<PolicyFacts, 'letsFinish'>;

/** Of the variables: a policy that says nothing. */
const NOBODYS = { metadata: { name: '', uid: '', resourceVersion: '' } };

/** Who rules which node, by policies as they stand. */
export class Rulings {
  readonly #policies: ReadonlyMap<string, PolicyFacts>;
  readonly #variables: Ruling;
  readonly #groups: ReadonlyMap<string, Ruling>;
  readonly #known = new WeakMap<NodeFacts, Ruling>();

  constructor(policies: ReadonlyMap<string, PolicyFacts>, terms: Terms) {
    this.#policies = policies;
    this.#variables = { kind: 'ruled', by: groupOf(policyFacts(NOBODYS), terms) };
    this.#groups = new Map([...policies].map(([name, facts]) => [name, this.#rulingBy(facts, terms)] as const));
  }

  of(node: NodeFacts): Ruling {
    return getOrInsert(this.#known, node, () => this.#find(node));
  }

  /** The group that rules the node; undefined where none may start it. */
  groupOf(node: NodeFacts): Group | undefined {
    const ruling = this.of(node);
    return ruling.kind === 'ruled' ? ruling.by : undefined;
  }

  get groups(): readonly Group[] {
    const all = [this.#variables, ...this.#groups.values()];
    return all.flatMap((ruling) => (ruling.kind === 'ruled' ? [ruling.by] : []));
  }

  #find({ labels }: NodeFacts): Ruling {
    if (this.#policies.size === 0) return this.#variables;
    const selecting = [...this.#policies.values()].filter(({ selects }) => selects(labels));
    if (selecting.length === 0) return this.#variables;
    const most = Math.max(...selecting.map(({ priority }) => priority));
    const highest = selecting.filter(({ priority }) => priority === most);
    if (highest.length > 1) return { kind: 'conflict', names: highest.map(({ name }) => name) };
    return this.#groups.get(highest[0]!.name)!;
  }

  #rulingBy(facts: PolicyFacts, terms: Terms): Ruling {
    const { name, broken } = facts;
    if (broken || this.#leadsTo(name, name)) return { kind: 'broken', names: [name] };
    return { kind: 'ruled', by: groupOf(facts, terms) };
  }

  /** Whether one has to come after the other. What nobody can obey waits for nothing. */
  #leadsTo(from: string, to: string, seen: ReadonlySet<string> = new Set()): boolean {
    const policy = this.#policies.get(from);
    const after = policy && !policy.broken ? policy.after : [];
    if (after.includes(to)) return true;
    return after.some((next) => !seen.has(next) && this.#leadsTo(next, to, new Set([...seen, next])));
  }
}

function groupOf(facts: PolicyFacts, terms: Terms): Group {
  return {
    ...facts,
    maxConcurrent: facts.maxConcurrent ?? terms.maxConcurrent,
    maxFailed: facts.maxFailed ?? terms.maxFailed,
    hasWindows: facts.hasWindows ?? terms.hasWindows,
    fits: facts.fits ?? terms.fits,
    proofNodes: facts.proofNodes ?? terms.proofNodes,
    settleMs: facts.settleMs ?? terms.settleMs,
  };
}
