import { isAsNewAs } from '../kube/resource-version.ts';

interface Versioned {
  readonly name: string;
  readonly resourceVersion: string;
}

/**
 * The resourceVersion of each shadow that the newest acknowledged write of this process made. A view from before it is out of date, whatever
 * it says: it is told by the version, never by the values.
 */
export class Expectations {
  readonly #versions = new Map<string, string>();
  /** Shadows whose last write has been seen. */
  readonly #seen = new Set<string>();

  /** Acknowledgements may come in any order: an older one says nothing new. */
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

  /** Forgets shadows that are no more. One that is not in view yet, because the view is from before its creation, is not forgotten. */
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
