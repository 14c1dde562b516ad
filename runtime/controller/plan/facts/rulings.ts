import { type LabelSelector, selects } from '../../../lib/selector.ts';
import { getOrInsert } from '../../../lib/maps.ts';
import { cyclesIn } from '../../../api/policy/cycles.ts';
import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import { type BrokenPolicy, type PolicyView, variablesOf } from './policies.ts';
import { compare, type NodeView, type Snapshot } from './snapshot.ts';
import { type Finding, found, listed } from './verdict.ts';

type AnyPolicy = PolicyView['policy'];

/** Who decides for a node. */
export interface Ruling {
  /** The policy that rules it, or would if it could be obeyed; undefined where several claim it. */
  readonly policy: AnyPolicy | undefined;
  /** Those that claim it, where these are several. */
  readonly rivals: readonly AnyPolicy[];
  /** The rules that its updates follow: those of the variables where it is not known which policy rules it. */
  readonly rules: UpdatePolicy;
  /** Why nothing starts on it. */
  readonly against: Finding | undefined;
}

/** It is known which nodes it claims. */
type Claiming = AnyPolicy & { readonly selector: LabelSelector; readonly priority: number };
/** That of one policy. */
type Claim = Ruling & { readonly policy: Claiming };

/** For so long a policy has to rule a node before anything is decided by it: a sync may delete it for a moment, and labels may come after their node. */
export const RULED_FOR_MS = 30_000;

/** From when on something is decided by the policy that rules the node; -Infinity where it has ruled it for long. */
export const ruledFrom = ({ ruledSince }: Pick<Snapshot, 'ruledSince'>, uid: string): number =>
  (ruledSince?.get(uid) ?? -Infinity) + RULED_FOR_MS;

const NONE: readonly AnyPolicy[] = [];

type Labelled = Pick<NodeView, 'labels'>;

/** Which nodes policies claim, by their specs alone. */
class Claims {
  readonly #policies: readonly AnyPolicy[];
  /** Highest priority first. The last is that of the variables, which select every node. */
  readonly all: readonly Claim[];
  /** The ruling of every node, where there is no policy but that of the variables. */
  readonly #only: Ruling | undefined;
  readonly #variables: UpdatePolicy;
  readonly #conflicts = new Map<string, Ruling>();
  /** To ask 20 selectors of 10,000 nodes takes longer than the rest of a plan. */
  readonly #known = new WeakMap<Labelled, Ruling>();

  constructor(policies: readonly PolicyView[], variables: UpdatePolicy) {
    const named = policies.flatMap(({ kind, policy }) =>
      kind === 'valid' && policy.name !== undefined ? [[policy.name, policy.after] as const] : [],
    );
    const cycles = cyclesIn(new Map(named));
    this.#policies = policies.map(({ policy }) => policy);
    this.all = this.#policies
      .filter(isClaiming)
      .map((policy) => claimOf(policy, { variables, cycles }))
      .toSorted(byPriority);
    this.#only = this.all.length === 1 ? this.all[0] : undefined;
    this.#variables = variables;
  }

  /** Whether these policies would make the same claims. */
  areOf(policies: readonly PolicyView[]): boolean {
    return (
      policies.length === this.#policies.length && policies.every(({ policy }, at) => policy === this.#policies[at])
    );
  }

  of(node: Labelled): Ruling {
    return this.#only ?? getOrInsert(this.#known, node, () => this.#select(node));
  }

  /** The ruling of the claims that select the node, with the highest priority among them. */
  #select(node: Labelled): Ruling {
    const selected: Claim[] = [];
    let highest: number | undefined;
    for (const claim of this.all) {
      const { selector, priority } = claim.policy;
      if (highest !== undefined && priority !== highest) break;
      if (!selects(selector, node.labels)) continue;
      highest = priority;
      selected.push(claim);
    }
    const [claim] = selected;
    if (!claim) throw new TypeError('expected the policy of the variables to select every node');
    return selected.length === 1 ? claim : this.#conflictOf(selected);
  }

  #conflictOf(rivals: readonly Claim[]): Ruling {
    const names = rivals.map(({ policy }) => policy.name ?? '').toSorted();
    return getOrInsert(this.#conflicts, names.join(', '), (all) => ({
      policy: undefined,
      rivals: rivals.map(({ policy }) => policy),
      rules: this.#variables,
      against: found('PolicyConflict', `policies of the same priority select it: ${all}`),
    }));
  }
}

/** Which policy rules a node: of the policies that select it, the one with the highest priority. It rules alone; policies are not merged. */
export class Rulings {
  /** Why it is not known what a policy selects. Nothing starts anywhere meanwhile. */
  readonly unknown: Finding | undefined;
  /** Policies whose selector or priority cannot be read, so that it is not known which nodes they rule. */
  readonly lost: readonly BrokenPolicy[];
  /** Tells who rules a node. The answer stays the same for as long as the node is the same object. */
  readonly claims: Claims;
  /** One for each other policy, in the order in which their nodes start. */
  readonly all: readonly { readonly ruling: Ruling; readonly view: PolicyView }[];

  /** @param last of an earlier snapshot: its claims are kept for as long as the policies are the same objects */
  constructor(snapshot: Pick<Snapshot, 'policies'>, last?: Rulings) {
    const { policies } = snapshot;
    const claims = last?.claims.areOf(policies) ? last.claims : new Claims(policies, variablesOf(snapshot).policy);
    const views = new Map(policies.map((view) => [view.policy, view]));
    this.claims = claims;
    this.all = claims.all.flatMap((ruling) => {
      const view = views.get(ruling.policy);
      return view ? { ruling, view } : [];
    });
    this.lost = policies.flatMap((view) => (view.kind === 'broken' && !isClaiming(view.policy) ? view : []));
    this.unknown = unreadable(this.lost);
  }
}

interface Known {
  readonly variables: UpdatePolicy;
  readonly cycles: ReadonlyMap<string, readonly string[]>;
}

function claimOf(policy: Claiming, { variables, cycles }: Known): Claim {
  if ('faults' in policy) {
    const { name, faults } = policy;
    const against = found('PolicyInvalid', `policy ${name} cannot be obeyed: ${faults.join('; ')}`);
    return { policy, rivals: NONE, rules: { ...variables, name }, against };
  }
  const cycle = policy.name === undefined ? undefined : cycles.get(policy.name);
  const against = cycle && found('PolicyInvalid', `policies wait for each other: ${cycle.join(', ')}`);
  return { policy, rivals: NONE, rules: policy, against };
}

const byPriority = ({ policy: a }: Claim, { policy: b }: Claim): number =>
  compare(b.priority, a.priority) || compare(a.name ?? '', b.name ?? '');

const isClaiming = (policy: AnyPolicy): policy is Claiming =>
  policy.selector !== undefined && policy.priority !== undefined;

function unreadable(lost: readonly PolicyView[]): Finding | undefined {
  if (lost.length === 0) return undefined;
  const names = lost.map(({ policy }) => policy.name ?? '');
  return found('PolicyInvalid', `nobody can say which nodes these policies rule: ${listed(names)}`);
}
