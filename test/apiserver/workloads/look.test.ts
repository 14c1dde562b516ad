import { beforeEach, describe, expect, test } from '@jest/globals';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { type Replica, World } from '../world.ts';

/** What the apiserver looks at where an agent asks, what it costs, and what it says. */

const MINUTE = 60_000;
const compare = (a: string, b: string): number => a.localeCompare(b);
let world: World;
let replica: Replica;

beforeEach(async () => {
  world = await World.create();
  replica = world.replica();
  for (const name of ['n2', 'n3', 'n4']) await world.addNode(name);
  await world.boots('1.39.0', 'boot-2');
  const lastTransitionTime = rfc3339(world.clock.now() - 10 * MINUTE);
  await world.patch('/api/v1/nodes/n1/status', {
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] },
  });
  const until = rfc3339(world.clock.now() + 60 * MINUTE);
  await world.setSpec({ state: 'Idle', compare_until: until });
  await world.setStatus({ current_state: 'Idle', current_version: '1.39.0' });
});

/** One on each node, and what becomes of that of `n1` ten minutes later. */
async function daemons(ready: 'True' | 'False', reason?: string): Promise<void> {
  const nodes = ['n1', 'n2', 'n3', 'n4'];
  for (const node of nodes) await world.addPod(`cni-${node}`, { node, owner: 'cni', labels: { app: 'cni' } });
  const lastTransitionTime = rfc3339(world.clock.now());
  const state = reason === undefined ? {} : { waiting: { reason } };
  await world.patch('/api/v1/namespaces/shop/pods/cni-n1/status', {
    status: {
      conditions: [{ type: 'Ready', status: ready, lastTransitionTime }],
      containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 9, state }],
    },
  });
  await world.clock.advance(10 * MINUTE);
}

const look = async (): Promise<void> => replica.service.lookAtWorkloads(await world.agent());
const said = async () => (await world.shadow()).status?.workloads;
const WORSE = '1 of 1 pods of DaemonSet shop/cni are not Ready on nodes of this version, 0 of 3 elsewhere';

test('pods that are well cost the pods of their node, and nothing is written', async () => {
  await daemons('True');
  const { resourceVersion } = (await world.shadow()).metadata;
  replica.tap.requests.length = 0;
  await look();
  expect(replica.tap.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['n1', 'brs-n1', 'pods']);
  expect([(await world.shadow()).metadata.resourceVersion, await said()]).toEqual([resourceVersion, undefined]);
});

describe('pods that are worse than elsewhere', () => {
  test('are said once, on the shadow and in an Event, with a page of their peers and the Nodes of these', async () => {
    await daemons('False');
    await look();
    expect(await said()).toEqual({ version: '1.39.0', since: rfc3339(world.clock.now()), worse: WORSE });
    const { resourceVersion } = (await world.shadow()).metadata;
    replica.tap.requests.length = 0;
    await look();
    expect(replica.tap.requests.map(({ path }) => path.split('/').at(-1) ?? '').toSorted(compare)).toEqual([
      'brs-n1',
      'n1',
      'n2',
      'n3',
      'n4',
      'pods',
      'pods',
    ]);
    expect((await world.shadow()).metadata.resourceVersion).toBe(resourceVersion);
    const events = (await world.told()).filter(({ reason }) => reason === 'WorkloadsWorse');
    expect(events).toEqual([expect.objectContaining({ message: `On 1.39.0: ${WORSE}`, count: 1 })]);
  });

  test('are said no more once they are well, and once the time for it is over', async () => {
    await daemons('False');
    await look();
    await world.patch('/api/v1/namespaces/shop/pods/cni-n1/status', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await look();
    expect((await said()) ?? null).toBeNull();
    await daemonsAgain();
    await world.clock.advance(60 * MINUTE);
    await look();
    expect((await said()) ?? null).toBeNull();
  });

  async function daemonsAgain(): Promise<void> {
    const lastTransitionTime = rfc3339(world.clock.now() - 10 * MINUTE);
    await world.patch('/api/v1/namespaces/shop/pods/cni-n1/status', {
      status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }] },
    });
    await look();
    expect((await said())?.worse).toBe(WORSE);
  }

  test.each<[string, () => Promise<unknown>]>([
    ['nobody has asked for it', () => world.setSpec({ compare_until: null })],
    ['they ailed before the update', async () => world.setStatus({ unready_before: [await uidOfOwner()] })],
    ['the nodes elsewhere are not Ready', () => unready('n2', 'n3')],
    ['the nodes elsewhere run the same', () => updated('n2', 'n3')],
    ['the node has just come up', () => up(rfc3339(world.clock.now() - 4 * MINUTE))],
    ['it is not known since when it is up', () => up(null)],
    ['the node runs another version by now', () => world.boots('1.40.0', 'boot-3')],
  ])('are not where %s', async (_, change) => {
    await daemons('False');
    await change();
    await look();
    expect((await said()) ?? null).toBeNull();
  });

  const uidOfOwner = async (): Promise<string> =>
    (await world.pods()).flatMap(({ metadata }) => metadata.ownerReferences?.[0]?.uid ?? [])[0] ?? '';
  const up = (lastTransitionTime: string | null): Promise<unknown> =>
    world.patch('/api/v1/nodes/n1/status', {
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] },
    });
  const unready = (...names: readonly string[]): Promise<unknown> =>
    Promise.all(
      names.map((name) =>
        world.patch(`/api/v1/nodes/${name}/status`, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
      ),
    );
  const updated = (...names: readonly string[]): Promise<unknown> =>
    Promise.all(names.map((name) => world.boots('1.39.0', 'boot-2', name)));
});

test('a drain that begins notes whose pods were not Ready, and forgets what was said of them', async () => {
  await daemons('False');
  await look();
  await world.setSpec({ state: 'RebootedIntoUpdate', version: '1.40.0' });
  await world.setStatus({ current_state: 'StagedAndPerformedUpdate', target_version: '1.40.0' });
  await replica.service.cordonAndDrain(await world.agent());
  const { workloads, unready_before } = (await world.shadow()).status ?? {};
  expect([workloads ?? null, unready_before]).toEqual([null, [expect.any(String)]]);
});
