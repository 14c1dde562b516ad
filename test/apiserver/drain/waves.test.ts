import { beforeEach, describe, expect, test } from '@jest/globals';
import { COMPONENT_LABEL, COMPONENTS, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { addBudget } from '../budgets.ts';
import { outcome, started, World } from '../world.ts';

const CRITICAL = { priority: 2_000_000_000 };

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const ending = async (): Promise<readonly string[]> =>
  (await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name);

describe('pods of system priority', () => {
  test('go once the others are gone, and the operator’s own beside the first of all', async () => {
    await world.addNode('n2');
    await world.addPod('storage', CRITICAL);
    await world.addPod('database', { priority: 1_999_999_999 });
    const labels = { [COMPONENT_LABEL]: COMPONENTS.controller };
    await world.addPod('controller', { namespace: NAMESPACE, labels, ...CRITICAL });
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await ending()).toEqual(['controller', 'database']);
    await world.endPod('database');
    await settle();
    expect(await ending()).toEqual(['controller', 'storage']);
    await world.endPod('controller', NAMESPACE);
    await world.endPod('storage');
    expect(await outcome(drain)).toBe('ok');
  });

  test('keep the operator’s own on the node for as long as one of them may not go', async () => {
    await world.addNode('n2');
    await world.addPod('storage', { ...CRITICAL, labels: { app: 'storage' } });
    await addBudget(world, 'storage', 'shop', 'storage');
    const labels = { [COMPONENT_LABEL]: COMPONENTS.controller };
    await world.addPod('controller', { namespace: NAMESPACE, labels });
    void started(world.replica().service.cordonAndDrain(await world.agent()));
    await world.clock.advance(60_000);
    expect(await ending()).toEqual([]);
  });

  test('go at once where there are no others', async () => {
    await world.addPod('storage', CRITICAL);
    void started(world.replica().service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await ending()).toEqual(['storage']);
  });

  test.each([
    ['ends too slowly', { graceSeconds: 3600 }, ['slow'], ['slow', 'storage']],
    ['cannot be evicted', { labels: { app: 'web' } }, [], ['storage']],
  ])('wait no longer than half of the drain’s time for a pod that %s', async (_, options, before, after) => {
    await world.addPod('slow', options);
    await addBudget(world, 'web');
    await world.addPod('storage', CRITICAL);
    const first = world.replica({ timeoutSec: 600 });
    void started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(200_000);
    first.tap.kill();
    // The time counts from the beginning of the drain, whichever replica works on it.
    void started(world.replica({ timeoutSec: 600 }).service.cordonAndDrain(await world.agent()));
    await world.clock.advance(99_999);
    expect(await ending()).toEqual(before);
    await world.clock.advance(1);
    expect(await ending()).toEqual(after);
  });

  test('wait for ever where drains have no end', async () => {
    await world.addPod('slow', { graceSeconds: 360_000 });
    await world.addPod('storage', CRITICAL);
    void started(world.replica({ timeoutSec: 0 }).service.cordonAndDrain(await world.agent()));
    await world.clock.advance(86_400_000);
    expect(await ending()).toEqual(['slow']);
  });
});
