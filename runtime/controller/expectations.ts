import { isAsNewAs } from '../kube/objects.ts';
import type { ShadowView } from './plan/snapshot.ts';

type Versioned = Pick<ShadowView, 'name' | 'resourceVersion'>;

/**
 * What this process has written and its cache may not show yet. For each shadow it has the resourceVersion that the newest acknowledged
 * write made. An older view is stale, whatever its values are.
 */
export class Expectations {
  readonly #versions = new Map<string, string>();
  /** Shadows whose last write has been seen. */
  readonly #seen = new Set<string>();

  /** Acknowledgements may come in any order, so an older one changes nothing. */
  written(shadow: string, resourceVersion: string): void {
    const known = this.#versions.get(shadow);
    if (known !== undefined && isAsNewAs(known, resourceVersion)) return;
    this.#versions.set(shadow, resourceVersion);
    this.#seen.delete(shadow);
  }

  isStale({ name, resourceVersion }: Versioned): boolean {
    const wanted = this.#versions.get(name);
    return wanted !== undefined && !isAsNewAs(resourceVersion, wanted);
  }

  /** Forgets shadows that were seen and are gone. One that is not in view yet, because the view is from before its creation, is kept. */
  retain(shadows: readonly Versioned[]): void {
    const present = new Set(shadows.map(({ name }) => name));
    for (const shadow of shadows)
      if (this.#versions.has(shadow.name) && !this.isStale(shadow)) this.#seen.add(shadow.name);
    for (const name of this.#seen) {
      if (present.has(name)) continue;
      this.#seen.delete(name);
      this.#versions.delete(name);
    }
  }
}
