import type { Entry, Instant, Release as OfferedRelease } from '../types.ts';
import { isOperator, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import type { Group } from './rulings.ts';
import { NOTHING, type Rule } from './rule.ts';
import { nodeIn, type SeenNode } from './seen-node.ts';

/** One release for the nodes of one group and family. */
interface Release {
  readonly group: Group;
  readonly family: string;
  readonly version: string;
}

const keyOf = ({ group, family, version }: Release): string => `${group.name} ${family} ${version}`;

/** So many more than are to prove a release may fail on it: one broken machine does not stop a fleet. */
const SPARE = 2;

/** How many may fail on a release that nobody has proven. */
export function mayFail({ maxFailed, proofNodes }: Group, members: number): number {
  return Math.min(maxFailed(members), Math.min(Math.max(1, proofNodes(members)), Math.max(1, members)) + SPARE);
}

type Flaw = NonNullable<OfferedRelease['bad']>;

/** How a version is bad that no node can prove: it never comes to rest there, or is never Ready, or nobody runs who could say so. */
const UNPROVABLE: ReadonlySet<Flaw> = new Set(['does-not-boot', 'never-ready', 'agent-never-runs']);

/** A host that went down for a release. */
interface Strike {
  readonly uid: string;
  readonly release: Release;
  /** When its update began. */
  readonly began: Instant;
  /** It has failed on the release before. */
  readonly isAgain: boolean;
}

/**
 * How many hosts go down for a bad release. A node whose failure was forgotten (F4), or dropped by an older client, makes room for another; one that
 * was away for so long that it counted no more is one more; and where another policy rules, counting begins anew.
 */
export const reach: Rule = {
  name: 'reach',
  begin(picture, { releases }) {
    const bad = new Set(releases.filter((one) => one.bad && UNPROVABLE.has(one.bad)).map(({ version }) => version));
    const absences = new Absences(picture);
    const strikes = new Map<string, Strike>();
    const forgotten = new Map<string, number>();
    const members = new Map<string, number>();
    let standing = -1;
    return {
      see(entry) {
        absences.see(entry);
        // A Node says of which family it is only with its first status.
        if (picture.standing !== standing && isOfNode(entry)) noteMembers(picture, members);
        standing = picture.standing;
        for (const version of forgottenBy(entry)) forgotten.set(version, (forgotten.get(version) ?? 0) + 1);
        const strike = strikeIn(picture, entry);
        if (!strike || !bad.has(strike.release.version)) return NOTHING;
        const { uid, release, began } = strike;
        if (absences.wasAway(uid, { since: began, now: entry.at })) return NOTHING;
        strikes.set(`${keyOf(release)} ${uid}`, strike);
        const ruledAt = Math.max(picture.policiesAt, ...[...picture.nodes.values()].map(({ labelsAt }) => labelsAt));
        const reached = reachedWith(strike, strikes, ruledAt);
        const most = mayFail(release.group, members.get(release.family)!) + (forgotten.get(release.version) ?? 0);
        const what = `${reached.length} nodes went down for ${release.version}, which is bad, and ${most} may`;
        return reached.length > most ? [what] : NOTHING;
      },
    };
  },
};

/** Those that began later and went down for the same release. A node that has failed on it may always try again, so none are counted against it. */
function reachedWith(
  { release, isAgain }: Strike,
  strikes: ReadonlyMap<string, Strike>,
  ruledAt: Instant,
): readonly Strike[] {
  if (isAgain) return [];
  return [...strikes.values()].filter((one) => keyOf(one.release) === keyOf(release) && one.began > ruledAt);
}

const isOfNode = (entry: Entry): boolean => entry.kind === 'write' && entry.resource === 'nodes';

/** The most nodes that there have been, by family. */
function noteMembers({ nodes }: Picture, members: Map<string, number>): void {
  const now = Map.groupBy(nodes.values(), ({ facts }) => facts.family);
  for (const [family, { length }] of now) members.set(family, Math.max(length, members.get(family) ?? 0));
}

/** The node that goes down for a reboot that was asked for, and for which release. */
function strikeIn(picture: Picture, entry: Entry): Strike | undefined {
  if (entry.kind !== 'host' || entry.event.kind !== 'down' || !entry.event.asked) return undefined;
  const node = picture.nodes.get(entry.node);
  return node && strikeOf(picture, node);
}

function strikeOf(picture: Picture, { facts }: SeenNode): Strike | undefined {
  const group = picture.rulings.groupOf(facts);
  const { version, status } = picture.shadowOf(facts) ?? {};
  if (!group || version === undefined) return undefined;
  const { uid, family } = facts;
  const isAgain = status?.failed.includes(version) ?? false;
  return { uid, release: { group, family, version }, began: picture.updates.get(uid)?.at ?? -Infinity, isAgain };
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

/** Nodes that were not Ready, or without their agent, for so long that nobody counts on them. */
class Absences {
  readonly #picture: Picture;
  readonly #longMs: number;
  /** By UID, when they were last back from such an absence. */
  readonly #backAt = new Map<string, Instant>();
  readonly #awaySince = new Map<string, Instant>();

  constructor(picture: Picture) {
    this.#picture = picture;
    this.#longMs = Math.min(picture.terms.returnTimeoutMs, picture.terms.soakTimeoutMs);
  }

  see(entry: Entry): void {
    const node = this.#picture.nodes.get(nodeIn(entry) ?? '');
    if (!node) return;
    const { uid, ready } = node.facts;
    const isThere = ready && this.#picture.agentOf(node.facts.name).runs;
    const since = this.#awaySince.get(uid);
    if (!isThere) this.#awaySince.set(uid, since ?? entry.at);
    else if (since !== undefined) {
      this.#awaySince.delete(uid);
      if (this.#isLong(since, entry.at)) this.#backAt.set(uid, entry.at);
    }
  }

  /** Whether nobody has counted on it at some time since. */
  wasAway(uid: string, { since, now }: { readonly since: Instant; readonly now: Instant }): boolean {
    const away = this.#awaySince.get(uid);
    return (this.#backAt.get(uid) ?? -Infinity) >= since || (away !== undefined && this.#isLong(away, now));
  }

  #isLong(since: Instant, now: Instant): boolean {
    return now - since >= this.#longMs - 60_000 - this.#picture.sight.apartMs;
  }
}
