import { expect, test } from '@jest/globals';
import { ANY_TIME, cronExpression } from '../../../runtime/controller/deciding/schedule/cron.ts';
import {
  dailySchedule,
  longestOpening,
  type Schedule,
  timeOfDay,
} from '../../../runtime/controller/deciding/schedule/schedule.ts';
import { windowsSchedule } from '../../../runtime/controller/deciding/schedule/windows.ts';

const HOUR = 3_600_000;
/** A Monday, in the middle of windows that are open at ten. */
const NOW = Date.parse('2026-01-05T10:20:00Z');
const longest = (schedule: Schedule): number | undefined => longestOpening(schedule, NOW);
const windows = (...opened: readonly (readonly [start: string, hours: number])[]): Schedule =>
  windowsSchedule(opened.map(([start, hours]) => ({ start, durationMs: hours * HOUR, timeZone: 'UTC' })));

test('the window that is open now counts in full, for it opens again', () => {
  expect(longest(dailySchedule(timeOfDay('09:00:00')!, timeOfDay('11:30:00')!))).toBe(2.5 * HOUR);
  expect(longest(cronExpression('* * 10 * * * *')!('UTC'))).toBe(HOUR);
});

test('of several windows the longest counts, also one that opens once a week, and those that follow one another are one', () => {
  expect(longest(windows(['0 10 * * *', 1], ['0 22 * * sun', 6]))).toBe(6 * HOUR);
  expect(longest(windows(['0 10 * * *', 1], ['0 11 * * *', 2]))).toBe(3 * HOUR);
});

test('a window that is further away than that is seen all the same', () => {
  expect(longest(windows(['0 0 1 * *', 4]))).toBe(4 * HOUR);
});

test('what does not close is open for ever, and moments are no windows', () => {
  expect(longest(ANY_TIME('UTC'))).toBe(Infinity);
  expect(longest(cronExpression('0 0 10 * * * *')!('UTC'))).toBeUndefined();
});
