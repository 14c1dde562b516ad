import { DAY_MS, instantOf, rfc3339 } from '../../../lib/clock.ts';
import { mergePatch } from '../../../lib/json.ts';
import { type Ledger, shown, under } from '../../../api/release/ledger.ts';
import { releaseObjectName } from '../../../api/release/names.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import type { Checks } from './checks.ts';
import type { EnteredLedgers } from '../releases/entered.ts';
import type { Group, Groups } from './groups.ts';
import { keyOf, type Ledgers, type OsReleaseName } from '../facts/ledgers.ts';
import type { OsRelease } from '../releases/os-release.ts';
import { compare, type ReleaseView, type Snapshot } from '../facts/snapshot.ts';

/** What the ledger of one release is to be. */
export interface ReleaseWrite extends OsReleaseName {
  /** Of its object. */
  readonly name: string;
  /** As it was read; undefined where there is none yet. */
  readonly seen: ReleaseView | undefined;
  /** Undefined where nobody needs it any more. */
  readonly ledger: Ledger | undefined;
}

interface Seen {
  readonly snapshot: Pick<Snapshot, 'releases'>;
  readonly ledgers: Ledgers;
  readonly entered: EnteredLedgers;
  readonly groups: Groups;
  readonly checks: Pick<Checks, 'noted'>;
}

/** What is to be written to the ledgers, at most one write for each release, in the order of their families. */
export function ledgerWrites(seen: Seen): readonly ReleaseWrite[] {
  const { ledgers, entered, groups } = seen;
  const wanted = new Map<string, OsReleaseName>([...entered.all].map((one) => [keyOf(one), one]));
  for (const release of ahead(seen)) wanted.set(keyOf(release), release);
  for (const { releases } of groups.all) {
    for (const release of releases.all) if (needsLedger(release)) wanted.set(keyOf(release), release);
  }
  const sorted = [...wanted].toSorted(([a], [b]) => compare(a, b));
  return sorted.flatMap(([, release]) => {
    const before = ledgers.of(release);
    const ledger = keptOf(release, seen);
    if (!ledger && !before) return [];
    if (ledger && before && isSame(ledger, before.ledger)) return [];
    const { family, version } = release;
    return { family, version, name: releaseObjectName(release), seen: before, ledger };
  });
}

/** Releases of a family that get a ledger before anybody is offered them, at most: the newest. */
const MOST_AHEAD = 20;

/** Published releases that are newer than what their family runs, so that people can look at them, and halt them, first. */
function ahead({ groups, snapshot }: Seen): readonly OsReleaseName[] {
  return [...(snapshot.releases.published ?? [])].flatMap(([family, versions]) =>
    [...versions.keys()]
      .filter((version) => groups.families.isAhead(family, version))
      .toSorted((a, b) => compareSemver(b, a))
      .slice(0, MOST_AHEAD)
      .map((version) => ({ family, version })),
  );
}

const isSame = (a: Ledger, b: Ledger): boolean => Object.keys(mergePatch({ ...a }, { ...b })).length === 0;

/** Somebody waits for it or heads for it. */
const needsLedger = ({ wanted, isUnderWay }: OsRelease): boolean => wanted || isUnderWay;

/** A release that nobody needs is forgotten after this time. */
const UNUSED_MS = 7 * DAY_MS;

/** Undefined where it is to be forgotten. What a person decides or says of it keeps it, and so do failures. */
function keptOf(release: OsReleaseName, seen: Seen): Ledger | undefined {
  const { ledgers, entered, groups } = seen;
  const { now } = groups;
  const ledger = counted(withPublished(entered.of(release), release, seen), release, seen);
  const decision = ledgers.decidedOn(release);
  const unusedSince = isNeeded(ledger, release, groups) ? null : (ledger.unusedSince ?? rfc3339(now));
  const isForgotten = (instantOf(unusedSince) ?? now) + UNUSED_MS <= now;
  const isKept = ledgers.isOfPeople(release) || decision !== 'Automatic' || hasFailed(ledger);
  if (isForgotten && !isKept) return undefined;
  return shown({ ...ledger, unusedSince }, decision);
}

const hasFailed = ({ failures }: Ledger): boolean => Object.keys(failures).length > 0;

const isUsed = (release: OsReleaseName, { families, all }: Groups): boolean =>
  families.knows(release.family, release.version) ||
  all.some(({ releases }) => releases.of(release.family, release.version).isUnderWay);

const isNeeded = ({ published }: Ledger, release: OsReleaseName, groups: Groups): boolean =>
  isUsed(release, groups) || (published != null && groups.families.isAhead(release.family, release.version));

/** Of what is only published nothing is counted until somebody is offered it. */
function counted(ledger: Ledger, release: OsReleaseName, { groups, checks }: Seen): Ledger {
  const { now, all } = groups;
  if (ledger.firstOfferedAt == null && !hasFailed(ledger) && !isUsed(release, groups)) return ledger;
  const firstOfferedAt = ledger.firstOfferedAt ?? rfc3339(now);
  const offered: Ledger = { ...ledger, firstOfferedAt };
  return all.reduce((one, group) => checks.noted(underPolicy(one, group, release), group, release), offered);
}

/** What stood there stays while the repositories of the family have not been read. */
function withPublished(ledger: Ledger, { family, version }: OsReleaseName, { snapshot, groups }: Seen): Ledger {
  const listed = snapshot.releases.published?.get(family);
  if (listed === undefined) return ledger;
  const publication = listed.get(version);
  if (!publication) return ledger.published == null ? ledger : { ...ledger, published: null };
  const firstSeenAt = ledger.published?.firstSeenAt ?? rfc3339(groups.now);
  return { ...ledger, published: { ...publication, firstSeenAt } };
}

function underPolicy(ledger: Ledger, group: Group, release: OsReleaseName): Ledger {
  const { rules, releases, now } = group;
  if (releases.family(release.family).members === 0) return ledger;
  const name = rules.name ?? '';
  const before = ledger.policies[name] ?? {};
  const at = rfc3339(now);
  const seen = releases.of(release.family, release.version);
  return under(ledger, name, {
    ...seen.proof.standing(at),
    lastFinishedAt: laterOf(before.lastFinishedAt, rules.pauseBetweenMs === 0 ? -Infinity : seen.finishedAt),
    completedAt: before.completedAt ?? (seen.completeAt <= now ? at : null),
    lastSeenAt: isRecent(before.lastSeenAt, now) ? before.lastSeenAt : at,
  });
}

const laterOf = (before: string | null | undefined, finishedAt: number): string | null =>
  finishedAt > (instantOf(before) ?? -Infinity) ? rfc3339(finishedAt) : (before ?? null);

const isRecent = (time: string | null | undefined, now: number): boolean =>
  (instantOf(time) ?? -Infinity) + DAY_MS > now;
