import { beforeEach, describe, expect, test } from '@jest/globals';
import { MARKS_ANNOTATION } from '../../../runtime/marks/names.ts';
import { settle } from '../../../sim/clock.ts';
import { outcome, started, World } from '../world.ts';

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
