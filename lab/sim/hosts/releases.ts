import { opensAt, type Wave } from '../../../runtime/api/waves/waves.ts';

/** An entry of the repository's manifest. */
export interface Release {
  readonly version: string;
  /** What a host may run at most: one above it is offered what there is. @default no limit */
  readonly maxVersion?: string;
  /** When hosts of this seed may have it, milliseconds since the Unix epoch, by the last seed of the wave. @default nobody waits */
  readonly waves?: Readonly<Record<number, number>>;
}

/** A host, as far as its position in the waves goes. */
export interface Waiting {
  readonly seed: number;
  readonly ignoreWaves: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export interface Chooser {
  readonly running: string;
  /** `latest` or an exact version, with or without a `v`. */
  readonly versionLock: string;
}

/** The update repository of one variant and architecture. Shared by hosts, and changed while they run. */
export class Releases {
  readonly #releases = new Map<string, Release>();
  #sorted: readonly string[] | undefined;

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

  /** As they were published, the newest first. */
  get listed(): readonly Release[] {
    return this.versions.flatMap((version) => this.#releases.get(version) ?? []);
  }

  has(version: string): boolean {
    return this.#releases.has(version);
  }

  /** What a host may have, whatever it runs: newest first, without what no wave has brought it. */
  available(host: Waiting): readonly string[] {
    return this.versions.filter((version) => {
      const { maxVersion = version, waves = {} } = this.#releases.get(version) ?? {};
      const isReady = host.ignoreWaves || host.now >= opensAt(wavesOf(waves), host.seed);
      return isReady && compareVersions(version, maxVersion) <= 0;
    });
  }

  /** The version that a host is offered of those that it may have; undefined when it stays where it is. It may be offered an older one. */
  choose({ running, versionLock }: Chooser, available: readonly string[]): string | undefined {
    const lock = versionLock.replace(/^v/, '');
    if (lock !== 'latest') return available.find((version) => version === lock && version !== running);
    return available.find((version) => {
      const { maxVersion = running } = this.#releases.get(version) ?? {};
      return compareVersions(running, version) < 0 || compareVersions(running, maxVersion) > 0;
    });
  }
}

/** Order of plain `X.Y.Z` versions, which is all that Bottlerocket releases have. */
const { compare: compareVersions } = new Intl.Collator('en', { numeric: true });

const wavesOf = (waves: Readonly<Record<number, number>>): readonly Wave[] =>
  Object.entries(waves).map(([seed, at]) => ({ seed: Number(seed), at }));
