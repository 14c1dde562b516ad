import type { FaultName } from './faults.ts';
import { MAX_SEED } from '../../../runtime/api/waves/waves.ts';
import type { Releases } from './releases.ts';
import type { HostSettings } from './settings.ts';
import type { HostParts } from './times.ts';

/** What keeps a host from its repository: how long it takes to see that, milliseconds, and what it says then. */
export interface RepositoryTrouble {
  readonly ms: number;
  readonly words: string;
}

/** Of a seed that no host makes for itself. */
const PANIC: RepositoryTrouble = { ms: 250, words: 'seed is out of range' };

const TROUBLES: Readonly<Partial<Record<FaultName, RepositoryTrouble>>> = {
  'repository-gone': { ms: 1000, words: 'Failed to fetch: 503 Service Unavailable' },
  'repository-expired': { ms: 250, words: 'timestamp metadata is expired' },
  'repository-dropped': { ms: 50_000, words: 'Failed to fetch: operation timed out' },
  'repository-silent': { ms: 150_000, words: 'Failed to fetch: error sending request' },
};

interface Parts extends HostParts {
  readonly releases: Releases;
  readonly settings: HostSettings;
}

/** The update repository as one host reaches it. */
export class HostRepository {
  readonly #parts: Parts;
  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What everybody who asks it now meets. */
  get trouble(): RepositoryTrouble | undefined {
    if (this.#parts.settings.rendered.seed > MAX_SEED) return PANIC;
    const names = Object.keys(TROUBLES) as FaultName[];
    const name = names.find((each) => this.#parts.faults.leftMs(each) > 0);
    return name && TROUBLES[name];
  }

  /** What this host may have, newest first. */
  get available(): readonly string[] {
    const { clock, faults, releases, settings, sets } = this.#parts;
    const { seed, 'ignore-waves': ignoreWaves } = settings.rendered;
    const versions = releases.available({ seed, ignoreWaves, now: clock.now() });
    if (faults.leftMs('no-wave') === 0) return versions;
    const { versions: all } = releases;
    return versions.filter((version) => all.indexOf(version) >= all.indexOf(sets.running));
  }

  /** What it is offered; undefined where it stays where it is. */
  get choice(): string | undefined {
    const { faults, releases, settings, sets } = this.#parts;
    const versionLock = faults.leftMs('downgrade') > 0 ? this.oldest : settings.rendered['version-lock'];
    return releases.choose({ running: sets.running, versionLock }, this.available);
  }

  get oldest(): string {
    return this.#parts.releases.versions.at(-1) ?? this.#parts.sets.running;
  }
}
