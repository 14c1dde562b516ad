import { afterEach, expect, test } from '@jest/globals';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

test('a node whose drain is refused for a budget keeps its slot, and says why, until the drain can begin', async () => {
  stage = await Stage.with('a', 'b');
  stage.start();
  await stage.pass();
  const drain = {
    started_at: '2026-01-01T00:00:01Z',
    pods_left: 1,
    blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'],
  };
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate', drain });
  await stage.pass(2 * 3_600_000);
  expect([await stage.slots(), await stage.specs('a', 'b')]).toEqual([['brs-a'], ['RebootedIntoUpdate 1.1.0', 'Idle']]);
  expect((await stage.shadows.get('brs-a'))!.status?.conditions).toMatchObject([
    { reason: 'DrainBlocked', message: expect.stringContaining('PodDisruptionBudget shop/web') },
  ]);
  await stage.update('a');
  expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
});
