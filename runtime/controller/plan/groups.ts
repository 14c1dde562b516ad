import { concurrency } from '../../policy/quantity.ts';
import type { UpdatePolicy } from '../../policy/policy.ts';
import { Budget } from './budget.ts';
import type { AssessedNode } from './health.ts';
import { OsReleases } from './releases.ts';
import type { Ruling, Rulings } from './rulings.ts';
import type { Settings } from './settings.ts';
import type { PolicyView } from './snapshot.ts';
import { frozen } from './times.ts';
import type { GateResult } from './verdict.ts';
import { Zones } from './zones.ts';

/** The managed nodes that one policy rules, with all that is counted among them alone. */
export interface Group {
  readonly view: PolicyView;
  readonly rules: UpdatePolicy;
  /** Why none of them starts. */
  readonly against: Ruling['against'];
  /** By name. */
  readonly members: readonly AssessedNode[];
  readonly releases: OsReleases;
  readonly budget: Budget;
  readonly zones: Zones;
  /** Until when nothing starts after the last update that has ended, milliseconds since the Unix epoch. */
  readonly pausesUntil: number;
  /** Whether a freeze holds. */
  readonly freeze: GateResult;
  readonly now: number;
}

export class Groups {
  /** In the order in which their nodes start. */
  readonly all: readonly Group[];
  readonly #byView: ReadonlyMap<PolicyView, Group>;

  constructor(rulings: Rulings, managed: readonly AssessedNode[], time: Settings & { readonly now: number }) {
    const claims = new Map<PolicyView, Claims>(
      rulings.all.map(({ view }) => [view, { members: [], contested: new Set() }]),
    );
    for (const info of managed) {
      const { view, rivals } = info.ruling;
      if (view) claims.get(view)?.members.push(info);
      for (const rival of rivals) claims.get(rival)?.contested.add(info.node.family);
    }
    this.all = rulings.all.map((ruling) => groupOf(ruling, claims.get(ruling.view) ?? NOTHING, time));
    this.#byView = new Map(this.all.map((group) => [group.view, group]));
  }

  /** Undefined where several policies claim the node. */
  of({ ruling: { view } }: Pick<AssessedNode, 'ruling'>): Group | undefined {
    return view && this.#byView.get(view);
  }

  /** Where the node takes a part once it is busy: with the policy that rules it, or with each of several that claim it. */
  claiming(info: Pick<AssessedNode, 'ruling'>): readonly Group[] {
    const group = this.of(info);
    return group ? [group] : info.ruling.rivals.flatMap((rival) => this.#byView.get(rival) ?? []);
  }

  named(name: string): Group | undefined {
    return this.all.find(({ rules }) => rules.name === name);
  }
}

/** What one policy claims. */
interface Claims {
  readonly members: AssessedNode[];
  /** Families of the nodes that others claim as well. */
  readonly contested: Set<string>;
}

const NOTHING: Claims = { members: [], contested: new Set() };

function groupOf(
  { view, rules, against }: Ruling & { readonly view: PolicyView },
  { members, contested }: Claims,
  { returnTimeoutMs, agentTimeoutMs, now }: Settings & { readonly now: number },
): Group {
  return {
    view,
    rules,
    against,
    members,
    releases: new OsReleases(members, { ...rules, returnTimeoutMs, agentTimeoutMs, now }, contested),
    budget: new Budget(concurrency(rules.maxConcurrent, members.length)),
    zones: new Zones(rules.zones, members),
    pausesUntil: rules.pauseBetweenMs === 0 ? -Infinity : lastEndOf(members) + rules.pauseBetweenMs,
    freeze: frozen(rules, now),
    now,
  };
}

function lastEndOf(members: readonly AssessedNode[]): number {
  let last = -Infinity;
  for (const { shadow } of members) last = Math.max(last, shadow?.endedAt ?? -Infinity);
  return last;
}
