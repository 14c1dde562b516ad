import { isAsNewAs } from '../../kube/objects.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ShadowView } from '../plan/facts/snapshot.ts';

type Versioned = Pick<ShadowView, 'name' | 'resourceVersion'>;

/** What the acknowledged writes to a shadow have made of it. */
interface Expectation {
  /** The newest resourceVersion. */
  readonly version: string;
  /** When the last of them was acknowledged, monotonic. */
  readonly at: number;
}

/**
 * What this process has written and its cache may not show yet. A view of a shadow that is older than the newest acknowledged write to it is stale,
 * whatever its values are.
 */
export class Expectations {
  readonly #clock: Clock;
  /** By name of the shadow. */
  readonly #expected = new Map<string, Expectation>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Acknowledgements may come in any order, so an older one changes no version. */
  written(shadow: string, resourceVersion: string): void {
    const known = this.#expected.get(shadow)?.version;
    const version = known !== undefined && isAsNewAs(known, resourceVersion) ? known : resourceVersion;
    this.#expected.set(shadow, { version, at: this.#clock.monotonic() });
  }

  isStale({ name, resourceVersion }: Versioned): boolean {
    const expected = this.#expected.get(name);
    return expected !== undefined && !isAsNewAs(resourceVersion, expected.version);
  }

  /** Forgets what the cache shows. One that is not in view yet, because the view is from before its creation, is still expected. */
  seen(shadows: readonly Versioned[]): void {
    if (this.#expected.size === 0) return;
    for (const shadow of shadows) if (!this.isStale(shadow)) this.#expected.delete(shadow.name);
  }

  /**
   * Forgets writes that were acknowledged before the list was asked for that the cache now shows. The list contains them, even where its versions
   * are lower, as they stay after etcd was restored from a backup.
   * @param askedAt monotonic
   */
  listed(askedAt: number): void {
    for (const [shadow, { at }] of this.#expected) if (at < askedAt) this.#expected.delete(shadow);
  }
}
