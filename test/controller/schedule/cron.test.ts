import { describe, expect, test } from '@jest/globals';
import { ANY_TIME, cronExpression } from '../../../runtime/controller/deciding/schedule/cron.ts';
import { cached } from '../../../runtime/controller/deciding/schedule/schedule.ts';
import type { WindowState } from '../../../runtime/controller/plan/facts/policies.ts';

const at = (expression: string, moment: string, zone = 'UTC'): WindowState =>
  cronExpression(expression)!(zone).at(Date.parse(moment));
const changes = (state: WindowState): string | undefined =>
  state.changesAt === undefined ? undefined : new Date(state.changesAt).toISOString();

describe('a window of consecutive seconds', () => {
  test('all-wildcard is simply open', () => {
    expect(cronExpression('* * * * * * *')).toBe(ANY_TIME);
    expect(cronExpression('* * * * * *')).toBe(ANY_TIME);
  });

  test('opens and closes with its hours', () => {
    const expression = '* * 10-12 * * * *';
    expect(at(expression, '2026-01-05T09:59:59Z')).toMatchObject({ open: false });
    expect(changes(at(expression, '2026-01-05T09:00:00Z'))).toBe('2026-01-05T10:00:00.000Z');
    expect(at(expression, '2026-01-05T12:59:59.999Z')).toMatchObject({ open: true });
    expect(changes(at(expression, '2026-01-05T10:30:00.500Z'))).toBe('2026-01-05T13:00:00.000Z');
  });

  test('may wrap around midnight in two ranges', () => {
    const expression = '* * 18-23,0-5 * * * *';
    expect(changes(at(expression, '2026-01-05T20:00:00Z'))).toBe('2026-01-06T06:00:00.000Z');
    expect(changes(at(expression, '2026-01-05T06:00:00Z'))).toBe('2026-01-05T18:00:00.000Z');
  });

  test('of half a minute closes within the minute', () => {
    expect(changes(at('0-29 * * * * * *', '2026-01-05T06:00:10Z'))).toBe('2026-01-05T06:00:30.000Z');
  });

  test('of a whole year ends with it', () => {
    expect(changes(at('* * * * * * 2026', '2026-01-05T06:00:00Z'))).toBe('2027-01-01T00:00:00.000Z');
    expect(at('* * * * * * 2025', '2026-01-05T06:00:00Z')).toEqual({ open: false });
  });
});

describe('in a time zone', () => {
  const night = '* * 2-3 * * * *';
  const berlin = (moment: string): [boolean, string | undefined] => {
    const state = at(night, moment, 'Europe/Berlin');
    return [state.open, changes(state)];
  };

  test('a window follows the clocks there, in winter and in summer', () => {
    expect(berlin('2026-01-10T00:30:00Z')).toEqual([false, '2026-01-10T01:00:00.000Z']);
    expect(berlin('2026-01-10T01:30:00Z')).toEqual([true, '2026-01-10T03:00:00.000Z']);
    expect(berlin('2026-07-10T00:30:00Z')).toEqual([true, '2026-07-10T02:00:00.000Z']);
  });

  test('the hour that clocks skip is skipped, and the window still closes by the clock', () => {
    expect(berlin('2026-03-29T00:59:59Z')[0]).toBe(false);
    expect(berlin('2026-03-29T01:00:00Z')).toEqual([true, '2026-03-29T02:00:00.000Z']);
  });

  test('the hour that clocks show twice is open twice', () => {
    expect(berlin('2026-10-25T00:00:00Z')).toEqual([true, '2026-10-25T03:00:00.000Z']);
  });

  test('an offset of three quarters of an hour opens and closes at its own hours', () => {
    const state = at('* * 22 * * * *', '2026-01-10T16:20:00Z', 'Asia/Kathmandu');
    expect([state.open, changes(state)]).toEqual([true, '2026-01-10T17:15:00.000Z']);
    expect(at('* * 22 * * * *', '2026-01-10T16:14:59Z', 'Asia/Kathmandu').open).toBe(false);
  });

  test('a trigger in the hour that clocks skip comes all the same', () => {
    const state = at('0 30 2 * * * *', '2026-03-29T06:00:00Z', 'Europe/Berlin');
    expect(new Date(state.triggeredAt!).toISOString().slice(0, 10)).toBe('2026-03-29');
  });
});

describe('a trigger', () => {
  test('is never open, and names the last and the next moment', () => {
    const state = at('0 0 2 * * Mon *', '2026-01-06T06:00:00Z');
    expect(state.open).toBe(false);
    expect(new Date(state.triggeredAt!).toISOString()).toBe('2026-01-05T02:00:00.000Z');
    expect(changes(state)).toBe('2026-01-12T02:00:00.000Z');
  });

  test('has happened from its very second on', () => {
    const state = at('0 0 2 * * * *', '2026-01-06T02:00:00Z');
    expect(new Date(state.triggeredAt!).toISOString()).toBe('2026-01-06T02:00:00.000Z');
  });
});

describe('the dialect of existing installations', () => {
  test.each([
    ['Sunday is day 1', '* * * * * 1 *', '2026-01-04T12:00:00Z', true],
    ['Saturday is day 7', '* * * * * 7 *', '2026-01-03T12:00:00Z', true],
    ['long names of days', '* * * * * Monday,Tues,Thurs *', '2026-01-06T12:00:00Z', true],
    ['long names of months', '* * * * January * *', '2026-01-06T12:00:00Z', true],
    ['day of month and day of week must both match', '* * * 5 * Sun *', '2026-01-05T12:00:00Z', false],
    ['a step from a number runs to the end', '* * 20/2 * * * *', '2026-01-05T22:00:00Z', true],
    ['a step of years from a number', '* * * * * * 2024/2', '2026-01-05T22:00:00Z', true],
    ['a question mark is any', '* * * ? * * *', '2026-01-05T22:00:00Z', true],
    ['seconds apart are no window', '0,2 * * * * * *', '2026-01-05T22:00:00Z', false],
  ])('%s', (_name, expression, moment, open) => {
    expect(at(expression, moment).open).toBe(open);
  });

  test.each([
    '',
    '* * * * *',
    '* * * * * * * *',
    '61 * * * * * *',
    '* * * * * Funday *',
    'ten',
    '* * * L * * *',
    '* * * * * 2#1 *',
    '* * * 0 * * *',
    '* * * * * 0 *',
  ])('refuses %j', (expression) => {
    expect(cronExpression(expression)).toBeUndefined();
  });
});

test('a window that is open for half a year closes, also for who remembers its answers, and also in a zone', () => {
  const schedule = cached(cronExpression('* * * * 1-6 * *')!('Europe/Berlin'));
  const openAt = (moment: string): boolean => schedule.at(Date.parse(moment)).open;
  expect(openAt('2026-01-10T00:00:00Z')).toBe(true);
  expect(openAt('2026-06-30T21:59:59Z')).toBe(true);
  expect(openAt('2026-06-30T22:00:00Z')).toBe(false);
});

test('the example in the README of the library that existing installations wrote theirs for fires as it says there', () => {
  const schedule = cronExpression('0   30   9,12,15     1,15       May-Aug  Mon,Wed,Fri  2018/2')!('UTC');
  const days = ['2018-06-01', '2018-06-15', '2018-08-01', '2018-08-15'];
  let now = Date.parse('2018-05-16T00:00:00Z');
  for (const moment of days.flatMap((day) => [
    `${day}T09:30:00.000Z`,
    `${day}T12:30:00.000Z`,
    `${day}T15:30:00.000Z`,
  ])) {
    now = schedule.at(now).changesAt!;
    expect(new Date(now).toISOString()).toBe(moment);
  }
});
