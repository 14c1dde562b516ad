import { getOrInsert } from '../../../lib/maps.ts';
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
    { all }: Rulings,
    { managed, alike }: Pick<Fleet, 'managed' | 'alike'>,
    time: Settings & { readonly books: Books; readonly now: number },
  ) {
    this.now = time.now;
    const members = Map.groupBy(managed, ({ ruling }) => ruling.policy);
    const kinds = Map.groupBy(alike, ([one]) => one?.ruling.policy);
    const contested = contestedBy(kinds.get(undefined) ?? []);
    for (const those of alike) this.families.count(those);
    this.all = all.map((one) => {
      const { policy } = one.view;
      const nodes = { members: members.get(policy) ?? [], kinds: kinds.get(policy) ?? [] };
      return groupOf(one, { ...nodes, contested: contested.get(policy) ?? new Set() }, time);
    });
    this.#byPolicy = new Map(this.all.map((group) => [group.view.policy, group]));
    shareReleases(this.all);
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

/** Who has nodes for what another knows counts it too: over all as many may be at risk as the largest of their limits lets, whoever asks (rule F2). */
function shareReleases(all: readonly Group[]): void {
  const known = all.flatMap(({ releases }) => releases.all);
  for (const { releases } of all)
    for (const { family, version } of known) if (releases.family(family).members > 0) releases.of(family, version);
}

/** The nodes of one policy. */
interface Nodes extends Pick<Group, 'members'> {
  /** The same, those together that are alike. */
  readonly kinds: Fleet['alike'];
  /** Families of nodes that it would rule, but for others of its priority. */
  readonly contested: ReadonlySet<string>;
}

/** By policy, of which families it claims nodes together with others. @param kinds of nodes that several claim */
function contestedBy(kinds: Fleet['alike']): ReadonlyMap<PolicyView['policy'], ReadonlySet<string>> {
  const claims = kinds
    .flat()
    .flatMap(({ node, ruling }) => ruling.rivals.map((rival) => [rival, node.family] as const));
  const byRival = Map.groupBy(claims, ([rival]) => rival);
  return new Map([...byRival].map(([rival, those]) => [rival, new Set(those.map(([, family]) => family))]));
}

function groupOf(
  { ruling: { rules, against }, view }: Rulings['all'][number],
  { members, kinds, contested }: Nodes,
  { books, ...time }: Settings & { readonly books: Books; readonly now: number },
): Group {
  const { name = '', pauseBetweenMs } = rules;
  const uid = view.resource?.uid ?? '';
  const bookOf = (release: OsReleaseName): Book => books.of(release, rules, uid);
  const releases = new OsReleases({ ...time, ...rules, uid, bookOf }, contested);
  for (const those of kinds) releases.count(those);
  releases.settle();
  const endedAt = pauseBetweenMs === 0 ? -Infinity : Math.max(lastEndOf(members), books.lastFinishedAt(name));
  return {
    view,
    rules,
    against,
    members,
    releases,
    capacity: concurrency(rules.maxConcurrent, countNodes(members)),
    ...timesOf({ rules, view }, endedAt + pauseBetweenMs, time.now),
    now: time.now,
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

  /** @param those managed nodes that are alike */
  count(those: readonly AssessedNode[]): void {
    const [{ node, shadow } = {}] = those;
    if (!node || !shadow?.status) return;
    const { current_version: current, target_version: target } = shadow.status;
    const family = getOrInsert(this.#all, node.family, () => new Family());
    family.running.add(current);
    if (target !== current) family.offered.add(target);
    for (const info of those) family.longestMs = Math.max(family.longestMs, info.shadow?.lastUpdateMs ?? 0);
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
