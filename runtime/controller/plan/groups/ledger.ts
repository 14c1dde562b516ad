import { DAY_MS, instantOf, rfc3339 } from '../../../lib/clock.ts';
import { mergePatch } from '../../../lib/json.ts';
import { type Ledger, shown, under } from '../../../api/release/ledger.ts';
import type { Decision } from '../../../api/release/model.ts';
import { releaseObjectName } from '../../../api/release/names.ts';
import type { EnteredLedgers } from '../releases/entered.ts';
import type { Group, Groups } from './groups.ts';
import { keyOf, type Ledgers, type OsReleaseName } from '../facts/ledgers.ts';
import type { OsRelease } from '../releases/releases.ts';
import { compare, type ReleaseView } from '../facts/snapshot.ts';

/** What the ledger of one release is to be. */
export interface ReleaseWrite extends OsReleaseName {
  /** Of its object. */
  readonly name: string;
  /** As it was read; undefined where there is none yet. */
  readonly seen: ReleaseView | undefined;
  /** Undefined where nobody needs it any more. */
  readonly ledger: Ledger | undefined;
}

/** What is to be written to the ledgers, at most one write for each release, in the order of their families. */
export function ledgerWrites(ledgers: Ledgers, entered: EnteredLedgers, groups: Groups): readonly ReleaseWrite[] {
  const wanted = new Map<string, OsReleaseName>([...entered.all].map((one) => [keyOf(one), one]));
  for (const { releases } of groups.all) {
    for (const release of releases.all) if (needsLedger(release)) wanted.set(keyOf(release), release);
  }
  const sorted = [...wanted].toSorted(([a], [b]) => compare(a, b));
  return sorted.flatMap(([, release]) => {
    const seen = ledgers.of(release);
    const kept = keptOf(entered.of(release), { release, decision: ledgers.decisionOn(release) }, groups);
    if (!kept && !seen) return [];
    if (kept && seen && isSame(kept, seen.ledger)) return [];
    return { family: release.family, version: release.version, name: releaseObjectName(release), seen, ledger: kept };
  });
}

const isSame = (a: Ledger, b: Ledger): boolean => Object.keys(mergePatch({ ...a }, { ...b })).length === 0;

/** Somebody waits for it or heads for it. */
const needsLedger = ({ wanted, isUnderWay }: OsRelease): boolean => wanted || isUnderWay;

interface Kept {
  readonly release: OsReleaseName;
  readonly decision: Decision;
}

/** A release that nobody needs is forgotten after this time. */
const UNUSED_MS = 7 * DAY_MS;

/** Undefined where it is to be forgotten. A person's decision keeps it, and so do failures. */
function keptOf(before: Ledger, { release, decision }: Kept, groups: Groups): Ledger | undefined {
  const { family, version } = release;
  const { now } = groups;
  let ledger = before;
  let isUsed = groups.families.knows(family, version);
  for (const group of groups.all) {
    ledger = underPolicy(ledger, group, { release, now });
    isUsed ||= group.releases.of(family, version).isUnderWay;
  }
  const unusedSince = isUsed ? null : (ledger.unusedSince ?? rfc3339(now));
  const isForgotten = (instantOf(unusedSince) ?? now) + UNUSED_MS <= now;
  if (isForgotten && decision === 'Automatic' && Object.keys(ledger.failures).length === 0) return undefined;
  return shown({ ...ledger, unusedSince, firstOfferedAt: ledger.firstOfferedAt ?? rfc3339(now) }, decision);
}

interface At {
  readonly release: OsReleaseName;
  readonly now: number;
}

function underPolicy(ledger: Ledger, group: Group, { release, now }: At): Ledger {
  const { rules, releases } = group;
  if (releases.family(release.family).members === 0) return ledger;
  const name = rules.name ?? '';
  const before = ledger.policies[name] ?? {};
  const at = rfc3339(now);
  const seen = releases.of(release.family, release.version);
  return under(ledger, name, {
    ...seen.proof.standing(at),
    lastFinishedAt: laterOf(before.lastFinishedAt, seen.finishedAt),
    completedAt: before.completedAt ?? (seen.completeAt <= now ? at : null),
    lastSeenAt: isRecent(before.lastSeenAt, now) ? before.lastSeenAt : at,
  });
}

const laterOf = (before: string | null | undefined, finishedAt: number): string | null =>
  finishedAt > (instantOf(before) ?? -Infinity) ? rfc3339(finishedAt) : (before ?? null);

const isRecent = (time: string | null | undefined, now: number): boolean =>
  (instantOf(time) ?? -Infinity) + DAY_MS > now;
