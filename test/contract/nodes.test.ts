import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

describe('a node', () => {
  async function node(more: object = {}): Promise<string> {
    const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'node-' }, ...more });
    return `/api/v1/nodes/${metadata.name}`;
  }

  test('keeps the status that it is created with, as a kubelet does it', async () => {
    const status = { nodeInfo: { bootID: 'b1' } };
    const path = await node({ status });
    expect(await cluster.admin.get(path)).toMatchObject({ status });
    await cluster.admin.delete(path);
  });

  test.each([
    ['uid', 'other', 422],
    ['name', 'other', 400],
    ['deletionTimestamp', '1999-01-01T00:00:00Z', 422],
  ])('has a %s that no patch changes', async (field, value, code) => {
    const path = await node();
    expect(await refusal(cluster.admin.patch(path, { metadata: { [field]: value } }))).toMatchObject({ code });
    await cluster.admin.delete(path);
  });

  test('has a time of creation and a generation that a patch leaves as they are', async () => {
    const path = await node();
    const { creationTimestamp, generation } = (await cluster.admin.get(path)).metadata;
    const changes = { creationTimestamp: '1999-01-01T00:00:00Z', generation: 9 };
    const { metadata } = await cluster.admin.patch(path, { metadata: changes });
    expect([metadata.creationTimestamp, metadata.generation]).toEqual([creationTimestamp, generation]);
    await cluster.admin.delete(path);
  });

  test('has no namespace, whatever is sent', async () => {
    const path = await node({ metadata: { generateName: 'node-', namespace: 'default' } });
    expect((await cluster.admin.get(path)).metadata).not.toHaveProperty('namespace');
    await cluster.admin.delete(path);
  });

  test('needs no resourceVersion in a PUT', async () => {
    const path = await node({ spec: { unschedulable: true } });
    const { name } = (await cluster.admin.get(path)).metadata;
    expect((await cluster.admin.put(path, { metadata: { name } }))['spec'] ?? {}).not.toHaveProperty('unschedulable');
    await cluster.admin.delete(path);
  });

  test.each([
    ['of another kind', { kind: 'Pod' }],
    ['of another version', { apiVersion: 'v2' }],
  ])('that is %s is a bad request', async (_, body) => {
    const made = cluster.admin.create('/api/v1/nodes', { metadata: { name: 'n' }, ...body });
    expect(await refusal(made)).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  test.each([
    ['a name with capitals', { name: 'N1' }, 'metadata.name'],
    ['no name', {}, 'metadata.name'],
    ['a label value with spaces', { name: 'n', labels: { a: 'b c' } }, 'metadata.labels'],
    [
      'an owner without a uid',
      { name: 'n', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x' }] },
      'metadata.ownerReferences.uid',
    ],
  ])('with %s is invalid', async (_, metadata, field) => {
    const causes = expect.arrayContaining([expect.objectContaining({ field })]);
    const made = cluster.admin.create('/api/v1/nodes', { metadata });
    expect(await refusal(made)).toMatchObject({ code: 422, reason: 'Invalid', details: { causes } });
  });

  test('that is uncordoned looks like one that never was cordoned', async () => {
    const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'node-' } });
    const path = `/api/v1/nodes/${metadata.name}`;
    expect((await cluster.admin.patch(path, { spec: { unschedulable: true } }))['spec']).toMatchObject({
      unschedulable: true,
    });
    expect((await cluster.admin.patch(path, { spec: { unschedulable: false } }))['spec']).not.toHaveProperty(
      'unschedulable',
    );
    await cluster.admin.delete(path);
  });

  test('has its status apart from the rest', async () => {
    const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'node-' } });
    const path = `/api/v1/nodes/${metadata.name}`;
    const status = { nodeInfo: { bootID: 'b1', osImage: 'Bottlerocket OS 1.39.0' } };
    await cluster.admin.patch(path, { status });
    expect((await cluster.admin.get(path))['status'] ?? {}).not.toMatchObject({ nodeInfo: { bootID: 'b1' } });
    await cluster.admin.patch(`${path}/status`, {
      metadata: { labels: { a: 'b' } },
      spec: { podCIDR: '10.0.0.0/24' },
      status,
    });
    const seen = await cluster.admin.get(path);
    expect(seen['status']).toMatchObject(status);
    expect(seen['spec'] ?? {}).not.toHaveProperty('podCIDR');
    await cluster.admin.delete(path);
  });
});
