import { beforeEach, describe, expect, test } from '@jest/globals';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { RETRY_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { ADMIN } from '../../../lab/sim/cluster/cluster.ts';
import { addBudget, addSpare, NO_SPARE } from '../budgets.ts';
import { evictions, outcome, type ReplicaSettings, started, World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const addWeb = () => world.addPod('web-1', { labels: { app: 'web' } });

/** As its kubelet is told. */
const end = (name: string, gracePeriodSeconds: number): Promise<unknown> =>
  world.cluster
    .transport(ADMIN)
    .request({ method: 'DELETE', path: `/api/v1/namespaces/shop/pods/${name}`, body: { gracePeriodSeconds } });

describe('after a drain that failed, with "warn"', () => {
  const FAILED_AT = '2025-12-31T23:00:00Z';
  const NODE = '/api/v1/nodes/n1';
  const again = async (settings: ReplicaSettings = {}): Promise<[string, string[]]> => {
    const replica = world.replica(settings);
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    return [await outcome(drain), evictions(replica)];
  };
  const REFUSED = ['409 Undrainable', []];

  beforeEach(async () => {
    const failure = { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: 'no', time: FAILED_AT } as const;
    await world.setStatus({
      crash_count: 1,
      state_transition_failure_timestamp: FAILED_AT,
      last_failure: failure,
    });
    await world.addPod('innocent-1');
    const { uid } = (await addWeb()).metadata;
    await world.setStatus({ drain_failed: { left: [uid] } });
  });

  test('a pod that was not left is no reason: its budget may be relaxed once its node is cordoned', async () => {
    await addBudget(world, 'web');
    await world.setStatus({ drain_failed: { left: ['another'] } });
    expect((await again())[0]).toBe('pending');
    expect((await world.shadow()).status?.drain_failed ?? null).toBeNull();
  });

  test('no pod is evicted again while a budget spares none, however long that lasts, and the node stays in service', async () => {
    await addBudget(world, 'web');
    expect(await again()).toEqual(REFUSED);
    await world.clock.advance(3 * 3_600_000);
    expect(await again({ refusalSec: 1 })).toEqual(REFUSED);
    expect((await world.node()).spec?.unschedulable).toBeUndefined();
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual(['PodDisruptionBudget shop/web (pod shop/web-1)']);
    await addSpare(world, 'web');
    expect(await again()).toEqual(['pending', ['innocent-1', 'web-1']]);
  });

  test('nobody is evicted again while a budget is used up only for the moment', async () => {
    await addBudget(world, 'web');
    const usedUp = { ...NO_SPARE, expectedPods: 2 };
    await world.patch('/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web/status', { status: usedUp });
    expect(await again()).toEqual(REFUSED);
  });

  test('nobody is evicted again while a pod that is ending may take longer than the drain', async () => {
    await end('web-1', 7200);
    expect(await again({ timeoutSec: 600 })).toEqual(REFUSED);
    await world.clock.advance(6600_000);
    expect(await again({ timeoutSec: 600 })).toEqual(['pending', ['innocent-1']]);
  });

  test('the node is not kept from load balancers either', async () => {
    await addBudget(world, 'web');
    const excluding = started(world.replica().service.excludeFromLb(await world.agent()));
    expect(await outcome(excluding)).toBe('409 Undrainable');
    expect(await world.marks()).toBeUndefined();
  });

  test('a person’s retry of that failure has it tried, and of another does not', async () => {
    await addBudget(world, 'web');
    const retry = (failure: string): Promise<unknown> =>
      world.patch(NODE, { metadata: { annotations: { [RETRY_ANNOTATION]: failure } } });
    await retry('2025-12-30T00:00:00Z');
    expect(await again()).toEqual(REFUSED);
    await retry(FAILED_AT);
    expect((await again())[0]).toBe('pending');
  });
});

test('a drain that has failed says what it has left and when the last of that is due, also where others write too', async () => {
  const { uid } = (await world.addPod('web-1')).metadata;
  await end('web-1', 7200);
  const due = rfc3339(world.clock.now() + 7200_000);
  const replica = world.replica({ timeoutSec: 60 });
  const drain = started(replica.service.cordonAndDrain(await world.agent()));
  await world.clock.advance(59_000);
  let tries = 0;
  replica.tap.before = async ({ body }) => {
    // Somebody else writes the shadow just before.
    if (JSON.stringify(body ?? {}).includes('"left"') && tries++ === 0) await world.setStatus({ crash_count: 1 });
  };
  await world.clock.advance(1000);
  expect(await outcome(drain)).toBe('504 DrainTimeout');
  expect((await world.shadow()).status?.drain_failed).toEqual({ left: [uid], due });
});
