import { compareSemver } from '../../shadow/semver.ts';
import type { AssessedNode } from './health.ts';

/** What is known of all hosts of a variant and architecture, whichever policies rule them. */
export class Families {
  /** By family, the versions that any of its hosts runs or is offered. */
  readonly #versions = new Map<string, Set<string>>();
  readonly #longestMs = new Map<string, number>();

  /** @param info a managed node */
  count({ node, shadow }: AssessedNode): void {
    if (!shadow?.status) return;
    const versions = this.#versions.get(node.family) ?? new Set();
    this.#versions.set(node.family, versions);
    versions.add(shadow.status.current_version).add(shadow.status.target_version);
    if (shadow.lastUpdateMs === undefined) return;
    this.#longestMs.set(node.family, Math.max(this.longestUpdateMs(node.family), shadow.lastUpdateMs));
  }

  /** By family, the newest version that any of its hosts runs or is offered. */
  newest(): ReadonlyMap<string, string> {
    return new Map([...this.#versions].map(([family, versions]) => [family, [...versions].reduce(newerOf)]));
  }

  /** The longest that a last update took, milliseconds; 0 where none is known. */
  longestUpdateMs(family: string): number {
    return this.#longestMs.get(family) ?? 0;
  }
}

/** Of two versions, the later one. */
export function newerOf(a: string, b: string): string {
  return compareSemver(a, b) < 0 ? b : a;
}
