import { type LabelSelector, selects } from '../../lib/selector.ts';
import type { UpdatePolicy } from '../../policy/policy.ts';
import { cyclesOf } from './dependencies.ts';
import { type BrokenPolicy, compare, type NodeView, type PolicyView, type Snapshot, variablesOf } from './snapshot.ts';
import { type Finding, found, listed } from './verdict.ts';

/** Who decides for a node. */
export interface Ruling {
  /** The policy that rules it, or would if it could be obeyed; undefined where several claim it. */
  readonly view: PolicyView | undefined;
  /** Those that claim it, where these are several. */
  readonly rivals: readonly PolicyView[];
  /** What its updates are measured by; where nobody can say, that is what the variables say. */
  readonly rules: UpdatePolicy;
  /** Why nothing starts on it. */
  readonly against: Finding | undefined;
}

interface Claim {
  readonly selector: LabelSelector;
  readonly priority: number;
  readonly ruling: Ruling & { readonly view: PolicyView };
}

const NONE: readonly PolicyView[] = [];
/** The place of the variables where there are no policies. */
const ONLY: readonly number[] = [0];

type Labelled = Pick<NodeView, 'labels'>;

/** By node, the places of the claims that it is ruled by. */
type Selections = WeakMap<Labelled, readonly number[]>;

/**
 * What selectors select is remembered for as long as the policies are the same objects, and the node too: to ask 20 selectors of 10,000
 * nodes takes longer than the rest of a plan. It is kept by the policy of the variables, of which each planner has one.
 */
const SELECTIONS = new WeakMap<UpdatePolicy, { readonly of: readonly unknown[]; readonly selections: Selections }>();

function selectionsOf(policies: readonly PolicyView[], variables: UpdatePolicy): Selections {
  const known = SELECTIONS.get(variables);
  const isSame = known?.of.length === policies.length && policies.every(({ policy }, at) => policy === known.of[at]);
  if (known && isSame) return known.selections;
  const selections: Selections = new WeakMap();
  SELECTIONS.set(variables, { of: policies.map(({ policy }) => policy), selections });
  return selections;
}

/** Which policy rules a node: of those that select it, the one of the highest priority, whole. Nothing is merged. */
export class Rulings {
  /** Nobody can say which policies there are, or what one of them selects: nothing starts anywhere. */
  readonly unknown: Finding | undefined;
  /** Nobody can say which nodes these rule. */
  readonly lost: readonly BrokenPolicy[];
  /** Highest priority first. The last is that of the variables, which select every node. */
  readonly #claims: readonly Claim[];
  readonly #conflicts = new Map<string, Ruling>();
  readonly #variables: UpdatePolicy;
  readonly #known: Selections;

  constructor(snapshot: Pick<Snapshot, 'policies' | 'policiesUnread'>) {
    const { policies, policiesUnread } = snapshot;
    this.#variables = variablesOf(snapshot).policy;
    const cycles = cyclesOf(policies);
    const claims = policies.map((view) => claimOf(view, { variables: this.#variables, cycles }));
    this.lost = policies.flatMap((view, index) => (view.kind === 'broken' && !claims[index] ? view : []));
    this.unknown = policiesUnread === undefined ? unreadable(this.lost) : found('PolicyInvalid', policiesUnread);
    this.#claims = claims.filter((claim) => claim !== undefined).toSorted(byPriority);
    this.#known = selectionsOf(policies, this.#variables);
  }

  /** One for each policy of which it is known what it selects, in the order in which their nodes start. */
  get all(): readonly (Ruling & { readonly view: PolicyView })[] {
    return this.#claims.map(({ ruling }) => ruling);
  }

  of(node: Labelled): Ruling {
    const places = this.#claims.length === 1 ? ONLY : (this.#known.get(node) ?? this.#select(node));
    const claim = this.#claims[places[0] ?? -1];
    if (!claim) throw new TypeError('expected the policy of the variables to select every node');
    return places.length === 1 ? claim.ruling : this.#conflictOf(places.flatMap((at) => this.#claims[at] ?? []));
  }

  /** The places of those of the highest priority among the claims that select it. */
  #select(node: Labelled): readonly number[] {
    const selected: number[] = [];
    let highest: number | undefined;
    for (const [at, { selector, priority }] of this.#claims.entries()) {
      if (highest !== undefined && priority !== highest) break;
      if (!selects(selector, node.labels)) continue;
      highest = priority;
      selected.push(at);
    }
    this.#known.set(node, selected);
    return selected;
  }

  #conflictOf(rivals: readonly Claim[]): Ruling {
    const names = rivals.map(({ ruling }) => ruling.view.policy.name ?? '').toSorted();
    const known = this.#conflicts.get(names.join());
    if (known) return known;
    const message = `policies of the same priority select it: ${names.join(', ')}`;
    const ruling = {
      view: undefined,
      rivals: rivals.map((rival) => rival.ruling.view),
      rules: this.#variables,
      against: found('PolicyConflict', message),
    };
    this.#conflicts.set(names.join(), ruling);
    return ruling;
  }
}

interface Known {
  readonly variables: UpdatePolicy;
  readonly cycles: ReadonlyMap<string, readonly string[]>;
}

/** Undefined where it is not known what it claims. */
function claimOf(view: PolicyView, { variables, cycles }: Known): Claim | undefined {
  if (view.kind === 'broken') {
    const { name, faults, selector, priority } = view.policy;
    if (!selector || priority === undefined) return undefined;
    const against = found('PolicyInvalid', `policy ${name} cannot be obeyed: ${faults.join('; ')}`);
    return { selector, priority, ruling: { view, rivals: NONE, rules: { ...variables, name }, against } };
  }
  const { policy } = view;
  const cycle = policy.name === undefined ? undefined : cycles.get(policy.name);
  const against = cycle && found('PolicyInvalid', `policies wait for each other: ${cycle.join(', ')}`);
  return {
    selector: policy.selector,
    priority: policy.priority,
    ruling: { view, rivals: NONE, rules: policy, against },
  };
}

const byPriority = (a: Claim, b: Claim): number =>
  compare(b.priority, a.priority) || compare(a.ruling.rules.name ?? '', b.ruling.rules.name ?? '');

function unreadable(lost: readonly PolicyView[]): Finding | undefined {
  if (lost.length === 0) return undefined;
  const names = lost.map(({ policy }) => policy.name ?? '');
  return found('PolicyInvalid', `nobody can say which nodes these policies rule: ${listed(names)}`);
}
