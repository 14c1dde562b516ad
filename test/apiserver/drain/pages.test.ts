import { beforeEach, expect, test } from '@jest/globals';
import { drainPod } from '../../../runtime/drain/pod.ts';
import { apiStatusError } from '../../../runtime/kube/errors.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { addHeavyPod } from '../../../lab/bench/apiserver/heavy-pod.ts';
import { evictions, outcome, started, World } from '../world.ts';

/** That a replica can drain many nodes of pods as they really are: 17 KB each. */

const NODES = Array.from({ length: 12 }, (_, index) => `n${index + 1}`);

let world: World;

beforeEach(async () => {
  world = await World.create();
});

test('of a pod no more is kept than what a drain reads', async () => {
  await addHeavyPod(world, 'web-1', 'n1');
  const [pod] = (await world.pods()) as [Pod];
  const bytes = (object: object): number => JSON.stringify(object).length;
  expect(bytes(pod)).toBeGreaterThan(16_000);
  expect(bytes(drainPod(pod))).toBeLessThan(500);
});

test('drains that begin together read a few pages of fifty pods at a time', async () => {
  for (const node of NODES.slice(1)) {
    await world.addNode(node);
    await world.addShadow(node);
  }
  for (const node of NODES) for (let index = 0; index < 60; index++) await world.addPod(`${node}-${index}`, { node });
  const { service, tap } = world.replica();
  const isList = ({ path, query }: KubeRequest): boolean => path === '/api/v1/pods' && query?.['limit'] !== undefined;
  let atOnce = 0;
  let most = 0;
  tap.before = async (request) => {
    if (!isList(request)) return;
    most = Math.max(most, ++atOnce);
    await world.clock.sleep(100);
    atOnce--;
  };
  const agents = await Promise.all(NODES.map((node) => world.agent(node)));
  const drains = agents.map((agent) => started(service.cordonAndDrain(agent)));
  await world.clock.advance(60_000);
  for (const { metadata } of await world.pods()) {
    expect(metadata.deletionTimestamp).toBeDefined();
    await world.endPod(metadata.name);
  }
  await world.clock.advance(60_000);
  expect(await Promise.all(drains.map(outcome))).toEqual(NODES.map(() => 'ok'));
  expect(most).toBe(2);
  const limits = tap.requests.filter(isList).map(({ query }) => Number(query?.['limit']));
  expect(Math.max(...limits)).toBe(50);
});

test('a list of pods that takes so long that it expires is begun anew', async () => {
  for (let index = 0; index < 60; index++) await world.addPod(`web-${index}`);
  const { service, tap } = world.replica();
  let expired = false;
  tap.before = ({ query }) => {
    if (expired || query?.['continue'] === undefined) return;
    expired = true;
    throw apiStatusError('GET /api/v1/pods', { code: 410, reason: 'Expired' });
  };
  expect(await outcome(started(service.cordonAndDrain(await world.agent())))).toBe('pending');
  expect((await world.shadow()).status?.drain?.pods_left).toBe(60);
});

test('a pod that finishes by itself in the middle of a drain is neither evicted nor waited for', async () => {
  await world.addPod('web-1');
  await world.addPod('job-1', { phase: 'Pending' });
  const replica = world.replica();
  replica.tap.before = ({ path }) => {
    if (path.endsWith('/job-1/eviction')) throw new Error('no answer');
  };
  const drain = started(replica.service.cordonAndDrain(await world.agent()));
  await settle();
  await world.patch('/api/v1/namespaces/shop/pods/job-1/status', { status: { phase: 'Succeeded' } });
  await settle();
  const before = evictions(replica).length;
  await world.clock.advance(60_000);
  expect(evictions(replica)).toHaveLength(before);
  await world.endPod('web-1');
  expect(await outcome(drain)).toBe('ok');
});
