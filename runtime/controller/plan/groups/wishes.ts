import type { PublishedReleases } from '../../../api/release/model.ts';
import type { VersionWish } from '../../../api/shadow/model.ts';
import { compareSemver, newerOf } from '../../../api/shadow/semver.ts';
import type { Ledgers } from '../facts/ledgers.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { Groups } from './groups.ts';

/** Which versions of a family there are: those that its repositories list, or where these are not read, those that anybody knows of. */
export class KnownVersions {
  readonly #ledgers: Pick<Ledgers, 'own'>;
  readonly #families: Pick<Groups['families'], 'versionsOf'>;
  readonly #published: PublishedReleases | undefined;
  readonly #newest = new Map<string, string | undefined>();

  constructor(ledgers: Pick<Ledgers, 'own'>, { families }: Pick<Groups, 'families'>, published?: PublishedReleases) {
    this.#ledgers = ledgers;
    this.#families = families;
    this.#published = published;
  }

  /** Undefined where none is known. */
  newestUpTo(max: string, family: string): string | undefined {
    const key = `${family} ${max}`;
    if (this.#newest.has(key)) return this.#newest.get(key);
    const fitting = this.#of(family).filter((version) => compareSemver(version, max) <= 0);
    const newest = fitting.length > 0 ? fitting.reduce(newerOf) : undefined;
    this.#newest.set(key, newest);
    return newest;
  }

  #of(family: string): readonly string[] {
    const listed = this.#published?.get(family);
    if (listed) return [...listed.keys()];
    const ledgers = [...this.#ledgers.own].filter((one) => one.family === family);
    return [...ledgers.map(({ version }) => version), ...this.#families.versionsOf(family)];
  }
}

/** What the policy of the node wants of its host's settings; undefined for nothing. @param back where it is to go back to. A host that is ordered its version has no such settings. */
export function wishFor(
  info: AssessedNode,
  known: Pick<KnownVersions, 'newestUpTo'>,
  back?: string,
): VersionWish | undefined {
  const { exact, max, ignoreWaves } = info.ruling.rules.version;
  if (info.shadow?.order) return undefined;
  const lock = exact ?? back ?? (max === undefined ? undefined : lockUpTo(max, info, known));
  if (lock === undefined && !ignoreWaves) return undefined;
  return { ...(lock !== undefined && { version_lock: lock }), ...(ignoreWaves && { ignore_waves: true }) };
}

/** Only where the host would take a newer one, which it no longer says once it is locked. What it runs is no reason to lock it. */
function lockUpTo(
  max: string,
  { node, shadow }: AssessedNode,
  known: Pick<KnownVersions, 'newestUpTo'>,
): string | undefined {
  const { status, spec } = shadow ?? {};
  if (!status) return undefined;
  if (compareSemver(status.target_version, max) <= 0 && spec?.version_wish?.version_lock == null) return undefined;
  const newest = known.newestUpTo(max, node.family);
  return newest !== undefined && compareSemver(newest, status.current_version) > 0 ? newest : undefined;
}

/** Null stands for nothing. */
export const isSameWish = (a: VersionWish | null | undefined, b: VersionWish | null | undefined): boolean =>
  (a?.version_lock ?? null) === (b?.version_lock ?? null) && (a?.ignore_waves ?? false) === (b?.ignore_waves ?? false);
