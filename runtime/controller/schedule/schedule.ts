import type { WindowState } from '../plan/snapshot.ts';

/** When updates may start. */
export interface Schedule {
  /** @param now milliseconds since the Unix epoch */
  at(now: number): WindowState;
}

/** A schedule that sees no change ahead is asked again after this time, because it looks only so far ahead. */
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

const DAY_MS = 24 * 3600 * 1000;

/** Milliseconds since midnight of `HH:MM:SS`; undefined for anything else. */
export function timeOfDay(text: string): number | undefined {
  const [, hours, minutes, seconds] = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? undefined : (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}

/** Open each day, UTC, from `start` (inclusive) to `stop` (exclusive), over midnight where stop comes before start. */
export function dailySchedule(start: number, stop: number): Schedule {
  const length = (stop - start + DAY_MS) % DAY_MS;
  return {
    at(now) {
      const sinceStart = (((now - start) % DAY_MS) + DAY_MS) % DAY_MS;
      const open = sinceStart < length;
      return { open, triggeredAt: undefined, changesAt: now - sinceStart + (open ? length : DAY_MS) };
    },
  };
}
