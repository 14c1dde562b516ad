import { DAY_MS, HOUR_MS } from '../../runtime/lib/clock.ts';

/** A share of the fleet may update from `afterMs` after the release on; shares are cumulative. */
export interface Wave {
  readonly afterMs: number;
  readonly percent: number;
}

/** How a real release goes out. */
export const DEFAULT_WAVES: readonly Wave[] = [
  { afterMs: HOUR_MS, percent: 1 },
  { afterMs: 4 * HOUR_MS, percent: 5 },
  { afterMs: DAY_MS, percent: 15 },
  { afterMs: 2 * DAY_MS, percent: 40 },
  { afterMs: 4 * DAY_MS, percent: 60 },
  { afterMs: 5 * DAY_MS, percent: 90 },
  { afterMs: 6 * DAY_MS, percent: 100 },
];

/** Seeds are 0 to 2047. */
export const SEEDS = 2048;

export interface Release {
  readonly version: string;
  /** When its waves begin, milliseconds since the Unix epoch; unset = long ago. */
  readonly startMs?: number;
  /** Unset = for every host at once. */
  readonly waves?: readonly Wave[];
}

/** What decides which release a host chooses. */
export interface Chooser {
  readonly running: string;
  readonly seed: number;
  readonly ignoreWaves: boolean;
  /** `latest` or an exact version. */
  readonly versionLock: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The update repository of one variant and architecture. Shared by hosts, and changed while they run. */
export class Releases {
  readonly #releases = new Map<string, Release>();
  #sorted: readonly string[] | undefined;
  /** Newer releases are not offered to anybody; unset = no limit. */
  maxVersion: string | undefined;

  constructor(versions: readonly string[]) {
    for (const version of versions) this.publish({ version });
  }

  publish(release: Release): void {
    this.#releases.set(release.version, release);
    this.#sorted = undefined;
  }

  withdraw(version: string): void {
    this.#releases.delete(version);
    this.#sorted = undefined;
  }

  /** Publishes a release that is newer than all others. */
  publishNewer(): void {
    const [major = '1', minor = '0'] = (this.versions[0] ?? '').split('.');
    this.publish({ version: `${major}.${Number(minor) + 1}.0` });
  }

  /** Newest first, the running and older ones included. */
  get versions(): readonly string[] {
    this.#sorted ??= [...this.#releases.keys()].toSorted((a, b) => compareVersions(b, a));
    return this.#sorted;
  }

  has(version: string): boolean {
    return this.#releases.has(version);
  }

  /** The version that a host is offered; undefined when it stays where it is. */
  choose({ running, versionLock, ...host }: Chooser): string | undefined {
    const offered = this.versions.find(
      (version) =>
        (versionLock === 'latest' || version === versionLock) &&
        (this.maxVersion === undefined || compareVersions(version, this.maxVersion) <= 0) &&
        this.#isReady(version, host),
    );
    if (offered === undefined || offered === running) return undefined;
    return versionLock === 'latest' && compareVersions(offered, running) < 0 ? undefined : offered;
  }

  #isReady(version: string, host: Pick<Chooser, 'seed' | 'ignoreWaves' | 'now'>): boolean {
    const { startMs = -Infinity, waves } = this.#releases.get(version) ?? {};
    if (host.ignoreWaves || !waves) return host.now >= startMs;
    const wave = waves.find(({ percent }) => (host.seed / SEEDS) * 100 < percent);
    return wave !== undefined && host.now >= startMs + wave.afterMs;
  }
}

/** Order of plain `X.Y.Z` versions, which is all that Bottlerocket releases have. */
const { compare: compareVersions } = new Intl.Collator('en', { numeric: true });
