import type { Instant } from '../types.ts';
import type { Sorted } from './liveness.ts';
import { NOTHING } from './rule.ts';
import { SAID_WITHIN } from './unwell.ts';

const MINUTE = 60_000;

/** Nodes that say nothing right, in the midst of the calm. */
export class Silences {
  readonly #sorted: Sorted;
  /** Since when a node stands wrong, by its name. */
  readonly #since = new Map<string, Instant>();
  readonly #told = new Set<string>();
  #known = -1;
  #lookedAt: Instant = -Infinity;

  constructor(sorted: Sorted) {
    this.#sorted = sorted;
  }

  /** A sentence for each node that has long stood wrong. It looks once a minute, and whenever anything has changed by which verdicts go. */
  look(now: Instant): readonly string[] {
    const { standing, calmAt } = this.#sorted.picture;
    if (calmAt === undefined || (standing === this.#known && now - this.#lookedAt < MINUTE)) return NOTHING;
    this.#known = standing;
    this.#lookedAt = now;
    return this.#sorted.isForsaken() ? this.#forget() : this.#late(now);
  }

  wasTold(name: string): boolean {
    return this.#told.has(name);
  }

  #forget(): readonly string[] {
    this.#since.clear();
    return NOTHING;
  }

  #late(now: Instant): readonly string[] {
    const late: string[] = [];
    for (const [name, standing] of this.#sorted.standings(now)) {
      if (typeof standing === 'string') {
        this.#since.delete(name);
        continue;
      }
      const since = this.#since.get(name) ?? now;
      this.#since.set(name, since);
      const silentMs = now - since;
      if (silentMs < SAID_WITHIN + (standing.moreMs ?? 0) || this.#told.has(name)) continue;
      this.#told.add(name);
      late.push(`${name}: ${standing.wrong}, for ${Math.round(silentMs / MINUTE)} minutes too long`);
    }
    return late;
  }
}
