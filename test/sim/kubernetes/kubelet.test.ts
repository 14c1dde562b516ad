import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TERMINATION_ANNOTATION } from '../../../sim/kubernetes/kubelet/pod-run.ts';
import type { SimNode, SimPod } from '../../../sim/kubernetes/types.ts';
import { PODS, World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(() => world.stop());

describe('a kubelet', () => {
  const single = (spec: object, annotations: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one', annotations },
    spec: { nodeName: 'n1', containers: [{ name: 'main' }], ...spec },
  });
  const one = (): Promise<SimPod> => world.get<SimPod>(`${PODS}/one`);

  test('takes as long to end a pod as its annotation says, at most the grace period', async () => {
    await world.post(PODS, single({ terminationGracePeriodSeconds: 10 }, { [TERMINATION_ANNOTATION]: '60' }));
    await world.clock.advance(1000);
    await world.remove(`${PODS}/one`);
    await world.clock.advance(9900);
    expect((await one()).metadata.deletionTimestamp).toBeDefined();
    expect(world.events).toEqual(['start n1']);
    await world.clock.advance(200);
    await expect(one()).rejects.toMatchObject({ status: { code: 404 } });
    expect(world.events).toEqual(['start n1', 'stop n1']);
  });

  describe('says which volumes it has in use', () => {
    const NAME = 'kubernetes.io/csi/csi.test^vol-1';
    const inUse = async (): Promise<readonly string[] | null | undefined> =>
      (await world.get<SimNode>('/api/v1/nodes/n1')).status?.volumesInUse;

    beforeEach(async () => {
      const csi = { driver: 'csi.test', volumeHandle: 'vol-1' };
      await world.post('/api/v1/persistentvolumes', { metadata: { name: 'pv-1' }, spec: { csi } });
      const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
      await world.post(claims, { metadata: { name: 'data' }, spec: { volumeName: 'pv-1' } });
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
      await world.post(PODS, single({ volumes }));
      await world.clock.advance(1000);
    });

    test('from before its pod runs until a while after that is gone', async () => {
      expect(await inUse()).toEqual([NAME]);
      await world.remove(`${PODS}/one`);
      await world.clock.advance(1100);
      await expect(one()).rejects.toMatchObject({ status: { code: 404 } });
      expect(await inUse()).toEqual([NAME]);
      await world.clock.advance(500);
      expect(await inUse()).toBeUndefined();
    });

    test('and not where it goes down: what it said last stands until the next boot', async () => {
      await world.shutdown('n1');
      await world.remove(`${PODS}/one`, { gracePeriodSeconds: 0 });
      await world.clock.advance(60_000);
      expect(await inUse()).toEqual([NAME]);
      await world.boot('n1', 'boot-2');
      await world.clock.advance(10);
      expect(await inUse()).toBeUndefined();
    });
  });

  test('stops the containers of a pod that is removed by force', async () => {
    await world.post(PODS, single({}));
    await world.clock.advance(1000);
    await world.remove(`${PODS}/one`, { gracePeriodSeconds: 0 });
    await world.clock.advance(10);
    expect(world.events).toEqual(['start n1', 'stop n1']);
  });

  test('tells when containers that run are no longer ready, and when they are again', async () => {
    await world.post(PODS, single({}));
    await world.clock.advance(1000);
    const [first] = (await one()).status?.containerStatuses ?? [];
    world.readiness.get('one')?.(false);
    await world.clock.advance(5000);
    expect((await one()).status).toMatchObject({
      phase: 'Running',
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'False' })]) as unknown,
      containerStatuses: [{ ...first, ready: false }],
    });
    world.readiness.get('one')?.(true);
    await world.clock.advance(5000);
    expect((await one()).status).toMatchObject({ containerStatuses: [first] });
  });

  test('that goes down takes its pods along, and after the next boot they run again', async () => {
    await world.post(PODS, single({}));
    await world.clock.advance(1000);
    await world.shutdown('n1');
    await world.clock.advance(1000);
    expect(world.events).toEqual(['start n1', 'stop n1']);
    const down = await world.get<SimNode>('/api/v1/nodes/n1');
    expect(down.status?.conditions).toMatchObject([{ type: 'Ready', status: 'Unknown' }]);
    expect((await one()).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False' }),
    );
    await world.boot('n1', 'boot-2');
    await world.clock.advance(1000);
    expect(await world.get('/api/v1/nodes/n1')).toMatchObject({ status: { nodeInfo: { bootID: 'boot-2' } } });
    expect((await one()).status).toMatchObject({
      containerStatuses: [{ ready: true, restartCount: 1, state: { running: {} }, lastState: { terminated: {} } }],
    });
    expect(world.events).toEqual(['start n1', 'stop n1', 'start n1']);
  });

  test('finishes, after the boot, a pod that was deleted while the node was down', async () => {
    await world.post(PODS, single({}));
    await world.clock.advance(1000);
    await world.shutdown('n1');
    await world.remove(`${PODS}/one`);
    await world.clock.advance(60_000);
    expect((await one()).metadata.name).toBe('one');
    await world.boot('n1', 'boot-2');
    await world.clock.advance(10);
    await expect(one()).rejects.toMatchObject({ status: { code: 404 } });
    expect(world.events).toEqual(['start n1', 'stop n1']);
  });

  test('starts containers that ended by themselves again: at once, then after 10 s, then after 20 s', async () => {
    await world.post(PODS, single({}));
    await world.clock.advance(1000);
    const starts: number[] = [];
    for (const wait of [0, 10, 20]) {
      const before = world.clock.monotonic();
      world.exits.get('one')?.(137);
      const count = world.events.length;
      while (world.events.length === count && world.clock.monotonic() - before < 60_000) await world.clock.advance(500);
      starts.push(wait, Math.round((world.clock.monotonic() - before) / 1000));
    }
    expect(starts).toEqual([0, 1, 10, 10, 20, 20]);
    expect((await one()).status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 3,
      ready: true,
      lastState: { terminated: { exitCode: 137, reason: 'Error' } },
    });
  });
});
