import { beforeEach, describe, expect, test } from '@jest/globals';
import { apiStatusError } from '../../../runtime/kube/errors.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { ADMIN } from '../../../lab/sim/cluster/cluster.ts';
import { startKubernetes } from '../../../lab/sim/kubernetes/main.ts';
import { outcome, type Replica, started, World } from '../world.ts';

const SECOND = 1_000;
const claimed = (name: string): object => ({ name, persistentVolumeClaim: { claimName: name } });

let world: World;
/** Of the pod `db`, which is drained. */
let volume: string;

beforeEach(async () => {
  world = await World.create();
  volume = await world.addClaim('data', 'vol-1');
  await world.addPod('db', { volumes: [claimed('data')] });
  await world.useVolumes([volume]);
});

async function told(reason: string): Promise<readonly string[]> {
  return (await world.told()).filter((event) => event.reason === reason).map(({ message }) => message);
}

/** The drain's pods are gone, and its volume is still in use. @returns the request that waits */
async function waiting(replica: Replica): Promise<{ readonly drain: Promise<void> }> {
  const drain = started(replica.service.cordonAndDrain(await world.agent()));
  await settle();
  await world.endPod('db');
  expect(await outcome(drain)).toBe('pending');
  return { drain };
}

describe('a drain whose pods are gone', () => {
  test('ends as soon as the kubelet has unmounted their volumes, and not before', async () => {
    const { drain } = await waiting(world.replica());
    await world.clock.advance(30 * SECOND);
    expect(await outcome(drain)).toBe('pending');
    expect(await world.marks()).not.toHaveProperty('drained');
    await world.useVolumes([]);
    expect(await outcome(drain)).toBe('ok');
    expect(world.clock.monotonic()).toBe(30 * SECOND);
    expect(await told('WaitingForVolumes')).toEqual([expect.stringContaining(volume)]);
    expect(await told('VolumesInUse')).toEqual([]);
  });

  test('waits for a kubelet that lets go of a volume only after its pod is gone', async () => {
    await world.useVolumes([]);
    await world.endPod('db');
    const over = new AbortController();
    const transport = world.cluster.transport(ADMIN);
    const { clock, random } = world;
    const kubernetes = startKubernetes({ transport, clock, random, signal: over.signal });
    const osImage = 'Bottlerocket OS 1.38.0 (aws-k8s-1.33)';
    await clock.advanceUntil(kubernetes.kubelet('n1').boot({ osImage, bootID: 'boot-1' }), SECOND);
    await world.addPod('db', { volumes: [claimed('data')] });
    await clock.advance(SECOND);
    const began = clock.monotonic();
    await clock.advanceUntil(world.replica().service.cordonAndDrain(await world.agent()), 60 * SECOND);
    expect(await world.pods()).toEqual([]);
    // A second for the containers, and half of one for the volume.
    expect(clock.monotonic() - began).toBe(1_500);
    over.abort(new Error('the test is over'));
    await clock.advanceUntil(kubernetes.stopped, 60 * SECOND);
  });

  test('looks for pods again after that', async () => {
    const { drain } = await waiting(world.replica());
    await world.setCordon(false);
    await world.addPod('landed');
    await world.setCordon(true);
    await world.useVolumes([]);
    expect(await outcome(drain)).toBe('pending');
    await world.endPod('landed');
    expect(await outcome(drain)).toBe('ok');
  });

  test('does not wait for the volumes of pods that stay', async () => {
    const staying = await Promise.all([world.addClaim('logs', 'vol-2'), world.addClaim('agent-scratch', 'vol-3')]);
    const volumes = [
      claimed('logs'),
      { name: 'scratch', ephemeral: { volumeClaimTemplate: {} } },
      { name: 'tmp', emptyDir: {} },
    ];
    await world.addPod('agent', { owner: 'daemon', volumes });
    await world.useVolumes([volume, ...staying]);
    const { drain } = await waiting(world.replica());
    await world.useVolumes(staying);
    expect(await outcome(drain)).toBe('ok');
  });

  test('does not wait for the volumes of a pod that came after the cordon and tolerates it', async () => {
    const staying = await world.addClaim('logs', 'vol-2');
    const { drain } = await waiting(world.replica());
    await world.clock.advance(3 * SECOND);
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    await world.addPod('late', { tolerations, volumes: [claimed('logs')] });
    await world.useVolumes([staying]);
    expect(await outcome(drain)).toBe('ok');
  });

  test('makes nothing of claims of pods that stay where no CSI driver’s volume is bound to them', async () => {
    const claims = '/api/v1/namespaces/shop/persistentvolumeclaims';
    await world.create(claims, { metadata: { name: 'unbound' }, spec: {} });
    await world.create('/api/v1/persistentvolumes', {
      metadata: { name: 'nfs' },
      spec: { nfs: { path: '/', server: 'a' } },
    });
    await world.create(claims, { metadata: { name: 'shared' }, spec: { volumeName: 'nfs' } });
    await world.create(claims, { metadata: { name: 'lost' }, spec: { volumeName: 'gone' } });
    await world.addPod('agent', { owner: 'daemon', volumes: ['unbound', 'shared', 'lost', 'missing'].map(claimed) });
    const { drain } = await waiting(world.replica());
    await world.useVolumes([]);
    expect(await outcome(drain)).toBe('ok');
  });

  test.each([
    ['where they use none', 120, []],
    ['where no time is given to their volumes', 0, ['kubernetes.io/csi/csi.test^vol-1']],
  ])('ends at once %s', async (_, volumesSec, inUse) => {
    await world.useVolumes(inUse);
    const drain = started(world.replica({ volumesSec }).service.cordonAndDrain(await world.agent()));
    await settle();
    await world.endPod('db');
    expect(await outcome(drain)).toBe('ok');
    expect(await told('VolumesInUse')).toEqual([]);
  });
});

describe('a volume that stays in use', () => {
  test('keeps its drain for two minutes, whichever replica is asked, and costs it no failure past its deadline', async () => {
    const [first, second] = [world.replica({ timeoutSec: 60 }), world.replica({ timeoutSec: 60 })];
    await waiting(first);
    await world.clock.advance(70 * SECOND);
    first.tap.kill();
    const drain = started(second.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(49 * SECOND);
    expect(await outcome(drain)).toBe('pending');
    await world.clock.advance(1 * SECOND);
    expect(await outcome(drain)).toBe('ok');
    expect(await told('VolumesInUse')).toEqual([expect.stringContaining(volume)]);
    expect(await told('DrainFailed')).toEqual([]);
  });

  test('keeps its drain for two minutes from when a replica sees that another’s clock is ahead', async () => {
    const first = world.replica({ aheadMs: 300 * SECOND });
    await waiting(first);
    await world.clock.advance(60 * SECOND);
    first.tap.kill();
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await world.clock.advance(120 * SECOND);
    expect(await outcome(drain)).toBe('ok');
  });

  test('keeps no second request of the same drain', async () => {
    const replica = world.replica();
    const { drain } = await waiting(replica);
    await world.clock.advance(120 * SECOND);
    expect(await outcome(drain)).toBe('ok');
    await replica.service.cordonAndDrain(await world.agent());
    expect(world.clock.monotonic()).toBe(120 * SECOND);
    expect(await told('VolumesInUse')).toHaveLength(1);
  });

  test('keeps its drain no longer because somebody uncordoned the node meanwhile', async () => {
    const { drain } = await waiting(world.replica());
    await world.clock.advance(60 * SECOND);
    await world.setCordon(false);
    await world.clock.advance(60 * SECOND);
    expect(await outcome(drain)).toBe('ok');
  });

  test('keeps the drain of the next boot as long again', async () => {
    const { drain } = await waiting(world.replica());
    await world.clock.advance(120 * SECOND);
    expect(await outcome(drain)).toBe('ok');
    const next = started(world.replica().service.cordonAndDrain(await world.agent('n1', 'boot-2')));
    await world.clock.advance(119 * SECOND);
    expect(await outcome(next)).toBe('pending');
  });

  test('is waited for where nobody can tell whose it is, and then no longer than any other', async () => {
    const staying = await world.addClaim('logs', 'vol-2');
    await world.addPod('agent', { owner: 'daemon', volumes: [claimed('logs')] });
    await world.useVolumes([staying]);
    const replica = world.replica();
    replica.tap.before = ({ path }) => {
      if (path.includes('persistentvolume')) throw apiStatusError('a read', { code: 403, reason: 'Forbidden' });
    };
    const { drain } = await waiting(replica);
    await world.clock.advance(120 * SECOND);
    expect(await outcome(drain)).toBe('ok');
  });
});

describe('a request that waits for volumes', () => {
  test('is told to ask again by a replica that ends', async () => {
    const replica = world.replica();
    const { drain } = await waiting(replica);
    replica.service.close();
    expect(await outcome(drain)).toBe('503 ShuttingDown');
  });

  test('is over when its client goes, and asks nothing more', async () => {
    const { service, tap } = world.replica();
    const gone = new AbortController();
    const drain = started(service.cordonAndDrain(await world.agent(), gone.signal));
    await settle();
    await world.endPod('db');
    expect(await outcome(drain)).toBe('pending');
    gone.abort(new Error('gone'));
    await expect(drain).rejects.toThrow('gone');
    tap.requests.length = 0;
    await world.clock.advance(300 * SECOND);
    expect(tap.requests).toEqual([]);
  });

  test('is told that its drain is over when the marks are another’s', async () => {
    const { drain } = await waiting(world.replica());
    void started(world.replica().service.cordonAndDrain(await world.agent('n1', 'boot-2')));
    expect(await outcome(drain)).toBe('503 Superseded');
  });
});
