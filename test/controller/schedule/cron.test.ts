import { describe, expect, test } from '@jest/globals';
import { ALWAYS, cronSchedule } from '../../../runtime/controller/schedule/cron.ts';
import type { WindowState } from '../../../runtime/controller/plan/snapshot.ts';

const at = (expression: string, moment: string): WindowState => cronSchedule(expression)!.at(Date.parse(moment));
const changes = (state: WindowState): string | undefined =>
  state.changesAt === undefined ? undefined : new Date(state.changesAt).toISOString();

describe('a window of consecutive seconds', () => {
  test('all-wildcard is simply open', () => {
    expect(cronSchedule('* * * * * * *')).toBe(ALWAYS);
    expect(cronSchedule('* * * * * *')).toBe(ALWAYS);
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
    '* * * 0 * * *',
    '* * * * * 0 *',
  ])('refuses %j', (expression) => {
    expect(cronSchedule(expression)).toBeUndefined();
  });
});
