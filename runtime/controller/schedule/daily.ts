import type { Schedule } from './schedule.ts';

const DAY = 24 * 3600 * 1000;

/** Milliseconds since midnight of `HH:MM:SS`; undefined for anything else. */
export function timeOfDay(text: string): number | undefined {
  const [, hours, minutes, seconds] = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? undefined : (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}

/** Open each day, UTC, from `start` (inclusive) to `stop` (exclusive), over midnight where stop comes before start. */
export function dailySchedule(start: number, stop: number): Schedule {
  const length = (stop - start + DAY) % DAY;
  return {
    at(now) {
      const sinceStart = (((now - start) % DAY) + DAY) % DAY;
      const open = sinceStart < length;
      return { open, triggeredAt: undefined, changesAt: now - sinceStart + (open ? length : DAY) };
    },
  };
}
