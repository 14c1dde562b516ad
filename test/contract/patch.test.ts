import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

const STRATEGIC = 'application/strategic-merge-patch+json';

async function configMap(data: object = { a: '1', b: '2' }): Promise<string> {
  const path = `/api/v1/namespaces/${await cluster.namespace()}/configmaps`;
  await cluster.admin.create(path, { metadata: { name: 'm' }, data });
  return `${path}/m`;
}

async function pod(): Promise<string> {
  const path = `/api/v1/namespaces/${await cluster.namespace()}/pods`;
  const tolerations = [{ key: 'one', operator: 'Exists' }];
  const containers = [{ name: 'main', image: 'web:1', env: [{ name: 'A', value: '1' }] }];
  await cluster.admin.create(path, {
    metadata: { name: 'p' },
    spec: { nodeName: cluster.node, containers, tolerations },
  });
  return `${path}/p`;
}

describe('a merge patch', () => {
  test('adds, replaces, and removes what is null', async () => {
    const made = await cluster.admin.patch(await configMap(), { data: { a: null, b: '3', c: '4' } });
    expect(made['data']).toEqual({ b: '3', c: '4' });
  });

  test('bearing a resourceVersion is a compare-and-swap', async () => {
    const path = await configMap();
    const { metadata } = await cluster.admin.get(path);
    const swap = { metadata: { resourceVersion: metadata.resourceVersion }, data: { a: '2' } };
    await cluster.admin.patch(path, swap);
    expect(await refusal(cluster.admin.patch(path, swap))).toMatchObject({ code: 409, reason: 'Conflict' });
  });

  test('of what is not there is 404', async () => {
    const path = await configMap();
    expect(await refusal(cluster.admin.patch(`${path}-2`, {}))).toMatchObject({ code: 404 });
  });

  test('that is no object is a bad request', async () => {
    expect(await refusal(cluster.admin.patch(await configMap(), []))).toMatchObject({ code: 400 });
  });
});

describe('a strategic merge patch', () => {
  test('merges containers by name and their environment by name', async () => {
    const containers = [{ name: 'main', image: 'web:2' }];
    const patched = await cluster.admin.patch(await pod(), { spec: { containers } }, STRATEGIC);
    expect(patched['spec']).toMatchObject({ containers: [{ image: 'web:2', env: [{ name: 'A', value: '1' }] }] });
  });

  test('merges conditions by type', async () => {
    const path = await pod();
    const set = (conditions: readonly object[]): Promise<unknown> =>
      cluster.admin.patch(`${path}/status`, { status: { conditions } }, STRATEGIC);
    await set([{ type: 'A', status: 'True' }]);
    await set([{ type: 'B', status: 'True' }]);
    await set([{ type: 'A', status: 'False' }]);
    const { conditions } = (await cluster.admin.get(path))['status'] as {
      conditions: { type: string; status: string }[];
    };
    const seen = conditions.filter(({ type }) => ['A', 'B'].includes(type)).map(({ type, status }) => [type, status]);
    expect(Object.fromEntries(seen)).toEqual({ A: 'False', B: 'True' });
  });

  test('replaces taints as a whole', async () => {
    const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'node-' } });
    const path = `/api/v1/nodes/${metadata.name}`;
    for (const key of ['a', 'b']) {
      const taints = [{ key, effect: 'PreferNoSchedule' }];
      expect((await cluster.admin.patch(path, { spec: { taints } }, STRATEGIC))['spec']).toMatchObject({ taints });
    }
    await cluster.admin.delete(path);
  });

  test('deletes and replaces where it says so', async () => {
    const path = await pod();
    const types = async (conditions: readonly object[]): Promise<unknown> => {
      const { status } = await cluster.admin.patch(`${path}/status`, { status: { conditions } }, STRATEGIC);
      return (status as { conditions: { type: string }[] }).conditions.map(({ type }) => type);
    };
    await types([{ $patch: 'replace' }, { type: 'A', status: 'True' }]);
    expect(await types([{ type: 'B', status: 'True' }])).toEqual(expect.arrayContaining(['A', 'B']));
    expect(await types([{ $patch: 'delete', type: 'A' }])).toEqual(['B']);
    expect(await types([{ $patch: 'replace' }, { type: 'C', status: 'True' }])).toEqual(['C']);
  });

  test('of a node’s status leaves the conditions of others as they are', async () => {
    const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'node-' } });
    const path = `/api/v1/nodes/${metadata.name}`;
    const set = async (...conditions: readonly object[]): Promise<unknown> => {
      const { status } = await cluster.admin.patch(`${path}/status`, { status: { conditions } }, STRATEGIC);
      const { conditions: stored } = status as { conditions: readonly { type: string; status: string }[] };
      return Object.fromEntries(stored.map(({ type, status: value }) => [type, value]));
    };
    // A node that no kubelet has reported has no list yet.
    expect(await set({ type: 'Drained', status: 'False' })).toEqual({ Drained: 'False' });
    expect(await set({ type: 'Ready', status: 'True' })).toEqual({ Drained: 'False', Ready: 'True' });
    expect(await set({ type: 'Drained', status: 'True' }, { type: 'DrainInProgress', status: 'False' })).toEqual({
      Drained: 'True',
      DrainInProgress: 'False',
      Ready: 'True',
    });
    const gone = ['Drained', 'DrainInProgress'].map((type) => ({ $patch: 'delete', type }));
    expect(await set(...gone)).toEqual({ Ready: 'True' });
    const stale = { metadata: { resourceVersion: '1' }, status: { conditions: [{ type: 'Drained', status: 'True' }] } };
    expect(await refusal(cluster.admin.patch(`${path}/status`, stale, STRATEGIC))).toMatchObject({ code: 409 });
    await cluster.admin.delete(path);
  });

  test('bearing a resourceVersion is a compare-and-swap', async () => {
    const path = await pod();
    const { metadata } = await cluster.admin.get(path);
    const patch = { metadata: { resourceVersion: '1', labels: { a: metadata.name } } };
    expect(await refusal(cluster.admin.patch(path, patch, STRATEGIC))).toMatchObject({ code: 409 });
  });
});

test('a patch of an unknown type is 415', async () => {
  expect(await refusal(cluster.admin.patch(await configMap(), {}, 'application/json'))).toMatchObject({ code: 415 });
});
