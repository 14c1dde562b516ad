import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { windowsSchedule } from '../../../runtime/controller/deciding/schedule/windows.ts';
import { crontab } from '../../../runtime/api/policy/cron.ts';
import type { UpdateWindow } from '../../../runtime/api/policy/policy.ts';
import { runs } from '../../random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const window = (start: string, durationMs: number, timeZone = 'UTC'): UpdateWindow => ({ start, durationMs, timeZone });
const moment = (text: string): number => Date.parse(text);

/** Whether it is open at a moment, and until when, or from when on. */
function at(windows: readonly UpdateWindow[], time: string): string {
  const { open, changesAt } = windowsSchedule(windows).at(moment(time));
  return `${open ? 'open' : 'closed'} until ${changesAt === undefined ? 'ever' : new Date(changesAt).toISOString()}`;
}

test('no windows are always open', () => {
  expect(at([], '2026-01-05T09:00:00Z')).toBe('open until ever');
});

test('a window opens with the minute of its start and closes when its duration is over', () => {
  const night = [window('30 22 * * 1-5', 90 * MINUTE)];
  expect(at(night, '2026-01-05T22:29:59.999Z')).toBe('closed until 2026-01-05T22:30:00.000Z');
  expect(at(night, '2026-01-05T22:30:00Z')).toBe('open until 2026-01-06T00:00:00.000Z');
  expect(at(night, '2026-01-05T23:59:59.999Z')).toBe('open until 2026-01-06T00:00:00.000Z');
  expect(at(night, '2026-01-10T00:00:00Z')).toBe('closed until 2026-01-12T22:30:00.000Z');
});

test('one window closes within another that is open: nothing changes then', () => {
  const two = [window('0 20 * * *', 4 * HOUR), window('0 22 * * *', HOUR), window('0 0 * * *', HOUR)];
  expect(at(two, '2026-01-05T22:30:00Z')).toBe('open until 2026-01-06T01:00:00.000Z');
});

test('a window that opens again before it closes is always open', () => {
  expect(at([window('0 0 * * *', 24 * HOUR)], '2026-01-05T09:00:00Z')).toBe('open until ever');
  expect(at([window('0 0 1 * *', 800 * HOUR)], '2026-01-05T09:00:00Z')).toBe('open until ever');
});

test('a row of windows without a gap is seen to end', () => {
  expect(at([window('0 0 * * 1-5', 24 * HOUR)], '2026-01-05T09:00:00Z')).toBe('open until 2026-01-10T00:00:00.000Z');
  const november = windowsSchedule([window('*/5 * * 11 *', 5 * MINUTE)]);
  const openAt = (time: string): boolean => november.at(moment(time)).open;
  expect([openAt('2026-11-01T00:00:00Z'), openAt('2026-11-30T23:59:59Z'), openAt('2026-12-01T00:00:00Z')]).toEqual([
    true,
    true,
    false,
  ]);
});

describe('where clocks are changed', () => {
  const berlin = (start: string): readonly UpdateWindow[] => [window(start, 2 * HOUR, 'Europe/Berlin')];

  test('a start in the hour that is skipped is at the end of it', () => {
    expect(at(berlin('30 2 * * *'), '2026-03-29T00:30:00Z')).toBe('closed until 2026-03-29T01:00:00.000Z');
    expect(at(berlin('30 2 * * *'), '2026-03-29T01:00:00Z')).toBe('open until 2026-03-29T03:00:00.000Z');
  });

  test('a start in the hour that comes twice is in the first, and the window lasts as long as ever', () => {
    expect(at(berlin('30 2 * * *'), '2026-10-25T00:30:00Z')).toBe('open until 2026-10-25T02:30:00.000Z');
    expect(at(berlin('30 2 * * *'), '2026-10-25T02:30:00Z')).toBe('closed until 2026-10-26T01:30:00.000Z');
  });
});

test('however many windows of a minute follow one another, it takes a moment to tell, and the answer holds for a while', () => {
  const zones = ['UTC', 'Europe/Berlin', 'Asia/Tokyo', 'America/New_York'];
  const many = Array.from({ length: 16 }, (_, index) =>
    window('* * * * *', MINUTE * (1 + (index % 2)), zones[index % 4]),
  );
  const schedule = windowsSchedule(many);
  let now = moment('2026-01-05T09:00:00Z');
  for (let round = 0; round < 2; round++) {
    const { open, changesAt = 0 } = schedule.at(now);
    expect([open, changesAt > now + 30 * MINUTE]).toEqual([true, true]);
    now = changesAt;
  }
});

test('years of the rarest window take no time', () => {
  expect(at([window('0 0 29 2 *', HOUR)], '2026-03-01T00:00:00Z')).toBe('closed until 2028-02-29T00:00:00.000Z');
});

const field = (values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values);
const anyWindow = fc
  .record({
    minute: field(['0', '30', '*/20', '15', '45']),
    hour: field(['*', '2', '1-3', '22', '*/6', '0']),
    day: field(['*', '*', '29', '25-31']),
    weekday: field(['*', '*', '0', '1-5', 'sat,SUN']),
    minutes: fc.integer({ min: 1, max: 60 * 30 }),
    zone: field(['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns']),
  })
  .map(({ minute, hour, day, weekday, minutes, zone }) =>
    window([minute, hour, day, '*', weekday].join(' '), minutes * MINUTE, zone),
  );

test('it is open exactly from each start for its duration, and says when that changes', () => {
  const spring = moment('2026-03-28T12:00:00Z');
  const autumn = moment('2026-10-24T12:00:00Z');
  const times = fc.record({ near: fc.constantFrom(spring, autumn), minutes: fc.integer({ min: 0, max: 36 * 60 }) });
  fc.assert(
    fc.property(fc.array(anyWindow, { minLength: 1, maxLength: 3 }), times, (windows, { near, minutes }) => {
      const now = near + minutes * MINUTE;
      const until = now + 30 * HOUR;
      const starts = windows.flatMap(({ start, durationMs, timeZone }) => {
        const all = crontab(start, timeZone)!.nextRuns(300, new Date(near - 31 * HOUR));
        return all.map((run) => ({ from: run.getTime(), to: run.getTime() + durationMs }));
      });
      const openAt = (time: number): boolean => starts.some(({ from, to }) => from <= time && time < to);
      const edges = starts.flatMap(({ from, to }) => [from, to]).filter((edge) => edge > now && edge < until);
      const change = edges.toSorted((a, b) => a - b).find((edge) => openAt(edge) !== openAt(now));
      const state = windowsSchedule(windows).at(now);
      expect(state.open).toBe(openAt(now));
      if (change === undefined) expect(state.changesAt ?? Infinity).toBeGreaterThanOrEqual(until - 5 * HOUR);
      else expect(state.changesAt).toBe(change);
    }),
    runs(30),
  );
});
