import { expect, test } from '@jest/globals';
import { dailySchedule, timeOfDay } from '../../../runtime/controller/deciding/schedule/schedule.ts';

const day = dailySchedule(timeOfDay('09:00:00')!, timeOfDay('21:00:00')!);
const moment = (time: string): number => Date.parse(`2026-03-01T${time}Z`);
const night = dailySchedule(timeOfDay('23:00:00')!, timeOfDay('05:30:00')!);

test.each([
  ['22:59:59.999', night, false, '2026-03-01T23:00:00.000Z'],
  ['23:00:00', night, true, '2026-03-02T05:30:00.000Z'],
  ['05:29:59.999', night, true, '2026-03-01T05:30:00.000Z'],
  ['05:30:00', night, false, '2026-03-01T23:00:00.000Z'],
  ['09:00:00', day, true, '2026-03-01T21:00:00.000Z'],
  ['20:59:59.999', day, true, '2026-03-01T21:00:00.000Z'],
  ['21:00:00', day, false, '2026-03-02T09:00:00.000Z'],
])('a daily window includes its start and not its end: %s', (time, schedule, open, changesAt) => {
  const state = schedule.at(moment(time));
  expect(state.open).toBe(open);
  expect(new Date(state.changesAt!).toISOString()).toBe(changesAt);
});

test.each(['24:00:00', '5:00:00', '05:60:00', '05:00', ''])('%j is no time of day', (text) => {
  expect(timeOfDay(text)).toBeUndefined();
});
