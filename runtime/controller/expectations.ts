import { isAsNewAs } from '../kube/resource-version.ts';

/**
 * The resourceVersion of each shadow that the last acknowledged write of this process made. A view from before it is out of date, whatever
 * it says: it is told by the version, never by the values.
 */
export class Expectations {
  readonly #versions = new Map<string, string>();

  written(shadow: string, resourceVersion: string): void {
    this.#versions.set(shadow, resourceVersion);
  }

  isStale({ name, resourceVersion }: { readonly name: string; readonly resourceVersion: string }): boolean {
    const wanted = this.#versions.get(name);
    return wanted !== undefined && !isAsNewAs(resourceVersion, wanted);
  }

  /** Forgets shadows that are no more. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#versions.keys()) {
      if (!names.has(name)) this.#versions.delete(name);
    }
  }
}
