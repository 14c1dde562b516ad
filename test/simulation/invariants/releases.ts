import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Entry, Instant, Release as OfferedRelease } from '../types.ts';
import { isOperator, nodeFacts, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { Absences, keyOf, mayFail, needed, Proofs, type Release, tally, well } from './proofs.ts';
import { changesLabels, NOTHING, type Rule, type RuleJudge, type Write } from './rule.ts';
import type { SeenNode } from './seen-node.ts';
import { ofSteps, type Step } from './starts.ts';

interface Asked extends Step {
  readonly release: Release;
}

/** Steps of nodes that have not themselves failed on the version, which may always try again; of whom it is surely known who rules them. */
function ofNewcomers(picture: Picture, judge: (asked: Asked) => string | undefined): RuleJudge {
  return ofSteps(picture, (step) => {
    const { node, shadow, write } = step;
    const { version } = shadow;
    const group = picture.rulings.groupOf(node.facts);
    if (!group || version === undefined || triesAgain(shadow, write)) return undefined;
    if (!picture.sight.known(picture.ruledAt(node), write.sentAt)) return undefined;
    return judge({ ...step, release: { group, family: node.facts.family, version } });
  });
}

/** It has failed on the version. An older operator's agent keeps no record: then it is the one that its spec names. */
function triesAgain({ version = '', status }: ShadowFacts, { before }: Write): boolean {
  if (!status || status.failed.length > 0 || status.reason !== undefined)
    return status?.failed.includes(version) ?? false;
  return status.crashes > 0 && before !== undefined && shadowFacts(before).version === version;
}

/** F1, and what may fail at most: no node starts on a version that is halted. */
export const halted: Rule = {
  name: 'halted',
  begin(picture) {
    const proofs = new Proofs(picture);
    // When it became too many, by release.
    const since = new Map<string, Instant>();
    const isHalted = (release: Release, now: Instant): boolean => {
      const { failed, members } = tally(picture, release);
      return failed.length >= mayFail(release.group, members, proofs.isProven(release, now));
    };
    const starts = ofNewcomers(picture, ({ kind, write, release }) => {
      const from = since.get(keyOf(release));
      if (kind !== 'start' || from === undefined || !picture.sight.known(from, write.sentAt)) return undefined;
      return isHalted(release, write.at) ? `on ${release.version}, which is halted` : undefined;
    });
    return {
      see(entry) {
        proofs.see(entry);
        const breaches = starts.see?.(entry) ?? NOTHING;
        if (changesFailures(entry)) noteHalts(picture, since, { at: entry.at, isHalted });
        return breaches;
      },
    };
  },
};

/** Others change nothing about who has failed on what, and where. */
function changesFailures(entry: Entry): boolean {
  if (entry.kind === 'process') return entry.process.includes('agent');
  if (entry.kind !== 'write') return false;
  const { resource, before, after, subresource } = entry;
  if (resource === 'bottlerocketupdatepolicies') return subresource !== 'status';
  if (resource === 'nodes') return changesLabels(entry) || isReady(before) !== isReady(after);
  if (resource !== 'bottlerocketshadows') return false;
  return !before || !after || failuresIn(shadowFacts(before)) !== failuresIn(shadowFacts(after));
}

const isReady = (node: KubeObject | undefined): boolean => node !== undefined && nodeFacts(node).ready;

const failuresIn = ({ verdict, status, version }: ShadowFacts): string =>
  [verdict?.reason, status?.current, version, ...(status?.failed ?? [])].join(' ');

function noteHalts(
  picture: Picture,
  since: Map<string, Instant>,
  { at, isHalted }: { readonly at: Instant; readonly isHalted: (release: Release, now: Instant) => boolean },
): void {
  const halts = new Set<string>();
  for (const [key, release] of blamed(picture)) if (isHalted(release, at)) halts.add(key);
  for (const key of since.keys()) if (!halts.has(key)) since.delete(key);
  for (const key of halts) if (!since.has(key)) since.set(key, at);
}

/** Releases on which any node has failed. */
function blamed(picture: Picture): ReadonlyMap<string, Release> {
  const found = new Map<string, Release>();
  for (const { facts } of picture.nodes.values()) {
    const shadow = picture.shadowOf(facts);
    const group = picture.rulings.groupOf(facts);
    if (!group) continue;
    for (const version of shadow ? blamedBy(shadow) : NOTHING) {
      const release = { group, family: facts.family, version };
      found.set(keyOf(release), release);
    }
  }
  return found;
}

function blamedBy({ status, verdict, version }: ShadowFacts): readonly string[] {
  const own = SETBACKS.has(verdict?.reason ?? '') ? [version, status?.current] : [];
  return [...(status?.failed ?? []), ...own].filter((one) => one !== undefined);
}

const SETBACKS: ReadonlySet<string> = new Set(['NotReturned', 'SoakFailed']);

/**
 * F2: until a release is proven, no more run it or are on their way to it than are needed for that; and with those that failed, no more are on
 * their way than may fail. The same holds for those that are disturbed for it.
 */
export const proof: Rule = {
  name: 'proof',
  begin(picture) {
    const proofs = new Proofs(picture);
    const absences = new Absences(picture);
    // By UID, when the node was first disturbed in this update.
    const disturbedAt = new Map<string, Instant>();
    const disturbances = ofSteps(picture, ({ kind, node, write }) => {
      if (kind === 'disturb') disturbedAt.set(node.facts.uid, write.at);
      else disturbedAt.delete(node.facts.uid);
      return undefined;
    });
    const steps = ofNewcomers(picture, (asked) => {
      const { kind, write, release } = asked;
      if (proofs.isProven(release, write.at, write.sentAt)) return undefined;
      const isKnown = ({ facts }: SeenNode): boolean =>
        kind === 'start' ||
        (isGoingOn(picture.shadowOf(facts)) &&
          picture.sight.known(disturbedAt.get(facts.uid) ?? Infinity, write.sentAt));
      const members = proofs.kinOf(release, write.sentAt).size;
      return tooMany(picture, asked, { members, counts: (one) => isKnown(one) && !absences.isAway(one, write.at) });
    });
    return {
      see(entry) {
        proofs.see(entry);
        absences.see(entry);
        disturbances.see?.(entry);
        return steps.see?.(entry) ?? NOTHING;
      },
    };
  },
};

/** An update that was ended before its reboot was asked for disturbs its node no more. */
const isGoingOn = (shadow: ShadowFacts | undefined): boolean =>
  shadow?.state !== 'Idle' || shadow.status?.record?.requested === true;

function tooMany(
  picture: Picture,
  { kind, node, write, release }: Asked,
  { members, counts }: { readonly members: number; readonly counts: (one: SeenNode) => boolean },
): string | undefined {
  const { group, version } = release;
  // Whoever has been given its label, or this policy, a moment ago may still be seen without it.
  const isSure = (one: SeenNode): boolean => picture.sight.known(picture.ruledAt(one), write.sentAt);
  const { failed, flying } = tally(picture, release);
  const moving = flying.filter((one) => one.facts.uid === node.facts.uid || (isSure(one) && counts(one)));
  const resting = picture
    .membersOf(group)
    .filter((one) => one.facts.family === release.family && isSure(one) && well(picture, one) === version)
    .filter(({ readyAt }) => picture.sight.known(readyAt, write.sentAt));
  const most = needed(group, members);
  const budget = mayFail(group, members, false);
  const reached = [...moving, ...resting];
  const verb = kind === 'start' ? 'are on their way' : 'are disturbed';
  if (reached.length > most) return `on ${version}, which is not proven: ${most} may, and ${namesOf(reached)} ${verb}`;
  const risked = [...moving, ...failed];
  if (risked.length <= budget) return undefined;
  return `on ${version}, which is not proven: ${budget} may fail on it, and ${namesOf(risked)} ${verb} or did`;
}

const namesOf = (nodes: readonly SeenNode[]): string =>
  nodes
    .map(({ facts }) => facts.name)
    .toSorted()
    .join(', ');

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
 * How many hosts go down for a bad release. Who failed on it and was forgotten (F4), or was written by an older client, makes room for another;
 * who was away for so long that nobody counted on him is one more; and what is ruled anew begins anew.
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
        const most =
          mayFail(release.group, members.get(release.family)!, false) + (forgotten.get(release.version) ?? 0);
        const what = `${reached.length} nodes went down for ${release.version}, which is bad, and ${most} may`;
        return reached.length > most ? [what] : NOTHING;
      },
    };
  },
};

/** Those that began later and went down for the same release. Whoever has failed on it may always try again: none stand against him. */
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
