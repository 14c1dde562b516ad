import { beforeEach, describe, expect, test } from '@jest/globals';
import { type LetFinish, letFinishText } from '../../../runtime/api/shadow/let-finish.ts';
import { LET_FINISH_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { SHADOWS } from '../objects.ts';
import { evictions, outcome, type Replica, started, World } from '../world.ts';

let world: World;
let replica: Replica;

const HOUR = 3_600_000;
const BATCH = { pods: { matchLabels: { app: 'batch' } }, doNotDisrupt: false, upToMs: 24 * HOUR };

beforeEach(async () => {
  world = await World.create();
  replica = world.replica({ timeoutSec: 1800 });
  await world.addPod('batch-1', { labels: { app: 'batch' } });
  await world.addPod('web-1', { labels: { app: 'web' } });
});

const say = (said: LetFinish | undefined): Promise<unknown> =>
  world.patch(`${SHADOWS}/brs-n1`, { metadata: { annotations: { [LET_FINISH_ANNOTATION]: letFinishText(said) } } });

let answer: Promise<void>;
async function drain(by = replica): Promise<void> {
  answer = started(by.service.cordonAndDrain(await world.agent()));
  await world.clock.advance(1000);
}

const progress = async () => (await world.shadow()).status?.drain;
const finish = (name: string): Promise<unknown> =>
  world.patch(`/api/v1/namespaces/shop/pods/${name}/status`, { status: { phase: 'Succeeded' } });

/** As an agent asks whose request has run out of time. */
async function pass(ms: number): Promise<void> {
  await world.clock.advance(ms);
}

test('the node is cordoned, no pod is evicted, and its status says which pods it waits for and until when', async () => {
  await say(BATCH);
  const until = rfc3339(world.clock.now() + BATCH.upToMs);
  await drain();
  expect((await world.node()).spec?.unschedulable).toBe(true);
  await pass(HOUR);
  expect(evictions(replica)).toEqual([]);
  expect(await progress()).toMatchObject({ waits_for: ['shop/batch-1'], waits_until: until, pods_left: 2 });
  expect(await world.events()).toContain('DrainWaits');
  expect(await world.events()).not.toContain('DrainStarted');
  expect(await outcome(answer)).toBe('pending');
});

test('once the pod has completed the others are evicted, and the drain’s time counts from then', async () => {
  await say(BATCH);
  await drain();
  await pass(5 * HOUR);
  const finishedAt = world.clock.now();
  await finish('batch-1');
  await pass(3000);
  expect(evictions(replica)).toEqual(['web-1']);
  const { started_at = '', waits_for, waits_until } = (await progress()) ?? {};
  expect(Date.parse(started_at)).toBeGreaterThanOrEqual(finishedAt);
  expect([waits_for ?? null, waits_until ?? null]).toEqual([null, null]);
  await world.endPod('web-1');
  await pass(3000);
  expect(await outcome(answer)).toBe('ok');
  expect((await world.marks())?.drained).toBeDefined();
});

test('at the end of its time such a pod is evicted as others are', async () => {
  await say({ ...BATCH, upToMs: HOUR });
  await drain();
  await pass(HOUR - 5000);
  expect(evictions(replica)).toEqual([]);
  await pass(10_000);
  expect(evictions(replica).toSorted()).toEqual(['batch-1', 'web-1']);
});

test('who asks not to be disrupted is let finish only where that is honoured', async () => {
  await world.addPod('long-1', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
  await world.addPod('safe-1', { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } });
  await say({ pods: undefined, doNotDisrupt: true, upToMs: HOUR });
  await drain();
  expect((await progress())?.waits_for).toEqual(['shop/long-1', 'shop/safe-1']);
});

describe('nothing is let finish', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['where nobody has said so', async () => undefined],
    [
      'where it cannot be read',
      () => world.patch(`${SHADOWS}/brs-n1`, { metadata: { annotations: { [LET_FINISH_ANNOTATION]: '{"pods":7}' } } }),
    ],
    ['of pods that are not there', () => say({ ...BATCH, pods: { matchLabels: { app: 'other' } } })],
  ])('%s', async (_, prepare) => {
    await prepare();
    await drain();
    expect(evictions(replica).toSorted()).toEqual(['batch-1', 'web-1']);
    expect((await world.marks())?.waitsUntil).toBeUndefined();
  });

  test('twice: a pod that matches and comes later is evicted by a drain that has begun to', async () => {
    await say(BATCH);
    await drain();
    await finish('batch-1');
    await pass(3000);
    await world.addPod('batch-2', { labels: { app: 'batch' } });
    await pass(5000);
    expect(evictions(replica)).toEqual(['web-1', 'batch-2']);
  });
});

test('another replica goes on with the wait, and with its end', async () => {
  await say({ ...BATCH, upToMs: HOUR });
  await drain();
  const until = (await world.marks())?.waitsUntil;
  replica.service.close();
  const other = world.replica();
  await pass(HOUR / 2);
  await drain(other);
  expect((await world.marks())?.waitsUntil).toBe(until);
  expect(evictions(other)).toEqual([]);
  await pass(HOUR / 2);
  expect(evictions(other).toSorted()).toEqual(['batch-1', 'web-1']);
});

test('where the controller says no more whose work that is, the drain begins', async () => {
  await say(BATCH);
  await drain();
  replica.service.close();
  await say(undefined);
  const other = world.replica();
  await drain(other);
  await pass(3000);
  expect(evictions(other).toSorted()).toEqual(['batch-1', 'web-1']);
});

test('a drain that is called off while it waits has evicted nobody, and nothing of it is left on the Node', async () => {
  await say(BATCH);
  await drain();
  await world.setSpec({ state: 'Idle' });
  await replica.service.uncordon(await world.agent());
  await pass(60_000);
  const { metadata, spec } = await world.node();
  expect(spec?.unschedulable ?? false).toBe(false);
  expect(Object.keys({ ...metadata.labels, ...metadata.annotations })).toEqual([]);
  expect(evictions(replica)).toEqual([]);
  expect(await outcome(answer)).not.toBe('ok');
});
