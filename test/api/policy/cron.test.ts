import { describe, expect, test } from '@jest/globals';
import { crontab } from '../../../runtime/api/policy/cron.ts';

const next = (expression: string): string | undefined =>
  crontab(expression)?.nextRun(new Date('2026-01-01T00:00:00Z'))?.toISOString();

describe('five fields mean what they mean to crontab and to CronJobs', () => {
  test.each([
    ['Sunday is 0', '0 0 * * 0', '2026-01-04T00:00:00.000Z'],
    ['and 7', '0 0 * * 7', '2026-01-04T00:00:00.000Z'],
    ['Monday is 1', '0 0 * * 1', '2026-01-05T00:00:00.000Z'],
    ['names of days and months', '0 0 * feb Mon-FRI', '2026-02-02T00:00:00.000Z'],
    ['a limited day of the month or of the week is enough', '0 0 3 * 1', '2026-01-03T00:00:00.000Z'],
    ['or of the week', '0 0 9 * 1', '2026-01-05T00:00:00.000Z'],
    ['a step from a number runs to the end', '5/20 1 * * *', '2026-01-01T01:05:00.000Z'],
    ['a question mark is any', '0 0 ? * 6', '2026-01-03T00:00:00.000Z'],
  ])('%s', (_name, expression, moment) => {
    expect(next(expression)).toBe(moment);
  });

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '0 24 * * *',
    '0 0 0 * *',
    '0 0 31 4,6 *',
    '@daily',
    '0 0 L * *',
    '0 0 * * MON#1',
    '0 0 15W * *',
    'mon * * * *',
    '0 0 1 + 1',
    '0 0 * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
  ])('refuses %j', (expression) => {
    expect(crontab(expression)).toBeUndefined();
  });
});
