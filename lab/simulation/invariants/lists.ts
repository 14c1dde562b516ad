import type { Instant } from '../types.ts';
import { isController, LEASE, leaseOf, listIn, parsed } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { SEEN_AFTER } from './sight.ts';

/** L12: a holder changes only the list that its term has found, or has written. */
export const lists: Rule = {
  name: 'lists',
  begin: (picture) => {
    const judge = new Lists(picture);
    return ofWrites('leases', (write) => (write.name === LEASE ? judge.see(write) : NOTHING));
  },
};

class Lists {
  readonly #picture: Picture;
  /** The list as a controller has found it when it took the Lease over, or has left it. */
  #own: string | undefined;
  #takenAt: Instant = -Infinity;
  /** When somebody else last changed it. */
  #changedAt: Instant = -Infinity;

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  see({ by, before, after, at }: Write): readonly string[] {
    const [old, made] = [leaseOf(before), leaseOf(after)];
    const [was, is] = [listIn(old), listIn(made)];
    if (made.holder !== old.holder && isController(by)) this.#takenAt = at;
    else if (was === is) return NOTHING;
    else if (!isController(by)) this.#change(is, at);
    else if (was !== this.#own && this.#isKnown(at)) return [`${by} goes on from a list that it has not written`];
    if (isController(by)) this.#own = is;
    return NOTHING;
  }

  /** Who could not read what it has found has found nothing yet: people are told to take it off. */
  #change(list: string | undefined, at: Instant): void {
    if (isLegible(this.#own)) this.#changedAt = at;
    else this.#own = list;
  }

  /**
   * A term reads the list some time after it has begun. Where a holder could not give its Lease back, its next term has the same name: nothing tells the
   * two apart, so only what happens while nothing is in the way is judged.
   */
  #isKnown(at: Instant): boolean {
    return this.#changedAt - this.#takenAt >= SEEN_AFTER && this.#picture.sight.isClear(at);
  }
}

const isLegible = (list: string | undefined): boolean => list === undefined || Array.isArray(parsed(list));
