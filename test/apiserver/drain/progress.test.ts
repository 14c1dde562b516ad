import { beforeEach, describe, expect, test } from '@jest/globals';
import { settle } from '../../../lab/sim/clock.ts';
import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import { COMPONENT_LABEL, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { addBudget } from '../budgets.ts';
import { outcome, type Replica, started, World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const writesStatus = ({ method, path }: KubeRequest): boolean => method === 'PATCH' && path.endsWith('/brs-n1/status');

/** The numbers of pods that a replica has stated, in order. */
const stated = ({ tap }: Replica): number[] =>
  tap.requests
    .filter(writesStatus)
    .map(({ body }) => (body as { status: { drain: { pods_left: number } } }).status.drain.pods_left);

/** Without its time. */
async function progress(): Promise<unknown> {
  const { reported_at: _, ...said } = (await world.shadow()).status?.drain ?? {};
  return 'started_at' in said ? said : undefined;
}
const DONE = { started_at: '2026-01-01T00:00:00Z', pods_left: 0, blocked_by: [] };

async function addPods(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await world.addPod(`web-${index}`);
}

/** A replica that drains the node for an agent which has gone. */
async function left(): Promise<Replica> {
  const replica = world.replica();
  const gone = new AbortController();
  void started(replica.service.cordonAndDrain(await world.agent(), gone.signal));
  await settle();
  gone.abort(new Error('gone'));
  return replica;
}

describe('the progress of a drain', () => {
  test('is written at most every five seconds', async () => {
    await addPods(8);
    const replica = world.replica();
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    for (let index = 0; index < 8; index++) {
      await world.clock.advance(1000);
      await world.endPod(`web-${index}`);
    }
    expect(await outcome(drain)).toBe('ok');
    expect(stated(replica)).toEqual([8, 3, 0]);
  });

  test('is written again each half minute, so that its age shows whether a replica still works', async () => {
    await addPods(1);
    const replica = world.replica();
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(100_000);
    const age = world.clock.now() - Date.parse((await world.shadow()).status?.drain?.reported_at ?? '');
    expect(age).toBeLessThan(36_000);
    expect(stated(replica)).toEqual([1, 1, 1]);
    await world.endPod('web-0');
    expect(await outcome(drain)).toBe('ok');
  });

  test('ends at no pods also where nobody waited for the end', async () => {
    await addPods(1);
    const { service } = await left();
    await world.endPod('web-0');
    await settle();
    await service.cordonAndDrain(await world.agent());
    expect(await progress()).toEqual(DONE);
  });

  test('ends at no pods at once where no request waits or comes', async () => {
    await addPods(1);
    const replica = await left();
    await world.setStatus({ crash_count: 1 });
    await world.endPod('web-0');
    await settle();
    expect(await progress()).toEqual(DONE);
    expect(stated(replica)).toEqual([1, 0]);
  });

  test('is not written where nobody waits into a status in which it was ended', async () => {
    await addPods(1);
    await left();
    await world.setStatus({ drain: null });
    await world.endPod('web-0');
    await settle();
    expect(await progress()).toBeUndefined();
  });

  test('ends at no pods also where another replica proves the end', async () => {
    await addPods(2);
    const first = world.replica();
    void started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(500);
    first.service.close();
    for (const name of ['web-0', 'web-1']) await world.endPod(name);
    await world.replica().service.cordonAndDrain(await world.agent());
    expect(await progress()).toEqual(DONE);
  });

  test('names at the deadline exactly what is left', async () => {
    await addPods(3);
    const { service } = world.replica({ timeoutSec: 60 });
    const drain = started(service.cordonAndDrain(await world.agent()));
    await world.clock.advance(59_900);
    await world.endPod('web-0');
    await world.clock.advance(100);
    expect(await outcome(drain)).toBe('504 DrainTimeout');
    expect(await progress()).toMatchObject({ ...DONE, pods_left: 2 });
  });

  test('is written although a status of the agent came first', async () => {
    await addPods(3);
    const replica = world.replica();
    void started(replica.service.cordonAndDrain(await world.agent()));
    await settle();
    await world.endPod('web-0');
    await world.setStatus({ crash_count: 1 });
    await world.clock.advance(10_000);
    expect(await progress()).toEqual({ ...DONE, pods_left: 2 });
    expect(stated(replica)).toEqual([3, 2, 2]);
    expect((await world.shadow()).status?.crash_count).toBe(1);
  });

  test('is not written into a status in which it was ended', async () => {
    await addPods(2);
    const replica = world.replica();
    void started(replica.service.cordonAndDrain(await world.agent()));
    await settle();
    await world.endPod('web-0');
    await world.setStatus({ drain: null });
    await world.clock.advance(60_000);
    expect(await progress()).toBeUndefined();
    expect(stated(replica)).toEqual([2, 1]);
  });

  test('is left to the replica that works on the drain while pods are left', async () => {
    await addPods(3);
    const [first, second] = [world.replica(), world.replica()];
    void started(first.service.cordonAndDrain(await world.agent()));
    await settle();
    await world.endPod('web-0');
    void started(second.service.cordonAndDrain(await world.agent()));
    await settle();
    expect(stated(second)).toEqual([]);
  });
});

test('a drain never says that no pods are left before it knows which', async () => {
  await world.addNode('n2');
  await world.addPod('web-1', { labels: { app: 'web' } });
  await addBudget(world, 'web');
  await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
  const { service, tap } = world.replica();
  let looks = 0;
  tap.before = async ({ path, query }) => {
    if (path !== '/api/v1/nodes' || !query?.['limit'] || query['fieldSelector']?.includes('metadata.name')) return;
    looks++;
    // The first is of the request itself. That of the run is slow.
    if (looks > 1) await world.clock.sleep(20_000);
  };
  void started(service.cordonAndDrain(await world.agent()));
  const seen: unknown[] = [];
  for (let s = 0; s < 10; s++) {
    await world.clock.advance(1_000);
    await settle();
    seen.push((await world.shadow()).status?.drain?.pods_left);
  }
  expect(seen).not.toContain(0);
});
