import type { Entry, Instant, Release } from '../types.ts';
import { isController, isOperator, shadowFacts, type ShadowFacts } from './facts.ts';
import { isStart, type Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type RuleJudge, type Write } from './rule.ts';
import type { SeenNode } from './seen-node.ts';

/** What is known of the nodes of one family and one version. */
interface Tally {
  /** Names of nodes that failed on it, as their shadows say. */
  readonly failed: readonly string[];
  /** Names of nodes on their way to it that have not failed on it. */
  readonly flying: readonly string[];
  readonly members: number;
}

/** By what stands in the cluster; a failure that nobody has recorded is not counted. */
export function tally(picture: Picture, family: string, version: string): Tally {
  const of = [...picture.nodes.values()]
    .map(({ facts }) => facts)
    .filter((one) => one.managed && one.family === family);
  const failed: string[] = [];
  const flying: string[] = [];
  for (const facts of of) {
    const shadow = picture.shadowOf(facts);
    if (!shadow?.status) continue;
    if (hasFailed(shadow, version)) failed.push(facts.name);
    else if (shadow.active && shadow.version === version) flying.push(facts.name);
  }
  return { failed, flying, members: of.length };
}

/** What a verdict says of a node that did not come back, or is unwell since, counts as well: it stands in the cluster. */
function hasFailed({ status, verdict, version: wanted }: ShadowFacts, version: string): boolean {
  if (!status) return false;
  if (verdict?.reason === 'NotReturned' && wanted === version) return true;
  if (verdict?.reason === 'SoakFailed' && status.current === version) return true;
  return status.current !== version && status.failed.includes(version);
}

interface Started {
  readonly write: Write;
  readonly shadow: ShadowFacts & { readonly version: string };
  readonly node: SeenNode;
}

/** Starts on a version on which the node itself has not failed: one that has may always try again. */
function ofFirstStarts(picture: Picture, judge: (started: Started) => readonly string[]): RuleJudge {
  return ofWrites('bottlerocketshadows', (write) => {
    if (!write.after || !isController(write.by)) return NOTHING;
    const before = write.before && shadowFacts(write.before);
    const shadow = shadowFacts(write.after);
    const node = picture.nodes.get(shadow.node);
    if (!isStart(before, shadow) || !node || shadow.version === undefined) return NOTHING;
    if (before?.status?.failed.includes(shadow.version)) return NOTHING;
    return judge({ write, shadow: { ...shadow, version: shadow.version }, node });
  });
}

/** F1, and MAX_FAILED_UPDATE: no node starts on a version that is halted. */
export const halted: Rule = {
  name: 'halted',
  begin(picture) {
    // When it became too many, by family and version.
    const since = new Map<string, Instant>();
    const starts = ofFirstStarts(picture, ({ write, shadow, node }) => {
      const from = since.get(`${node.facts.family} ${shadow.version}`);
      if (from === undefined || !picture.sight.known(from, write.sentAt)) return NOTHING;
      return [`${write.by} started ${shadow.node} on ${shadow.version}, which is halted`];
    });
    return {
      see(entry) {
        if (entry.kind !== 'write' || !['nodes', 'bottlerocketshadows'].includes(entry.resource)) return NOTHING;
        const breaches = starts.see?.(entry) ?? NOTHING;
        if (changesFailures(entry)) noteHalts(picture, since, entry.at);
        return breaches;
      },
    };
  },
};

/** Others change nothing about who has failed on what. */
function changesFailures({ resource, before, after }: Write): boolean {
  if (!before || !after) return true;
  return resource === 'bottlerocketshadows' && failuresIn(shadowFacts(before)) !== failuresIn(shadowFacts(after));
}

const failuresIn = ({ verdict, status, version }: ShadowFacts): string =>
  [verdict?.reason, status?.current, version, ...(status?.failed ?? [])].join(' ');

function noteHalts(picture: Picture, since: Map<string, Instant>, at: Instant): void {
  for (const key of new Set([...blamed(picture), ...since.keys()])) {
    const [family = '', version = ''] = key.split(' ');
    const { failed, members } = tally(picture, family, version);
    if (failed.length < picture.terms.maxFailed(members)) since.delete(key);
    else if (!since.has(key)) since.set(key, at);
  }
}

/** Versions on which any node has failed, with its family. */
function blamed(picture: Picture): readonly string[] {
  return [...picture.nodes.values()].flatMap(({ facts }) => {
    const shadow = picture.shadowOf(facts);
    const own = shadow && SETBACKS.has(shadow.verdict?.reason ?? '') ? [shadow.version, shadow.status?.current] : [];
    return [...(shadow?.status?.failed ?? []), ...own].map((version) => `${facts.family} ${version ?? ''}`);
  });
}

const SETBACKS: ReadonlySet<string> = new Set(['NotReturned', 'SoakFailed']);

/** A proof may have been lost so lately that nobody knows, milliseconds. */
const PROVEN_WITHIN = 600_000;

/** F2: until one has completed it, no more are on their way to a version than may fail on it. */
export const proof: Rule = {
  name: 'proof',
  begin(picture) {
    const provenAt = new Map<string, Instant>();
    const most = new Map<string, number>();
    const starts = ofFirstStarts(picture, ({ write, shadow, node }) => {
      const { family } = node.facts;
      if (write.at - (provenAt.get(`${family} ${shadow.version}`) ?? -Infinity) < PROVEN_WITHIN) return NOTHING;
      const { failed, flying, members } = tally(picture, family, shadow.version);
      most.set(family, Math.max(members, most.get(family) ?? 0));
      const budget = picture.terms.maxFailed(most.get(family) ?? members);
      // Whoever has been given its label back a moment ago may still be seen without it.
      const counted = flying.filter((name) => name === shadow.node || isSurelyManaged(picture, name, write.sentAt));
      const all = [...failed, ...counted].toSorted();
      return all.length > budget
        ? [`${shadow.version} is not proven, ${budget} may fail on it, and there are ${all.length}: ${all.join(', ')}`]
        : NOTHING;
    });
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        const breaches = starts.see?.(entry) ?? NOTHING;
        noteProofs(picture, provenAt, entry);
        return breaches;
      },
    };
  },
};

const isSurelyManaged = ({ nodes, sight }: Picture, name: string, sentAt: Instant): boolean =>
  sight.known(nodes.get(name)?.managedAt ?? Infinity, sentAt);

/** A proof that ends now has stood until now. */
function noteProofs(picture: Picture, provenAt: Map<string, Instant>, { resource, name, at }: Write): void {
  if (resource !== 'nodes' && resource !== 'bottlerocketshadows') return;
  const node = picture.nodes.get(resource === 'nodes' ? name : name.replace(/^brs-/, ''));
  const resting = node && restingOn(picture, node);
  if (node && resting !== undefined && (node.facts.ready || node.readyAt === at))
    provenAt.set(`${node.facts.family} ${resting}`, at);
}

/** The version that a node runs at rest. */
function restingOn(picture: Picture, { facts }: SeenNode): string | undefined {
  const shadow = picture.shadowOf(facts);
  return facts.managed && shadow && !shadow.active ? shadow.status?.current : undefined;
}

type Flaw = NonNullable<Release['bad']>;

/** How a version is bad that no node can prove: it never comes to rest there, or is never Ready, or nobody runs who could say so. */
const UNPROVABLE: ReadonlySet<Flaw> = new Set(['does-not-boot', 'never-ready', 'agent-never-runs']);

/** How many hosts go down for a bad release. Who failed on it and was forgotten (F4), or was written by an older client, makes room for another. */
export const reach: Rule = {
  name: 'reach',
  begin(picture, { releases }) {
    const bad = new Set(releases.filter((one) => one.bad && UNPROVABLE.has(one.bad)).map(({ version }) => version));
    const reached = new Map<string, Set<string>>();
    const forgotten = new Map<string, number>();
    const members = new Map<string, number>();
    return {
      see(entry) {
        noteMembers(picture, members, entry);
        for (const version of forgottenBy(entry)) forgotten.set(version, (forgotten.get(version) ?? 0) + 1);
        const struck = struckBy(picture, entry);
        if (!struck || !bad.has(struck.version)) return NOTHING;
        const { uid, version, family } = struck;
        const nodes = reached.get(`${family} ${version}`) ?? new Set();
        reached.set(`${family} ${version}`, nodes.add(uid));
        const most = picture.terms.maxFailed(members.get(family)!) + (forgotten.get(version) ?? 0);
        const what = `${nodes.size} nodes went down for ${version}, which is bad, and ${most} may`;
        return nodes.size > most ? [what] : NOTHING;
      },
    };
  },
};

/** The most nodes that there have been, by family. */
function noteMembers({ nodes }: Picture, members: Map<string, number>, entry: Entry): void {
  if (entry.kind !== 'write' || entry.resource !== 'nodes') return;
  const now = Map.groupBy(nodes.values(), ({ facts }) => facts.family);
  for (const [family, { length }] of now) members.set(family, Math.max(length, members.get(family) ?? 0));
}

/** The node that goes down for a reboot that was asked for, and for which version. */
function struckBy(
  picture: Picture,
  entry: Entry,
): { readonly uid: string; readonly version: string; readonly family: string } | undefined {
  if (entry.kind !== 'host' || entry.event.kind !== 'down' || !entry.event.asked) return undefined;
  const facts = picture.nodes.get(entry.node)?.facts;
  const version = facts && picture.shadowOf(facts)?.version;
  return version === undefined ? undefined : { uid: facts!.uid, family: facts!.family, version };
}

/** Versions of which somebody else has taken a failure, or an attempt, out of the cluster. */
function forgottenBy(entry: Entry): readonly string[] {
  if (entry.kind !== 'write' || entry.resource !== 'bottlerocketshadows' || !entry.before) return NOTHING;
  if (isOperator(entry.by) && entry.after) return NOTHING;
  const kept = new Set(entry.after ? triedBy(shadowFacts(entry.after)) : []);
  return [...new Set(triedBy(shadowFacts(entry.before)))].filter((version) => !kept.has(version));
}

const triedBy = ({ status, version }: ShadowFacts): readonly string[] => [
  ...(status?.failed ?? []),
  ...(version === undefined ? [] : [version]),
];
