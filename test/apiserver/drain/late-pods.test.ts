import { beforeEach, describe, expect, test } from '@jest/globals';
import { MARKS_ANNOTATION } from '../../../runtime/api/marks/names.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { evictions, outcome, started, World } from '../world.ts';

const TOLERATES = { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] };

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const evicted = async (): Promise<string[]> =>
  (await world.pods()).filter((pod) => pod.metadata.deletionTimestamp).map((pod) => pod.metadata.name);

describe.each([-10_000, 0, 10_000])('by a replica whose clock is %d ms ahead', (aheadMs) => {
  test('a pod that tolerates the cordon but was there before it is evicted', async () => {
    await world.clock.advance(60_000);
    await world.addPod('before', TOLERATES);
    await world.clock.advance(3_000);
    const drain = started(world.replica({ aheadMs }).service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await evicted()).toEqual(['before']);
    await world.endPod('before');
    expect(await outcome(drain)).toBe('ok');
  });

  test('one that comes after it is left, by every replica that works on the drain', async () => {
    await world.clock.advance(60_000);
    await world.addPod('web');
    const drain = started(world.replica({ aheadMs }).service.cordonAndDrain(await world.agent()));
    await settle();
    await world.clock.advance(3_000);
    await world.addPod('after', TOLERATES);
    const other = started(world.replica({ aheadMs: -aheadMs }).service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await evicted()).toEqual(['web']);
    await world.endPod('web');
    expect([await outcome(drain), await outcome(other)]).toEqual(['ok', 'ok']);
  });
});

test('on a node without pods, what comes after its cordon is late all the same', async () => {
  await world.clock.advance(60_000);
  await world.replica({ aheadMs: 10_000 }).service.cordonAndDrain(await world.agent());
  await world.addPod('after', TOLERATES);
  await world.replica().service.cordonAndDrain(await world.agent());
  expect(await evicted()).toEqual([]);
});

test('a pod that came while somebody had uncordoned the node is evicted', async () => {
  await world.clock.advance(60_000);
  await world.addPod('web');
  const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
  await settle();
  await world.clock.advance(3_000);
  await world.addPod('meanwhile', TOLERATES);
  await world.setCordon(false);
  await settle();
  expect(await evicted()).toEqual(['meanwhile', 'web']);
  await Promise.all([world.endPod('web'), world.endPod('meanwhile')]);
  expect(await outcome(drain)).toBe('ok');
});

test('marks of an older replica, which say nothing of pods, go by their beginning', async () => {
  await world.addPod('web');
  const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
  await settle();
  const { newestPod: _, ...older } = (await world.marks())!;
  await world.patch('/api/v1/nodes/n1', { metadata: { annotations: { [MARKS_ANNOTATION]: JSON.stringify(older) } } });
  await world.clock.advance(3_000);
  await world.addPod('after', TOLERATES);
  const other = started(world.replica().service.cordonAndDrain(await world.agent()));
  await settle();
  expect(await evicted()).toEqual(['web']);
  await world.endPod('web');
  expect([await outcome(drain), await outcome(other)]).toEqual(['ok', 'ok']);
});

describe('a pod that is put on the node past the scheduler as often as one is evicted', () => {
  let made: number;
  const SECOND = 1_000;

  beforeEach(async () => {
    made = 0;
    await world.clock.advance(60 * SECOND);
  });

  /** A ReplicaSet whose pods name their node, and their kubelet, which takes half a second to end one. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      await settle();
      const ending = await evicted();
      if ((await world.pods()).length === ending.length)
        await world.addPod(`pinned-${made++}`, { replicaSet: 'pinned', labels: { app: 'pinned' } });
      await world.clock.advance(500);
      for (const name of ending) await world.endPod(name);
    }
  }

  test('is evicted a few times, ever later, and then named and left, by every replica', async () => {
    await pass(500);
    const [first, second] = [world.replica(), world.replica()];
    const drain = started(first.service.cordonAndDrain(await world.agent()));
    await pass(30 * SECOND);
    expect(await outcome(drain)).toBe('ok');
    expect(evictions(first)).toEqual(['pinned-0', 'pinned-1', 'pinned-2', 'pinned-3']);
    expect((await world.pods()).map(({ metadata }) => metadata.name)).toEqual(['pinned-4']);
    expect(await world.told()).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(/as often as they were evicted: shop\/pinned-4$/) }),
    );
    await second.service.cordonAndDrain(await world.agent());
    expect(evictions(second)).toEqual([]);
  });

  test('is left by a replica that has just come to the drain, while that waits for others', async () => {
    await world.addPod('web-1', { graceSeconds: 3600 });
    await world.addPod('pinned', { replicaSet: 'pinned' });
    const first = world.replica();
    void started(first.service.cordonAndDrain(await world.agent()));
    for (let index = 0; index < 5; index++) {
      await world.clock.advance(20 * SECOND);
      for (const name of await evicted()) if (name !== 'web-1') await world.endPod(name);
      await world.addPod(`pinned-${index}`, { replicaSet: 'pinned' });
    }
    await world.clock.advance(1 * SECOND);
    expect(await world.marks()).toHaveProperty('returning');
    first.tap.kill();
    const second = world.replica();
    const drain = started(second.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(60 * SECOND);
    expect(evictions(second)).toEqual([]);
    for (const name of await evicted()) await world.endPod(name);
    expect(await outcome(drain)).toBe('ok');
  });

  test('a pod that was there before the cordon, or came while the node was uncordoned, is evicted like any other', async () => {
    await world.addPod('web-1', { replicaSet: 'web' });
    const replica = world.replica();
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(20 * SECOND);
    await world.setCordon(false);
    await world.addPod('web-2', { replicaSet: 'web' });
    await world.setCordon(true);
    await world.endPod('web-1');
    await world.clock.advance(5 * SECOND);
    expect(await evicted()).toEqual(['web-2']);
    expect(await outcome(drain)).toBe('pending');
    await world.endPod('web-2');
    expect(await outcome(drain)).toBe('ok');
  });
});
