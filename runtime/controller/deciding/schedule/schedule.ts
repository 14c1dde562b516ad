import { DAY_MS } from '../../../lib/clock.ts';
import type { WindowState } from '../../plan/facts/policies.ts';

/** When updates may start. */
export interface Schedule {
  /** @param now milliseconds since the Unix epoch */
  at(now: number): WindowState;
}

/** A schedule looks ahead for a limited time. One that sees no change there is asked again after this time. */
const LONGEST_KNOWN_MS = DAY_MS;

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

/** Keeps an answer that takes long to find, for a day at most. */
export function daily<T>(find: (now: number) => T): (now: number) => T {
  let known: { readonly from: number; readonly answer: T } | undefined;
  return (now) => {
    if (!known || now < known.from || now >= known.from + LONGEST_KNOWN_MS) known = { from: now, answer: find(now) };
    return known.answer;
  };
}

/** Windows are looked at for this time ahead, and two of them at least, but no more than MOST_CHANGES: each change takes a moment to find. */
const FORESEEN_MS = 8 * LONGEST_KNOWN_MS;
const MOST_CHANGES = 64;

/**
 * How long the longest window ahead is open, milliseconds. Infinity where none is seen to close; undefined where none opens, as in a schedule that
 * is moments.
 */
export function longestOpening(schedule: Schedule, now: number): number | undefined {
  let [at, openSince, opened, longest] = [now, now, 0, 0];
  for (let changes = 0; changes < MOST_CHANGES && (at < now + FORESEEN_MS || opened < 2); changes++) {
    const { open, changesAt } = schedule.at(at);
    if (open && changesAt === undefined) return Infinity;
    if (changesAt === undefined) break;
    if (open) longest = Math.max(longest, changesAt - openSince);
    else [openSince, opened] = [changesAt, opened + 1];
    at = changesAt;
  }
  return longest > 0 ? longest : undefined;
}

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
