import type { WindowState } from '../plan/snapshot.ts';

/** When updates may start. */
export interface Schedule {
  /** @param now milliseconds since the Unix epoch */
  at(now: number): WindowState;
}

/** A schedule that sees no change ahead is asked again after this: it does not look into all of the future. */
const LONGEST_KNOWN_MS = 24 * 3_600_000;

/** Asks `schedule` again only once its answer can have changed: a long window takes a while to compute. */
export function cached(schedule: Schedule): Schedule {
  let known: Known | undefined;
  return {
    at(now) {
      if (!known || now < known.from || now >= endOf(known)) known = { from: now, state: schedule.at(now) };
      return known.state;
    },
  };
}

interface Known {
  readonly from: number;
  readonly state: WindowState;
}

function endOf({ from, state }: Known): number {
  return Math.min(state.changesAt ?? Infinity, from + LONGEST_KNOWN_MS);
}
