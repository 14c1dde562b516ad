import { expect, test } from '@jest/globals';
import { readControllerConfig, scheduleOf } from '../../runtime/controller/config.ts';
import type { EnvError } from '../../runtime/lib/env.ts';

const faults = (env: Readonly<Record<string, string>>): readonly string[] => {
  try {
    readControllerConfig({ MY_NODE_NAME: 'n1', ...env });
    return [];
  } catch (error) {
    return (error as EnvError).faults;
  }
};

test('the defaults update one node at a time, at any time', () => {
  const config = readControllerConfig({ MY_NODE_NAME: 'n1' });
  expect(config.MAX_CONCURRENT_UPDATE).toEqual({ kind: 'count', count: 1 });
  expect(config.MAX_FAILED_UPDATE).toEqual({ kind: 'percent', percent: 10 });
  expect(scheduleOf(config).at(0)).toMatchObject({ open: true });
});

test('every fault is reported together', () => {
  const env = { MAX_CONCURRENT_UPDATE: 'ten', SCHEDULER_CRON_EXPRESSION: '* * *', UPDATE_WINDOW_START: '12:00:00' };
  expect(faults(env)).toEqual([
    expect.stringMatching(
      /^MAX_CONCURRENT_UPDATE: expected a whole number from 1 to 600, a percentage or "unlimited", got "ten"$/,
    ),
    expect.stringMatching(/^SCHEDULER_CRON_EXPRESSION: expected seven cron fields/),
    expect.stringMatching(/^UPDATE_WINDOW_START, UPDATE_WINDOW_STOP: expected both or neither/),
  ]);
});

test.each(['0', '-1', '1.5', '0%', '101%', 'unlimitd', '01', '601', '1000'])('%j nodes at once are refused', (text) => {
  expect(faults({ MAX_CONCURRENT_UPDATE: text })).toHaveLength(1);
});

test.each(['0', 'unlimited', '601', '0%'])('%j nodes do not prove a release', (text) => {
  expect(faults({ PROOF_NODES: text })).toEqual([
    `PROOF_NODES: expected a whole number from 1 to 600 or a percentage, got "${text}"`,
  ]);
});

test('as many nodes at once as the Lease holds in any case are accepted, and more may fail', () => {
  expect(faults({ MAX_CONCURRENT_UPDATE: '600', MAX_FAILED_UPDATE: '601' })).toEqual([]);
});

test('a window that ends when it begins is refused', () => {
  expect(faults({ UPDATE_WINDOW_START: '12:00:00', UPDATE_WINDOW_STOP: '12:00:00' })).toHaveLength(1);
});

test('the daily window counts only where the cron expression says nothing', () => {
  const window = { MY_NODE_NAME: 'n1', UPDATE_WINDOW_START: '12:00:00', UPDATE_WINDOW_STOP: '13:00:00' };
  const noon = Date.parse('2026-01-01T12:30:00Z');
  const night = Date.parse('2026-01-01T03:00:00Z');
  const daily = scheduleOf(readControllerConfig(window));
  const cron = scheduleOf(readControllerConfig({ ...window, SCHEDULER_CRON_EXPRESSION: '* * 3 * * * *' }));
  expect([noon, night].map((moment) => daily.at(moment).open)).toEqual([true, false]);
  expect([noon, night].map((moment) => cron.at(moment).open)).toEqual([false, true]);
});

test.each(['Mars/Olympus', 'CETish', '25:00'])('%j is no time zone', (zone) => {
  expect(faults({ SCHEDULER_TIME_ZONE: zone })).toEqual([
    `SCHEDULER_TIME_ZONE: expected an IANA time zone like Europe/Berlin, got "${zone}"`,
  ]);
});

test('the cron expression is read in its time zone', () => {
  const env = {
    MY_NODE_NAME: 'n1',
    SCHEDULER_CRON_EXPRESSION: '* * 3 * * * *',
    SCHEDULER_TIME_ZONE: 'America/New_York',
  };
  const { open } = scheduleOf(readControllerConfig(env)).at(Date.parse('2026-01-01T08:30:00Z'));
  expect(open).toBe(true);
});
