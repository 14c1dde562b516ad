import { expect, test } from '@jest/globals';
import { World } from '../apiserver/world.ts';
import { join } from './joined.ts';

const BUDGETS = '/apis/policy/v1/namespaces/shop/poddisruptionbudgets';
const HOUR = 3_600_000;

test('with DRAIN_PREFLIGHT=refuse an agent asks for its drain until it can end: no failure, no deadline, nothing done to the node', async () => {
  const world = await World.create();
  world.settings = { preflight: 'refuse' };
  await world.addPod('web-1', { labels: { app: 'web' } });
  await world.post(BUDGETS, {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1 },
  });
  const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 };
  await world.patch(`${BUDGETS}/web/status`, { status: { disruptionsAllowed: 0, ...counts } });
  const { end } = join(world, ['1.39.0']);
  await world.clock.advance(3 * HOUR);
  expect((await world.shadow()).status).toMatchObject({
    current_state: 'StagedAndPerformedUpdate',
    crash_count: 0,
    drain: { blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'] },
  });
  const { metadata, spec } = await world.node();
  expect([spec?.unschedulable, metadata.labels ?? {}, await world.marks()]).toEqual([undefined, {}, undefined]);

  await world.patch(`${BUDGETS}/web/status`, { status: { disruptionsAllowed: 1, expectedPods: 2 } });
  // It asks every half minute, and then waits for the load balancers for as long.
  await world.clock.advance(75_000);
  expect((await world.pods()).map((pod) => pod.metadata.deletionTimestamp !== undefined)).toEqual([true]);
  await world.endPod('web-1');
  await world.clock.advance(10 * 60_000);
  expect((await world.shadow()).status).toMatchObject({ current_state: 'RebootedIntoUpdate', crash_count: 0 });
  end();
});
