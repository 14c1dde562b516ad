import { expect, test } from '@jest/globals';
import { plan } from '../../../runtime/controller/plan/plan.ts';
import { cronExpression } from '../../../runtime/controller/schedule/cron.ts';
import { dailySchedule, timeOfDay } from '../../../runtime/controller/schedule/schedule.ts';
import { fleet, moment, node, NOW, type Parts, POLICY } from './fleet.ts';
import { ACTIVE, BACKOFF_MINUTES, CRON_README, DAILY_WINDOWS, ORDER, SCHEDULES, TRANSITIONS } from './reference.ts';

test.each(TRANSITIONS)('%s', (_says, parts, next) => {
  const { commands } = plan(fleet({ a: parts }), POLICY, NOW);
  const specs = commands.flatMap((command) => ('spec' in command ? [command.spec] : []));
  expect(specs.map(({ state, version }) => `${state} ${version ?? '-'}`)).toEqual(next === undefined ? [] : [next]);
});

test.each(BACKOFF_MINUTES)('after %i failures in a row a node waits for more than %i minutes', (crashes, minutes) => {
  const after = (extraMs: number): number => {
    const status = { crash_count: crashes, failed_versions: [], state_transition_failure_timestamp: moment(0) };
    return plan(fleet({ a: { status } }), POLICY, NOW + minutes * 60_000 + extraMs).commands.length;
  };
  expect([after(0), after(1)]).toEqual([0, 1]);
});

test.each(ACTIVE)('%s: takes a place: %#', (_says, parts, active) => {
  const nodes = [node('a', { held: true }), node('b')];
  const { commands } = plan(fleet({ a: parts, b: {} }, { nodes }), POLICY, NOW);
  const starts = commands.flatMap((command) => (command.kind === 'start' ? [command.node] : []));
  expect(starts).toEqual(active ? [] : ['b']);
});

test.each(ORDER)('%s', (_says, crashes, order) => {
  const world = fleet(Object.fromEntries(Object.entries(crashes).map(([name, count]) => [name, failedLongAgo(count)])));
  const all = { ...POLICY, ownNode: 'own', maxConcurrent: { kind: 'unlimited' } } as const;
  const { commands } = plan(world, { ...all, maxFailed: { kind: 'unlimited' } }, NOW);
  expect(commands.flatMap((command) => (command.kind === 'start' ? [command.node] : [])).join(' ')).toBe(order);
});

test.each(SCHEDULES)('%s', (_says, expression, starts) => {
  const noon = Date.parse('2026-01-05T12:00:00Z');
  const window = cronExpression(expression)!('UTC').at(noon);
  const { commands } = plan(fleet({ a: { offeredAt: noon - 4 * 3_600_000 } }, { window }), POLICY, noon);
  expect(commands.map(({ kind }) => kind)).toEqual(starts ? ['start'] : []);
});

test('the cron library’s own example fires at the moments of its README', () => {
  const schedule = cronExpression(CRON_README.expression)!('UTC');
  let at = Date.parse(CRON_README.after);
  const upcoming = CRON_README.upcoming.map(() => {
    at = schedule.at(at).changesAt!;
    return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  });
  expect(upcoming).toEqual(CRON_README.upcoming);
});

test.each(DAILY_WINDOWS)('the window from %s to %s is, at %s, open: %s', (start, stop, at, open) => {
  const schedule = dailySchedule(timeOfDay(start)!, timeOfDay(stop)!);
  expect(schedule.at(Date.parse(`2026-01-10T${at}Z`)).open).toBe(open);
});

function failedLongAgo(crash_count: number): Parts {
  return { status: { crash_count, failed_versions: [], state_transition_failure_timestamp: moment(-2000) } };
}
