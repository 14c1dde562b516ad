import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { Entry, Instant } from '../types.ts';
import type { Picture } from './picture.ts';
import type { Group } from './rulings.ts';

/** How old a count of nodes may be by which a share of them was reckoned, milliseconds. */
const COUNTED_WITHIN = 600_000;

/** What was true lately. */
class Recent {
  readonly #values: { until: Instant; readonly value: number }[] = [{ until: Infinity, value: 0 }];

  add(at: Instant, value: number): void {
    const last = this.#values.at(-1);
    if (last?.value === value) return;
    if (last) last.until = at;
    this.#values.push({ until: Infinity, value });
    while ((this.#values[0]?.until ?? Infinity) < at - COUNTED_WITHIN) this.#values.shift();
  }

  within(at: Instant): readonly number[] {
    return this.#values.filter(({ until }) => until >= at - COUNTED_WITHIN).map(({ value }) => value);
  }
}

/** Changes how many nodes somebody rules. */
const COUNTING: ReadonlySet<string> = new Set(['nodes', 'bottlerocketupdatepolicies']);

/** All managed nodes, those that a policy rules, or those of a family that it rules. */
interface Which {
  readonly group?: Pick<Group, 'name'>;
  readonly family?: string;
}

const keyOf = ({ group, family }: Which): string => JSON.stringify([group?.name, family]);

/** How many nodes there were lately of which a share is reckoned. */
export class Counted {
  readonly #picture: Picture;
  readonly #recent = new Map<string, Recent>();
  #standing = -1;

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  see(entry: Entry): void {
    const { standing } = this.#picture;
    if (entry.kind !== 'write' || !COUNTING.has(entry.resource) || standing === this.#standing) return;
    this.#standing = standing;
    const counts = this.#counts();
    for (const key of counts.keys()) getOrInsert(this.#recent, key, () => new Recent());
    for (const [key, recent] of this.#recent) recent.add(entry.at, counts.get(key) ?? 0);
  }

  most(which: Which, at: Instant): number {
    return Math.max(...this.#within(which, at));
  }

  least(which: Which, at: Instant): number {
    return Math.min(...this.#within(which, at));
  }

  #within(which: Which, at: Instant): readonly number[] {
    return this.#recent.get(keyOf(which))?.within(at) ?? [0];
  }

  #counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const count = (which: Which): void => void counts.set(keyOf(which), (counts.get(keyOf(which)) ?? 0) + 1);
    for (const { facts } of this.#picture.nodes.values()) {
      if (!facts.managed) continue;
      count({});
      const group = this.#picture.rulings.groupOf(facts);
      if (!group) continue;
      count({ group });
      count({ group, family: facts.family });
    }
    return counts;
  }
}
