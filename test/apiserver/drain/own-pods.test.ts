import { beforeEach, expect, test } from '@jest/globals';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { COMPONENT_LABEL, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { addBudget, addSpare } from '../budgets.ts';
import { outcome, started, World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

test('a drain counts none of the operator’s own pods where they stay: not in its progress, and not past its deadline', async () => {
  await world.addPod('web-1');
  await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
  const drain = started(world.replica({ timeoutSec: 60 }).service.cordonAndDrain(await world.agent()));
  await settle();
  expect((await world.shadow()).status?.drain?.pods_left).toBe(1);
  await world.addPod('web-2');
  await world.clock.advance(6_000);
  expect((await world.shadow()).status?.drain?.pods_left).toBe(2);
  await world.clock.advance(54_000);
  expect(await outcome(drain)).toBe('504 DrainTimeout');
  await expect(drain).rejects.toThrow(/left: shop\/web-1 \([^)]*\). shop\/web-2 \([^)]*\)$/);
});

test('a drain looks for another node for the operator’s own pods once while nothing of it gets on, and again when it is their turn', async () => {
  await world.addNode('n2');
  await world.addPod('web-1', { labels: { app: 'web' } });
  await addBudget(world, 'web');
  await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
  const { service, tap } = world.replica();
  const drain = started(service.cordonAndDrain(await world.agent()));
  await settle();
  const looks = (): number =>
    tap.requests.filter(({ path, query }) => path === '/api/v1/nodes' && query?.['limit']).length;
  const before = looks();
  expect(before).toBeGreaterThan(0);
  await world.addPod('agent', { owner: 'daemon' });
  await settle();
  expect(looks()).toBe(before);
  await world.setCordon(true, 'n2');
  await addSpare(world, 'web');
  await world.clock.advance(10_000);
  await world.endPod('web-1');
  expect(await outcome(drain)).toBe('ok');
  expect((await world.pods()).map(({ metadata }) => [metadata.name, metadata.deletionTimestamp])).toEqual([
    ['controller', undefined],
    ['agent', undefined],
  ]);
});

test('a drain asks for few nodes at a time, and for none with each event of the operator’s pods that go', async () => {
  for (let node = 2; node < 60; node++) await world.addNode(`n${node}`);
  await world.setCordon(true, 'n10');
  await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
  const { service, tap } = world.replica();
  const drain = started(service.cordonAndDrain(await world.agent()));
  await settle();
  const looks = () =>
    tap.requests.filter(
      ({ path, query }) => path === '/api/v1/nodes' && !query?.['fieldSelector']?.includes('metadata.name'),
    );
  const before = looks().length;
  for (const phase of ['Running', 'Pending', 'Running']) {
    await world.patch(`/api/v1/namespaces/${NAMESPACE}/pods/controller/status`, { status: { phase } });
    await settle();
  }
  expect(looks()).toHaveLength(before);
  expect(Math.max(...looks().map(({ query }) => Number(query?.['limit'])))).toBeLessThanOrEqual(20);
  await world.endPod('controller', NAMESPACE);
  expect(await outcome(drain)).toBe('ok');
});

test('a drain that waits long for the operator’s own pods leaves them where the last other node has gone', async () => {
  await world.addNode('n2');
  await world.addPod('controller', {
    namespace: NAMESPACE,
    labels: { [COMPONENT_LABEL]: 'brupop-controller', app: 'web' },
  });
  await addBudget(world, 'own', NAMESPACE);
  const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
  await world.clock.advance(20_000);
  await world.setCordon(true, 'n2');
  await world.clock.advance(20_000);
  // Anything that happens on the node.
  await world.addPod('agent', { owner: 'daemon' });
  expect(await outcome(drain)).toBe('ok');
  expect((await world.pods()).find(({ metadata }) => metadata.name === 'controller')?.metadata).not.toHaveProperty(
    'deletionTimestamp',
  );
});

test('a drain goes on with the others while nobody can tell whether the operator’s own pods could go elsewhere', async () => {
  await world.addNode('n2');
  await world.addPod('web-1');
  await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
  const { service, tap } = world.replica();
  let looks = 0;
  let isOut = true;
  tap.before = ({ path, query }) => {
    if (path !== '/api/v1/nodes' || !query?.['limit']) return;
    looks++;
    // The first is of the request itself, before the cordon.
    if (looks > 1 && isOut) throw new UnreachableError('no answer');
  };
  const drain = started(service.cordonAndDrain(await world.agent()));
  await settle();
  isOut = false;
  for (const name of ['web-1', 'controller']) {
    expect(
      (await world.pods()).find(({ metadata }) => metadata.name === name)?.metadata.deletionTimestamp,
    ).toBeDefined();
    await world.endPod(name, name === 'controller' ? NAMESPACE : undefined);
    await settle();
  }
  expect(await outcome(drain)).toBe('ok');
});

test('a drain that waits for the operator’s own pods outlasts an outage of the API', async () => {
  await world.addNode('n2');
  const labels = { [COMPONENT_LABEL]: 'brupop-controller', app: 'web' };
  await world.addPod('controller', { namespace: NAMESPACE, labels });
  await addBudget(world, 'own', NAMESPACE);
  const { service, tap } = world.replica();
  const drain = started(service.cordonAndDrain(await world.agent()));
  await world.clock.advance(20_000);
  tap.before = () => {
    throw new UnreachableError('no answer');
  };
  await world.clock.advance(300_000);
  tap.before = () => undefined;
  expect(await outcome(drain)).toBe('pending');
  await world.endPod('controller', NAMESPACE);
  await world.clock.advance(1_000);
  expect(await outcome(drain)).toBe('ok');
});

test('a drain that leaves the operator’s own pods asks for other nodes once while the others end, and goes on where nobody answers', async () => {
  for (const name of ['web-1', 'web-2']) await world.addPod(name);
  await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
  const { service, tap } = world.replica();
  const drain = started(service.cordonAndDrain(await world.agent()));
  await settle();
  const looks = (): number =>
    tap.requests.filter(({ path, query }) => path === '/api/v1/nodes' && query?.['limit']).length;
  const change = async (phase: string): Promise<void> => {
    await world.patch('/api/v1/namespaces/shop/pods/web-1/status', { status: { phase } });
    await settle();
  };
  await change('Pending');
  const before = looks();
  for (const phase of ['Running', 'Pending', 'Running']) await change(phase);
  expect(looks()).toBe(before);
  await world.clock.advance(60_000);
  tap.before = ({ path, query }) => {
    if (path === '/api/v1/nodes' && query?.['limit']) throw new UnreachableError('no answer');
  };
  await change('Pending');
  expect(await outcome(drain)).toBe('pending');
  tap.before = () => undefined;
  for (const name of ['web-1', 'web-2']) await world.endPod(name);
  expect(await outcome(drain)).toBe('ok');
});
