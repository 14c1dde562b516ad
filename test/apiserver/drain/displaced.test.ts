import { beforeEach, expect, test } from '@jest/globals';
import type { DisplacedWorkloads } from '../../../runtime/api/shadow/displaced.ts';
import { ApiStatusError } from '../../../runtime/kube/errors.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { type Replica, started, World } from '../world.ts';

let world: World;
let replica: Replica;

const SETS = '/apis/apps/v1/namespaces/shop/replicasets';
const STATEFUL = '/apis/apps/v1/namespaces/shop/statefulsets';

beforeEach(async () => {
  world = await World.create();
  replica = world.replica();
  await world.addPod('web-1', { replicaSet: 'web', labels: { app: 'web' } });
  await sized(`${SETS}/web`, { wanted: 3, ready: 3 });
});

/** As its controller has it, with the nulls of an API server that was told so. */
async function sized(path: string, { wanted, ready }: { wanted: number | null; ready: number | null }): Promise<void> {
  await world.patch(path, { spec: { replicas: wanted, selector: { matchLabels: { app: 'web' } } } });
  await world.patch(`${path}/status`, { status: { readyReplicas: ready, conditions: null } });
}

/** Up to where pods are evicted. */
async function drain(): Promise<DisplacedWorkloads | null | undefined> {
  void started(replica.service.cordonAndDrain(await world.agent()));
  await world.clock.advance(1000);
  return displaced();
}

const displaced = async () => (await world.shadow()).status?.displaced;

/** The host is back, and its agent asks. */
async function look(): Promise<DisplacedWorkloads | null | undefined> {
  await world.setSpec({ state: 'MonitoringUpdate' });
  await replica.service.lookForDisplaced(await world.agent());
  return displaced();
}

test('a drain writes down whose pods it evicts, once each, with how many were ready', async () => {
  await world.addPod('web-2', { replicaSet: 'web' });
  await world.addPod('db-0', { statefulSet: 'db' });
  await sized(`${STATEFUL}/db`, { wanted: 2, ready: 1 });
  await world.addPod('broken-1', { replicaSet: 'broken' });
  await sized(`${SETS}/broken`, { wanted: 2, ready: null });
  await world.addPod('logs-1', { owner: 'logs' });
  await world.addPod('bare');
  const { owners = [], missing, looked_at } = (await drain()) ?? {};
  const said = owners.map(({ kind, namespace, name, ready }) => `${kind} ${namespace}/${name} ${ready}`);
  expect(said.toSorted()).toEqual(['ReplicaSet shop/web 3', 'StatefulSet shop/db 1']);
  expect([missing, looked_at ?? null]).toEqual([[], null]);
});

test('a drain without such pods writes down nothing, nor does one that may not read who owns them', async () => {
  replica.tap.before = async ({ path }) => {
    if (path.startsWith('/apis/apps'))
      throw new ApiStatusError('GET', { code: 403, reason: 'Forbidden', message: 'no' });
  };
  expect((await drain()) ?? null).toBeNull();
  expect((await world.node()).spec?.unschedulable).toBe(true);
});

test('nothing is on record any more once each owner has as many ready pods as before', async () => {
  await drain();
  await sized(`${SETS}/web`, { wanted: 3, ready: 2 });
  expect((await look())?.missing).toEqual(['ReplicaSet shop/web: 2 of 3 ready']);
  await sized(`${SETS}/web`, { wanted: 3, ready: 3 });
  expect((await look()) ?? null).toBeNull();
});

test('an owner that was not whole before is waited for as it was', async () => {
  await sized(`${SETS}/web`, { wanted: 3, ready: 2 });
  await drain();
  expect((await look()) ?? null).toBeNull();
});

test('an owner that was scaled down, whose Deployment has rolled on, that is gone or made anew is not waited for', async () => {
  await drain();
  const { owners } = (await displaced())!;
  const isWaitedFor = async (): Promise<boolean> => {
    await world.setStatus({ displaced: { owners, missing: [] } });
    return (await look()) != null;
  };
  await sized(`${SETS}/web`, { wanted: 3, ready: 1 });
  expect(await isWaitedFor()).toBe(true);
  await sized(`${SETS}/web`, { wanted: 1, ready: 1 });
  expect(await isWaitedFor()).toBe(false);
  await sized(`${SETS}/web`, { wanted: 0, ready: null });
  expect(await isWaitedFor()).toBe(false);
  await world.delete(`${SETS}/web`);
  expect(await isWaitedFor()).toBe(false);
  await world.create(SETS, { metadata: { name: 'web' }, spec: { replicas: 3 } });
  expect(await isWaitedFor()).toBe(false);
});

test('what is missing names the reason of its first pod, in the same words for as long, each half minute', async () => {
  await drain();
  await sized(`${SETS}/web`, { wanted: 3, ready: 2 });
  await world.addPod('web-9', { replicaSet: 'web', labels: { app: 'web' }, node: 'n2', phase: 'Pending' });
  const waiting = { name: 'c', state: { waiting: { reason: 'ImagePullBackOff' } } };
  await world.patch('/api/v1/namespaces/shop/pods/web-9/status', { status: { containerStatuses: [waiting] } });
  const first = await look();
  expect(first?.missing).toEqual(['ReplicaSet shop/web: 2 of 3 ready (ImagePullBackOff)']);
  const { resourceVersion } = (await world.shadow()).metadata;
  await world.clock.advance(29_000);
  expect(await look()).toEqual(first);
  expect((await world.shadow()).metadata.resourceVersion).toBe(resourceVersion);
  await world.clock.advance(1000);
  expect(await look()).toEqual({ ...first, looked_at: rfc3339(world.clock.now()) });
});

test('nothing is looked at in any other step, and nobody is blamed for an API server that is away', async () => {
  await drain();
  await sized(`${SETS}/web`, { wanted: 3, ready: 2 });
  await replica.service.lookForDisplaced(await world.agent());
  expect((await displaced())?.missing).toEqual([]);
  replica.tap.before = async ({ path }) => {
    if (path.startsWith(SETS)) throw new ApiStatusError('GET', { code: 503, reason: 'Unavailable', message: 'away' });
  };
  await expect(look()).rejects.toThrow('away');
  expect((await displaced())?.owners).toHaveLength(1);
});

test('a drain that begins anew after an unplanned reboot keeps what was known before it', async () => {
  await drain();
  await sized(`${SETS}/web`, { wanted: 3, ready: 2 });
  await world.addPod('db-0', { statefulSet: 'db' });
  await sized(`${STATEFUL}/db`, { wanted: 1, ready: 1 });
  await world.boots('1.38.0', 'boot-2');
  void started(world.replica().service.cordonAndDrain(await world.agent('n1', 'boot-2')));
  await world.clock.advance(1000);
  const { owners = [] } = (await displaced()) ?? {};
  expect(new Map(owners.map(({ name, ready }) => [name, ready]))).toEqual(
    new Map([
      ['web', 3],
      ['db', 1],
    ]),
  );
});

test.each([-90_000, 90_000])(
  'when it was looked at is by the API server’s clock, where the replica’s is %d ms ahead',
  async (aheadMs) => {
    await drain();
    await sized(`${SETS}/web`, { wanted: 3, ready: 2 });
    replica = world.replica({ aheadMs });
    const { looked_at } = (await look()) ?? {};
    expect(Math.abs(Date.parse(looked_at ?? '') - world.clock.now())).toBeLessThanOrEqual(1_000);
  },
);

test('the next update begins without it', async () => {
  await drain();
  await world.setSpec({ state: 'Idle' });
  await world.setStatus({ current_state: 'Idle' });
  await world.setSpec({ state: 'StagedAndPerformedUpdate', version: '1.40.0' });
  const status = {
    current_version: '1.38.0',
    target_version: '1.40.0',
    current_state: 'StagedAndPerformedUpdate',
    crash_count: 0,
  };
  await replica.service.putStatus({ agent: await world.agent(), status, version: undefined });
  expect((await displaced()) ?? null).toBeNull();
});

test('the report of an older agent, which never asks, says nothing of what is missing then, and ends the wait where all is back', async () => {
  await drain();
  await world.setSpec({ state: 'MonitoringUpdate' });
  const report = async () => {
    const status = { ...(await world.shadow()).status!, current_state: 'MonitoringUpdate' };
    await replica.service.putStatus({ agent: await world.agent(), status, version: undefined });
    return displaced();
  };
  await sized(`${SETS}/web`, { wanted: 3, ready: 2 });
  expect((await report())?.looked_at ?? null).toBeNull();
  await world.setStatus({ current_state: 'RebootedIntoUpdate' });
  await sized(`${SETS}/web`, { wanted: 3, ready: 3 });
  expect((await report()) ?? null).toBeNull();
});
