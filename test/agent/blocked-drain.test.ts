import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addBudget, addSpare } from '../apiserver/budgets.ts';
import { World } from '../apiserver/world.ts';
import { join } from './joined.ts';

let world: World;
let end: () => void;

beforeEach(async () => {
  world = await World.create();
  await world.addPod('web-1', { labels: { app: 'web' } });
  await addBudget(world, 'web');
});

afterEach(() => end());

/** A drain that a budget blocks, asked for by an agent whose requests end after a minute each. */
async function begin(): Promise<void> {
  end = join(world, ['1.39.0']).end;
  for (let second = 0; second < 120 && !(await world.marks())?.since; second++) await world.clock.advance(1_000);
}

// Over more than a minute and a half, so that no pause of half a minute between requests of a minute is missed.
const SECONDS = [720, 745, 770, 795, 820];

test.each(SECONDS)('a drain whose last pod goes after %s seconds is over within one more', async (seconds) => {
  await begin();
  await world.clock.advance(seconds * 1000);
  await world.endPod('web-1');
  await world.clock.advance(1_000);
  expect((await world.marks())?.drained).toBeDefined();
});

test.each(SECONDS)(
  'a drain whose deadline is %s seconds fails then, with the budget that blocked it',
  async (seconds) => {
    world.settings = { timeoutSec: seconds };
    await begin();
    await world.clock.advance(seconds * 1000);
    expect((await world.shadow()).status?.last_failure).toMatchObject({
      reason: 'DrainFailed',
      message: expect.stringContaining('shop/web-1 (PodDisruptionBudget shop/web)'),
    });
  },
);

test('with DRAIN_PREFLIGHT=refuse an agent asks for its drain until it can end: no failure, no deadline, nothing done to the node', async () => {
  world.settings = { preflight: 'refuse', refusalSec: 0 };
  ({ end } = join(world, ['1.39.0']));
  await world.clock.advance(3 * 3_600_000);
  expect((await world.shadow()).status).toMatchObject({
    current_state: 'StagedAndPerformedUpdate',
    crash_count: 0,
    drain: { blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'] },
  });
  const { metadata, spec } = await world.node();
  expect([spec?.unschedulable, metadata.labels ?? {}, await world.marks()]).toEqual([undefined, {}, undefined]);

  await addSpare(world, 'web');
  // It asks every half minute, and then waits for the load balancers for as long.
  await world.clock.advance(75_000);
  expect((await world.pods()).map((pod) => pod.metadata.deletionTimestamp !== undefined)).toEqual([true]);
  await world.endPod('web-1');
  await world.clock.advance(10 * 60_000);
  expect((await world.shadow()).status).toMatchObject({ current_state: 'RebootedIntoUpdate', crash_count: 0 });
});

test('a drain that is called off in its middle ends at once: its node is back in service, its host does not go down, and nothing has failed', async () => {
  await begin();
  await world.clock.advance(100_000);
  await world.setSpec({ state: 'Idle', version: '1.39.0' });
  await world.clock.advance(5_000);
  expect((await world.shadow()).status).toMatchObject({ current_state: 'Idle', crash_count: 0 });
  const { metadata, spec } = await world.node();
  expect([spec?.unschedulable, metadata.labels ?? {}, await world.marks()]).toEqual([undefined, {}, undefined]);
  await addSpare(world, 'web');
  await world.clock.advance(10 * 60_000);
  expect((await world.pods()).map((pod) => pod.metadata.deletionTimestamp)).toEqual([undefined]);
  expect((await world.shadow()).status).toMatchObject({ current_version: '1.38.0', current_state: 'Idle' });
});
