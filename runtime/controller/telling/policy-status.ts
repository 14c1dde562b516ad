import { isDeepStrictEqual } from 'node:util';
import { rfc3339 } from '../../lib/clock.ts';
import { withoutNulls } from '../../lib/json.ts';
import {
  MAX_FAMILY_RELEASES,
  MAX_RELEASES,
  type PolicyCondition,
  type PolicyConditionType,
  type PolicyRelease,
  type PolicyStatus,
} from '../../api/policy/model.ts';
import { compareSemver } from '../../api/shadow/semver.ts';
import { nameOf } from './events.ts';
import type { ConditionReport } from '../plan/answer/due-dates.ts';
import type { PolicyReport, ReleaseReport } from '../plan/answer/report.ts';
import { compare } from '../plan/facts/snapshot.ts';

/**
 * The status that the cluster should show. The times of a release are kept once they are written: it was first offered, proven and complete when
 * that was first seen, whichever process saw it.
 * @param before as it stands in the cluster; @param now milliseconds since the Unix epoch
 */
export function statusOf(report: PolicyReport, before: PolicyStatus | undefined, now: number): PolicyStatus {
  const { generation, nodes, nextChangeAt } = report;
  return {
    observedGeneration: generation,
    nodes,
    releases: releasesOf(report.releases, before?.releases ?? [], rfc3339(now)),
    nextChangeAt: nextChangeAt === undefined ? null : rfc3339(nextChangeAt),
    conditions: conditionsOf(report, before?.conditions ?? [], rfc3339(now)),
  };
}

/** Whether two statuses say the same. Null and absent are one. */
export function saysSame(a: PolicyStatus | undefined, b: PolicyStatus): boolean {
  return isDeepStrictEqual(withoutNulls(a ?? {}), withoutNulls(b));
}

/**
 * Within each family, releases that nodes wait for come first, then the newest. Releases that concern no node any more are kept while there is
 * room, because other policies may wait for them. Where there are too many families, the first releases of each stay.
 */
function releasesOf(
  reports: readonly ReleaseReport[],
  before: readonly PolicyRelease[],
  now: string,
): readonly PolicyRelease[] {
  const known = new Map<string, Stamped>(before.map((release) => [nameOf(release), { ...release, failed: 0 }]));
  const offered = new Set(reports.filter((report) => report.offered).map(nameOf));
  for (const report of reports) known.set(nameOf(report), stamped(report, known.get(nameOf(report)), now));
  const ordered = [...known.values()].toSorted(
    (a, b) =>
      Number(offered.has(nameOf(b))) - Number(offered.has(nameOf(a))) ||
      compareSemver(b.version, a.version) ||
      compare(a.family, b.family),
  );
  return [...Map.groupBy(ordered, ({ family }) => family).values()]
    .flatMap((releases) => releases.slice(0, MAX_FAMILY_RELEASES).map((release, rank) => ({ release, rank })))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_RELEASES)
    .map(({ release }) => release);
}

function stamped(
  { family, version, offered, proven, complete, failed }: ReleaseReport,
  before: PolicyRelease | undefined,
  now: string,
): Stamped {
  const stamp = (time: string | null | undefined, isSo: boolean): string | null => time ?? (isSo ? now : null);
  return {
    family,
    version,
    firstOfferedAt: stamp(before?.firstOfferedAt, offered),
    provenAt: stamp(before?.provenAt, proven),
    completedAt: stamp(before?.completedAt, complete),
    failed,
  };
}

type Stamped = PolicyRelease & { readonly failed: number };

/** Also one that the policy has no date for any more: it goes. */
const OWN: ReadonlySet<string> = new Set<PolicyConditionType>([
  'Accepted',
  'Progressing',
  'Halted',
  'WillMissDeadline',
]);

/** Conditions of other types are not ours, and stay. */
function conditionsOf(
  { generation, accepted, progressing, halted, deadline }: PolicyReport,
  before: readonly PolicyCondition[],
  now: string,
): readonly PolicyCondition[] {
  const condition = (type: PolicyConditionType, report: ConditionReport): PolicyCondition => {
    const last = before.find((one) => one.type === type);
    const lastTransitionTime = last?.status === report.status ? last.lastTransitionTime : now;
    return { type, ...report, observedGeneration: generation, lastTransitionTime };
  };
  const own = [condition('Accepted', accepted), condition('Progressing', progressing), condition('Halted', halted)];
  if (deadline) own.push(condition('WillMissDeadline', deadline));
  return [...own, ...before.filter(({ type }) => !OWN.has(type))];
}
