import { expect, test } from '@jest/globals';
import { addBudget, addSpare } from '../apiserver/budgets.ts';
import { World } from '../apiserver/world.ts';
import { join } from './joined.ts';

const HOUR = 3_600_000;

test('with DRAIN_PREFLIGHT=refuse an agent asks for its drain until it can end: no failure, no deadline, nothing done to the node', async () => {
  const world = await World.create();
  world.settings = { preflight: 'refuse' };
  await world.addPod('web-1', { labels: { app: 'web' } });
  await addBudget(world, 'web');
  const { end } = join(world, ['1.39.0']);
  await world.clock.advance(3 * HOUR);
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
  end();
});
