import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TERMINATION_ANNOTATION } from '../../../sim/kubernetes/kubelet/pod-run.ts';
import type { SimPod } from '../../../sim/kubernetes/types.ts';
import { PODS, World } from './world.ts';

const APPS = '/apis/apps/v1/namespaces/default';

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(() => world.stop());

const template = (spec: object = {}, annotations: object = {}): object => ({
  metadata: { labels: { app: 'web' }, annotations },
  spec: { containers: [{ name: 'main', image: 'web:1' }], ...spec },
});
const selector = { matchLabels: { app: 'web' } };
const daemonSet = (podTemplate = template()): object => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web' },
  spec: { selector, template: podTemplate },
});
const deployment = (replicas: number, podTemplate = template()): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas, selector, template: podTemplate },
});
const budget = (spec: object): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web' },
  spec: { selector, ...spec },
});

const evict = (pod: SimPod | undefined): Promise<unknown> => {
  const { name, uid } = pod?.metadata ?? { name: '', uid: '' };
  const deleteOptions = { preconditions: { uid } };
  return world.post(`${PODS}/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    deleteOptions,
  });
};

describe('a DaemonSet', () => {
  test('has a pod on every node that it selects, cordoned ones too', async () => {
    await world.patch('/api/v1/nodes/n2', { spec: { unschedulable: true } });
    await world.patch('/api/v1/nodes/n3', { metadata: { labels: { tier: 'b' } } });
    await world.post(`${APPS}/daemonsets`, daemonSet(template({ nodeSelector: { tier: 'a' } })));
    await world.clock.advance(1000);
    expect(await world.runningOn()).toEqual(['n1', 'n2']);
    await world.patch('/api/v1/nodes/n3', { metadata: { labels: { tier: 'a' } } });
    await world.patch('/api/v1/nodes/n1', { metadata: { labels: { tier: null } } });
    await world.clock.advance(3000);
    expect(await world.runningOn()).toEqual(['n2', 'n3']);
    const { status } = await world.get<{ readonly status: object }>(`${APPS}/daemonsets/web`);
    expect(status).toMatchObject({
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      numberReady: 2,
      observedGeneration: 1,
    });
  });

  test('keeps its pod at a taint that keeps new ones away, and not at one that drives pods away', async () => {
    await world.post(`${APPS}/daemonsets`, daemonSet());
    await world.clock.advance(1000);
    const taint = (effect: string) => ({ spec: { taints: [{ key: 'example.com/maintenance', effect }] } });
    await world.patch('/api/v1/nodes/n1', taint('NoSchedule'));
    await world.patch('/api/v1/nodes/n2', taint('NoExecute'));
    await world.clock.advance(3000);
    expect(await world.runningOn()).toEqual(['n1', 'n3']);
    const { status } = await world.get<{ readonly status: object }>(`${APPS}/daemonsets/web`);
    expect(status).toMatchObject({ desiredNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 1 });
    const kept = (await world.pods()).find(({ spec }) => spec?.nodeName === 'n1');
    await world.remove(`${PODS}/${kept?.metadata.name}`);
    await world.clock.advance(3000);
    expect(await world.runningOn()).toEqual(['n3']);
  });

  test('replaces a deleted pod once it is gone, under another name', async () => {
    await world.post(`${APPS}/daemonsets`, daemonSet());
    await world.clock.advance(1000);
    const before = (await world.pods()).find(({ spec }) => spec?.nodeName === 'n1');
    await world.remove(`${PODS}/${before?.metadata.name}`);
    await world.clock.advance(500);
    expect(await world.pods()).toHaveLength(3);
    await world.clock.advance(1500);
    const after = (await world.pods()).find(({ spec }) => spec?.nodeName === 'n1');
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(await world.runningOn()).toEqual(['n1', 'n2', 'n3']);
  });

  test('rolls to a new template one node at a time', async () => {
    await world.post(`${APPS}/daemonsets`, daemonSet());
    await world.clock.advance(1000);
    await world.patch(`${APPS}/daemonsets/web`, {
      spec: { template: template({ containers: [{ name: 'main', image: 'web:2' }] }) },
    });
    let least = 3;
    for (let step = 0; step < 100; step++) {
      await world.clock.advance(100);
      least = Math.min(least, (await world.runningOn()).length);
    }
    expect(least).toBe(2);
    expect((await world.pods()).map(({ spec }) => spec?.containers?.[0]?.image)).toEqual(['web:2', 'web:2', 'web:2']);
  });
});

describe('a Deployment', () => {
  test('keeps its number of pods, spread over the nodes', async () => {
    await world.post(`${APPS}/deployments`, deployment(3));
    await world.clock.advance(1000);
    expect(await world.runningOn()).toEqual(['n1', 'n2', 'n3']);
    const [first] = await world.pods();
    expect(first?.metadata.name).toMatch(/^web-[0-9a-f]{10}-[b-z2-9]{5}$/);
    expect(first?.metadata.labels).toHaveProperty('pod-template-hash');
    await world.remove(`${PODS}/${first?.metadata.name}`);
    await world.clock.advance(3000);
    expect(await world.runningOn()).toHaveLength(3);
    const { status } = await world.get<{ readonly status: object }>(`${APPS}/deployments/web`);
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3, updatedReplicas: 3, availableReplicas: 3 });
  });

  test('moves to a new template, and shrinks', async () => {
    await world.post(`${APPS}/deployments`, deployment(3));
    await world.clock.advance(1000);
    await world.patch(`${APPS}/deployments/web`, {
      spec: { template: template({ containers: [{ name: 'main', image: 'web:2' }] }) },
    });
    await world.clock.advance(5000);
    expect((await world.pods()).map(({ spec }) => spec?.containers?.[0]?.image)).toEqual(['web:2', 'web:2', 'web:2']);
    await world.patch(`${APPS}/deployments/web`, { spec: { replicas: 1 } });
    await world.clock.advance(5000);
    expect(await world.pods()).toHaveLength(1);
  });

  test('whose node is cordoned and evicted goes elsewhere, as fast as its budget lets it', async () => {
    const slow = { [TERMINATION_ANNOTATION]: '5' };
    await world.post(`/apis/policy/v1/namespaces/default/poddisruptionbudgets`, budget({ maxUnavailable: 1 }));
    await world.post(`${APPS}/deployments`, deployment(2, template({}, slow)));
    await world.clock.advance(1000);
    for (const name of ['n1', 'n2', 'n3'])
      await world.patch(`/api/v1/nodes/${name}`, { spec: { unschedulable: true } });
    const [first, second] = await world.pods();
    await evict(first);
    await world.clock.advance(1000);
    await expect(evict(second)).rejects.toMatchObject({ status: { code: 429 } });
    await world.patch('/api/v1/nodes/n3', { spec: { unschedulable: null } });
    await world.clock.advance(1000);
    await evict(second);
    await world.clock.advance(10_000);
    expect(await world.runningOn()).toEqual(['n3', 'n3']);
  });
});

test('when all of it stops, every container is stopped', async () => {
  await world.post(`${APPS}/daemonsets`, daemonSet());
  await world.clock.advance(1000);
  await world.stop();
  expect(world.events.filter((event) => event.startsWith('stop')).toSorted()).toEqual([
    'stop n1',
    'stop n2',
    'stop n3',
  ]);
});

test('a cluster at rest asks the API for nothing', async () => {
  await world.post(`${APPS}/daemonsets`, daemonSet());
  await world.post(`${APPS}/deployments`, deployment(2));
  await world.post(`/apis/policy/v1/namespaces/default/poddisruptionbudgets`, budget({ minAvailable: '50%' }));
  await world.clock.advance(10_000);
  const before = world.cluster.audit.length;
  await world.clock.advance(600_000);
  expect(world.cluster.audit.slice(before)).toEqual([]);
});
