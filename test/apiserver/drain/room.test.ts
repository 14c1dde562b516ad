import { beforeEach, describe, expect, test } from '@jest/globals';
import { LB_LABEL, MARKS_ANNOTATION, UPDATING_LABEL } from '../../../runtime/api/marks/names.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { evictions, outcome, type Replica, started, World } from '../world.ts';

/** Where the pods of a drain would go: it is looked for when the drain is to begin, and at no other time. */

let world: World;
beforeEach(async () => {
  world = await World.create();
  await size('n1', '16');
  await world.addPod('db-0', { replicaSet: 'db', requests: { cpu: '14' } });
});

const size = (name: string, cpu: string): Promise<unknown> =>
  world.patch(`/api/v1/nodes/${name}/status`, { status: { allocatable: { cpu, memory: '64Gi', pods: '110' } } });

async function addNode(name: string, cpu: string, more: object = {}): Promise<void> {
  await world.addNode(name);
  await size(name, cpu);
  await world.patch(`/api/v1/nodes/${name}`, more);
}

const drain = async (replica: Replica): Promise<string> =>
  outcome(started(replica.service.cordonAndDrain(await world.agent())));
const warned = async (): Promise<readonly string[]> =>
  (await world.told()).filter(({ reason }) => reason === 'NoRoom').map(({ message }) => message);
const readsOfNodes = ({ tap }: Replica): number =>
  tap.requests.filter(({ path, query }) => path === '/api/v1/nodes' && query?.['limit']).length;

describe('a drain whose pods find no room elsewhere', () => {
  beforeEach(async () => {
    await addNode('n2', '12');
    await world.addPod('web', { node: 'n2', replicaSet: 'web', requests: { cpu: '3' } });
    await addNode('tainted', '64', { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } });
    await addNode('cordoned', '64', { spec: { unschedulable: true } });
  });

  test('begins all the same, and says so', async () => {
    const replica = world.replica();
    expect(await drain(replica)).toBe('pending');
    expect(await warned()).toEqual([expect.stringMatching(/: 14 CPU needed, 9 free$/)]);
    expect((await world.shadow()).status?.no_room).toBe('14 CPU needed, 9 free');
    expect(evictions(replica)).toEqual(['db-0']);
    expect(await replica.metrics.registry.metrics()).toContain(
      'brupop_apiserver_drains_without_room_total{result="begun"} 1',
    );
  });

  test('waits in service where its policy wants that, and begins once there is room', async () => {
    await world.setSpec({ capacity: 'wait' });
    const replica = world.replica();
    expect(await drain(replica)).toBe('409 Undrainable');
    expect(await outcome(replica.service.excludeFromLb(await world.agent()))).toBe('409 Undrainable');
    expect([(await world.node()).spec?.unschedulable, await world.marks()]).toEqual([undefined, undefined]);
    const { drain: said, drain_refused } = (await world.shadow()).status ?? {};
    expect([said?.blocked_by, drain_refused]).toEqual([['NoRoom: 14 CPU needed, 9 free'], undefined]);
    // An Event is named by its moment.
    await world.clock.advance(1);
    await addNode('n3', '16');
    expect(await drain(replica)).toBe('pending');
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual([]);
  });

  test('waits for as long as that lasts, whatever is free meanwhile, and writes that now and then alone', async () => {
    await world.setSpec({ capacity: 'wait' });
    const replica = world.replica({ refusalSec: 60 });
    expect(await drain(replica)).toBe('409 Undrainable');
    const { resourceVersion } = (await world.shadow()).metadata;
    await world.clock.advance(1_000);
    await world.endPod('web');
    expect(await drain(replica)).toBe('409 Undrainable');
    expect((await world.shadow()).metadata.resourceVersion).toBe(resourceVersion);
    await world.clock.advance(3_600_000);
    expect(await drain(replica)).toBe('409 Undrainable');
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual(['NoRoom: 14 CPU needed, 12 free']);
  });

  test('does not wait where the node bears our marks already, which would stay for as long', async () => {
    const replica = world.replica();
    await replica.service.excludeFromLb(await world.agent());
    await world.setSpec({ capacity: 'wait' });
    expect(await drain(replica)).toBe('pending');
  });

  test('begins where the look fails and only a warning hangs on it; where it waits for room, it asks again', async () => {
    const replica = world.replica();
    replica.tap.before = async ({ path, query }) => {
      if (path === '/api/v1/nodes' && query?.['fieldSelector'])
        throw Object.assign(new Error('no answer'), { status: 503, reason: 'Away' });
    };
    await world.setSpec({ capacity: 'wait' });
    expect(await drain(replica)).toBe('503 Away');
    await world.setSpec({ capacity: null });
    expect(await drain(replica)).toBe('pending');
  });
});

test('a drain looks no further than it has to: one node with room is enough, and pods that ask for nothing need none', async () => {
  for (let at = 0; at < 25; at++) await addNode(`z-${at}`, '16');
  const replica = world.replica();
  expect(await drain(replica)).toBe('pending');
  expect(readsOfNodes(replica)).toBe(1);
  expect(await warned()).toEqual([]);
  await world.endPod('db-0');
  await settle();
  await world.setSpec({ state: 'Idle' });
  expect(replica.tap.requests.filter(({ query }) => query?.['resourceVersion'] === '0')).toHaveLength(1);
});

describe('where a hundred nodes have no room, the next one may', () => {
  const readsOfPods = ({ tap }: Replica): number =>
    tap.requests.filter(({ query }) => query?.['resourceVersion'] === '0').length;
  beforeEach(async () => {
    for (let at = 0; at < 120; at++) await addNode(`y-${at}`, '1');
    await addNode('z', '16');
  });

  test('and nothing is said', async () => {
    const replica = world.replica();
    expect(await drain(replica)).toBe('pending');
    expect(await warned()).toEqual([]);
    expect(readsOfPods(replica)).toBeLessThanOrEqual(100);
  });

  test('so that a drain which waits for room waits, says so, and looks at the next ones when it is asked for again', async () => {
    await world.setSpec({ capacity: 'wait' });
    const replica = world.replica();
    expect(await drain(replica)).toBe('409 Undrainable');
    const before = readsOfPods(replica);
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual([
      `NoRoom: shop/db-0 needs 14 CPU on one node, where at most 1 CPU is free (on ${before} nodes; others are looked at next)`,
    ]);
    expect(await drain(replica)).toBe('pending');
    expect([before <= 100, readsOfPods(replica)]).toEqual([true, 121]);
  });

  test('and a list that is too old to go on with is begun anew', async () => {
    await world.setSpec({ capacity: 'wait' });
    const replica = world.replica();
    expect(await drain(replica)).toBe('409 Undrainable');
    world.cluster.compact();
    expect(await drain(replica)).toBe('409 Undrainable');
    expect(await drain(replica)).toBe('pending');
  });

  test('and counts with what the earlier ones have: each look has room for one of two pods', async () => {
    await addNode('a', '16');
    await world.addPod('db-1', { replicaSet: 'db', requests: { cpu: '14' } });
    await world.setSpec({ capacity: 'wait' });
    const replica = world.replica();
    expect(await drain(replica)).toBe('409 Undrainable');
    expect(await drain(replica)).toBe('pending');
  });
});

describe.each([UPDATING_LABEL, LB_LABEL])('a drain that waits for room while a node bears %s', (label) => {
  const marks = { id: 'm', since: '2026-01-01T00:00:00Z', owns: ['cordon'] };
  const annotations = { [MARKS_ANNOTATION]: JSON.stringify(marks) };
  beforeEach(async () => {
    await addNode('n2', '20');
    await addNode('n9', '32', {
      metadata: { labels: { [label]: 'true' }, annotations },
      spec: { unschedulable: label === UPDATING_LABEL },
    });
    await world.addPod('big', { node: 'n9', replicaSet: 'big', requests: { cpu: '12' } });
    await world.addPod('log', { node: 'n9', owner: 'log', requests: { cpu: '4' } });
    await world.setSpec({ capacity: 'wait' });
  });

  test('leaves what the drains that have begun still have to move its room, and begins once they have', async () => {
    const replica = world.replica();
    expect(await drain(replica)).toBe('409 Undrainable');
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual(['NoRoom: 14 CPU needed, 8 free']);
    await world.clock.advance(1);
    await world.endPod('big');
    expect(await drain(replica)).toBe('pending');
  });

  test('begins where there is room for both', async () => {
    await addNode('n3', '14');
    expect(await drain(world.replica())).toBe('pending');
  });
});
