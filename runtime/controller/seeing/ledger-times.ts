import { withTimes } from '../../api/release/ledger.ts';
import { byWallClock, instantOf, type Moment, rfc3339 } from '../../lib/clock.ts';
import type { ReleaseView } from '../plan/facts/snapshot.ts';

/** When this process first saw a time that was ahead. */
interface Sight {
  readonly monotonic: number;
  /** By the wall clock, as it was last set. */
  readonly wall: number;
}

/** By less than this the wall clock is slewed. What is shown does not move with that. */
const STEP_MS = 1000;

/**
 * Times of ledgers that are ahead of this process's clock: either the clock of the leader that wrote them was fast, or this one is slow. What counts
 * from such a time would wait until it has come, so it counts as when this process first saw it stated. That holds for what is read alone: a plan
 * writes what it changes of the view, so a slow leader leaves to the next one what is stored. A new leader counts such a time anew.
 */
export class LedgerTimes {
  /** By object, which time of it, and what that states. */
  #sights: ReadonlyMap<string, Sight> = new Map();

  /** The view of a release without such times is the same object. */
  see(objects: readonly ReleaseView[], moment: Moment): readonly ReleaseView[] {
    const sights = new Map<string, Sight>();
    const seen = objects.map((view) => {
      const { size } = sights;
      const ledger = withTimes(view.ledger, (text, time) => {
        const stated = instantOf(text) ?? -Infinity;
        if (stated <= moment.now && this.#sights.size === 0) return text;
        const key = `${view.uid} ${time} ${text}`;
        const sight = this.#sightOf(key, stated, moment);
        if (!sight) return text;
        sights.set(key, sight);
        return sight.wall < stated ? rfc3339(sight.wall) : text;
      });
      return sights.size === size ? view : { ...view, ledger };
    });
    this.#sights = sights;
    return seen;
  }

  /** It is kept for as long as the time is stated: once that has come, it would be younger again. */
  #sightOf(key: string, stated: number, moment: Moment): Sight | undefined {
    const last = this.#sights.get(key);
    if (!last) return stated > moment.now ? { monotonic: moment.monotonic, wall: moment.now } : undefined;
    const wall = byWallClock(last.monotonic, moment);
    return Math.abs(wall - last.wall) < STEP_MS ? last : { ...last, wall };
  }
}
