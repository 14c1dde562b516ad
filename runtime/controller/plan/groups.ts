import { concurrency } from '../../policy/quantity.ts';
import type { UpdatePolicy } from '../../policy/policy.ts';
import { Budget } from './budget.ts';
import type { AssessedNode } from './health.ts';
import { OsReleases } from './releases.ts';
import type { Ruling, Rulings } from './rulings.ts';
import type { Settings } from './settings.ts';
import type { PolicyView } from './snapshot.ts';
import { type GroupTimes, timesOf } from './times.ts';
import { Zones } from './zones.ts';

/** The managed nodes that one policy rules, with all that is counted among them alone. */
export interface Group extends GroupTimes {
  readonly view: PolicyView;
  readonly rules: UpdatePolicy;
  /** Why none of them starts. */
  readonly against: Ruling['against'];
  /** By name. */
  readonly members: readonly AssessedNode[];
  readonly releases: OsReleases;
  readonly budget: Budget;
  readonly zones: Zones;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export class Groups {
  /** In the order in which their nodes start. */
  readonly all: readonly Group[];
  readonly #byView: ReadonlyMap<PolicyView, Group>;

  constructor(rulings: Rulings, managed: readonly AssessedNode[], time: Time) {
    const all = rulings.all.map((ruling) => ({ ruling, claims: claimsOf(ruling.rules, time) }));
    const byView = new Map(all.map(({ ruling, claims }) => [ruling.view, claims]));
    for (const info of managed) {
      const { view, rivals } = info.ruling;
      if (view) take(info, byView.get(view));
      else for (const rival of rivals) byView.get(rival)?.contested.add(info.node.family);
    }
    this.all = all.map(({ ruling, claims }) => groupOf(ruling, claims, time));
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

type Time = Settings & { readonly now: number };

/** What one policy claims. */
interface Claims {
  readonly members: AssessedNode[];
  /** Families of the nodes that others claim as well. */
  readonly contested: Set<string>;
  readonly releases: OsReleases;
}

function claimsOf(rules: UpdatePolicy, { returnTimeoutMs, agentTimeoutMs, now }: Time): Claims {
  const contested = new Set<string>();
  return {
    members: [],
    contested,
    releases: new OsReleases({ ...rules, returnTimeoutMs, agentTimeoutMs, now }, contested),
  };
}

function take(info: AssessedNode, claims: Claims | undefined): void {
  claims?.members.push(info);
  claims?.releases.count(info);
}

function groupOf(ruling: Ruling & { readonly view: PolicyView }, { members, releases }: Claims, { now }: Time): Group {
  const { view, rules, against } = ruling;
  const pausesUntil = rules.pauseBetweenMs === 0 ? -Infinity : lastEndOf(members) + rules.pauseBetweenMs;
  releases.settle();
  return {
    view,
    rules,
    against,
    members,
    releases,
    budget: new Budget(concurrency(rules.maxConcurrent, members.length)),
    zones: new Zones(rules.zones, members),
    ...timesOf(ruling, pausesUntil, now),
    now,
  };
}

function lastEndOf(members: readonly AssessedNode[]): number {
  let last = -Infinity;
  for (const { shadow } of members) last = Math.max(last, shadow?.endedAt ?? -Infinity);
  return last;
}
