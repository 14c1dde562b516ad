import { concurrency } from '../../../api/policy/quantity.ts';
import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import { compareSemver, newerOf } from '../../../api/shadow/semver.ts';
import type { Book, Books } from '../releases/books.ts';
import { countNodes } from '../facts/node.ts';
import { type GroupTimes, timesOf } from './group-times.ts';
import type { AssessedNode, Fleet } from '../nodes/health.ts';
import type { OsReleaseName } from '../facts/ledgers.ts';
import { OsReleases } from '../releases/releases.ts';
import type { Ruling, Rulings } from '../facts/rulings.ts';
import type { PolicyView } from '../facts/policies.ts';
import type { Settings } from '../facts/snapshot.ts';

/** The managed nodes that one policy rules, with all that is counted among them alone. */
export interface Group extends GroupTimes {
  readonly view: PolicyView;
  readonly rules: UpdatePolicy;
  /** Why none of them starts. */
  readonly against: Ruling['against'];
  /** By name. */
  readonly members: readonly AssessedNode[];
  readonly releases: OsReleases;
  /** How many of them may be busy at once. */
  readonly capacity: number;
  readonly now: number;
}

export class Groups {
  readonly now: number;
  /** In the order in which their nodes start. */
  readonly all: readonly Group[];
  /** Counted over all groups together, and over nodes that several policies claim. */
  readonly families = new Families();
  readonly #byPolicy: ReadonlyMap<PolicyView['policy'], Group>;

  constructor(
    rulings: Rulings,
    fleet: Pick<Fleet, 'managed' | 'alike'>,
    { books, ...time }: Time & { readonly books: Books },
  ) {
    this.now = time.now;
    const all = rulings.all.map((one) => ({ ...one, counted: noneCounted(one, books, time) }));
    const byPolicy = new Map(all.map(({ view, counted }) => [view.policy, counted]));
    assign(fleet, byPolicy, this.families);
    this.all = all.map((one) => groupOf(one, books, time));
    this.#byPolicy = new Map(this.all.map((group) => [group.view.policy, group]));
  }

  /** Undefined where several policies claim the node. */
  of({ ruling: { policy } }: Pick<AssessedNode, 'ruling'>): Group | undefined {
    return policy && this.#byPolicy.get(policy);
  }

  /** Whose budgets a busy node takes a part of: that of the policy that rules it, or of each policy that claims it. */
  claiming(info: Pick<AssessedNode, 'ruling'>): readonly Group[] {
    const group = this.of(info);
    return group ? [group] : info.ruling.rivals.flatMap((rival) => this.#byPolicy.get(rival) ?? []);
  }

  named(name: string): Group | undefined {
    return this.all.find(({ rules }) => rules.name === name);
  }
}

type Time = Settings & { readonly now: number };

/** What was counted of the nodes of one policy. */
interface Counted {
  readonly members: AssessedNode[];
  /** Families of the nodes that others claim as well. */
  readonly contested: Set<string>;
  readonly releases: OsReleases;
}

function noneCounted({ ruling: { rules }, view }: Rulings['all'][number], books: Books, time: Time): Counted {
  const contested = new Set<string>();
  const { returnTimeoutMs, agentTimeoutMs, arrivingTaint, now } = time;
  const uid = view.resource?.uid ?? '';
  const bookOf = (release: OsReleaseName): Book => books.of(release, rules, uid);
  return {
    members: [],
    contested,
    releases: new OsReleases({ ...rules, uid, bookOf, returnTimeoutMs, agentTimeoutMs, arrivingTaint, now }, contested),
  };
}

type ByPolicy = ReadonlyMap<PolicyView['policy'], Counted>;

/** Counts each node in the group that it belongs to, and in its family. */
function assign({ managed, alike }: Pick<Fleet, 'managed' | 'alike'>, byPolicy: ByPolicy, families: Families): void {
  for (const info of managed) if (info.ruling.policy) byPolicy.get(info.ruling.policy)?.members.push(info);
  for (const those of alike) {
    const [one] = those;
    if (!one) continue;
    families.count(one, those);
    const { policy, rivals } = one.ruling;
    if (policy) byPolicy.get(policy)?.releases.count(one, those);
    else for (const rival of rivals) byPolicy.get(rival)?.contested.add(one.node.family);
  }
}

interface CountedPolicy {
  readonly ruling: Ruling;
  readonly view: PolicyView;
  readonly counted: Counted;
}

function groupOf({ ruling: { rules, against }, view, counted }: CountedPolicy, books: Books, { now }: Time): Group {
  const { members, releases } = counted;
  const { name = '', pauseBetweenMs } = rules;
  const endedAt = pauseBetweenMs === 0 ? -Infinity : Math.max(lastEndOf(members), books.lastFinishedAt(name));
  const pausesUntil = endedAt + pauseBetweenMs;
  releases.settle();
  return {
    view,
    rules,
    against,
    members,
    releases,
    capacity: concurrency(rules.maxConcurrent, countNodes(members)),
    ...timesOf({ rules, view }, pausesUntil, now),
    now,
  };
}

function lastEndOf(members: readonly AssessedNode[]): number {
  let last = -Infinity;
  for (const { shadow } of members) last = Math.max(last, shadow?.endedAt ?? -Infinity);
  return last;
}

/** What all hosts of a variant and architecture run and are offered, whichever policies rule them. */
class Family {
  readonly running = new Set<string>();
  readonly offered = new Set<string>();
  longestMs = 0;

  get versions(): readonly string[] {
    return [...this.running, ...this.offered];
  }
}

class Families {
  readonly #all = new Map<string, Family>();

  /** @param those managed nodes that are alike: the one, and all */
  count({ node, shadow }: AssessedNode, those: readonly AssessedNode[]): void {
    if (!shadow?.status) return;
    const { current_version: current, target_version: target } = shadow.status;
    const family = this.#of(node.family);
    family.running.add(current);
    if (target !== current) family.offered.add(target);
    for (const info of those) family.longestMs = Math.max(family.longestMs, info.shadow?.lastUpdateMs ?? 0);
  }

  #of(name: string): Family {
    const known = this.#all.get(name);
    if (known) return known;
    const family = new Family();
    this.#all.set(name, family);
    return family;
  }

  /** Whether any of its hosts runs the version or is offered it. */
  knows(family: string, version: string): boolean {
    return this.versionsOf(family).includes(version);
  }

  /** That any of its hosts runs or is offered. */
  versionsOf(family: string): readonly string[] {
    return this.#all.get(family)?.versions ?? [];
  }

  /** Whether it is newer than what any of its hosts runs. Of a family without hosts nothing is. */
  isAhead(family: string, version: string): boolean {
    const { running } = this.#all.get(family) ?? {};
    return running !== undefined && [...running].every((one) => compareSemver(version, one) > 0);
  }

  /** By family, the newest version that any of its hosts runs or is offered. */
  newest(): ReadonlyMap<string, string> {
    return new Map([...this.#all].map(([name, { versions }]) => [name, versions.reduce(newerOf)]));
  }

  /** The longest that a last update took, milliseconds; 0 where none is known. */
  longestUpdateMs(family: string): number {
    return this.#all.get(family)?.longestMs ?? 0;
  }
}
