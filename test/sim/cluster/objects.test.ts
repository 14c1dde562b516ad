import { describe, expect, test } from '@jest/globals';
import { Client, NODES, node, PODS, refusal, world } from './harness.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

describe('creating', () => {
  test('a new object gets its identity from the cluster', async () => {
    const { admin } = world();
    const made = await admin.create(NODES, { metadata: { name: 'n1', uid: 'mine', generation: 7 } });
    expect(made).toMatchObject({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    });
    expect(made.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(0);
    expect(await admin.get(`${NODES}/n1`)).toEqual(made);
  });

  test('generateName is completed', async () => {
    const { admin } = world();
    const pod = await admin.create(PODS, { metadata: { generateName: 'web-' }, spec: {} });
    expect(pod.metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
  });

  test('the same name twice is AlreadyExists', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n1'));
    expect(await refusal(admin.create(NODES, node('n1')))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'nodes "n1" already exists',
      details: { name: 'n1', kind: 'nodes' },
    });
  });

  test('nothing is created in a namespace that does not exist', async () => {
    const { admin } = world();
    const path = '/api/v1/namespaces/nowhere/pods';
    expect(await refusal(admin.create(path, { metadata: { name: 'p' }, spec: {} }))).toMatchObject({
      code: 404,
      message: 'namespaces "nowhere" not found',
    });
  });

  test.each([
    ['a name with capitals', { name: 'N1' }, 'metadata.name'],
    ['no name', {}, 'metadata.name'],
    ['a label value with spaces', { name: 'n1', labels: { a: 'b c' } }, 'metadata.labels'],
    [
      'an owner without a uid',
      { name: 'n1', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x' }] },
      'metadata.ownerReferences.uid',
    ],
  ])('%s is invalid', async (_, metadata, field) => {
    const status = await refusal(world().admin.create(NODES, { metadata }));
    expect(status).toMatchObject({ code: 422, reason: 'Invalid', details: { causes: [{ field }] } });
  });

  test('a body of another kind, version or namespace is a bad request', async () => {
    const { admin } = world();
    for (const body of [{ kind: 'Pod' }, { apiVersion: 'v2' }, { metadata: { name: 'n1', namespace: 'default' } }]) {
      expect(await refusal(admin.create(NODES, body))).toMatchObject({ code: 400, reason: 'BadRequest' });
    }
  });

  test('a dry run answers and stores nothing', async () => {
    const { admin } = world();
    const before = (await admin.list(NODES)).metadata.resourceVersion;
    const made = await admin.create(NODES, node('n1'), { dryRun: 'All' });
    expect(made.metadata.name).toBe('n1');
    expect(await admin.list(NODES)).toMatchObject({ items: [], metadata: { resourceVersion: before } });
  });
});

describe('updating', () => {
  test('one counter numbers the writes of all resources', async () => {
    const { admin } = world();
    const first = await admin.create(NODES, node('n1'));
    const second = await admin.create(PODS, { metadata: { name: 'p' }, spec: {} });
    const third = await admin.patch(`${NODES}/n1`, { metadata: { labels: { a: 'b' } } });
    const versions = [first, second, third].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions.map((version) => version - (versions[0] ?? 0))).toEqual([0, 1, 2]);
  });

  test('an old resourceVersion is a conflict, none is not, for a node', async () => {
    const { admin } = world();
    const read = await admin.create(NODES, node('n1'));
    await admin.patch(`${NODES}/n1`, { metadata: { labels: { a: 'b' } } });
    expect(await refusal(admin.put(`${NODES}/n1`, read))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on nodes "n1": the object has been modified; please apply your changes to the latest version and try again',
    });
    const put = await admin.put(`${NODES}/n1`, node('n1', { spec: { unschedulable: true } }));
    expect(put['spec']).toEqual({ unschedulable: true });
  });

  test('a lease insists on its resourceVersion, and a PUT creates it', async () => {
    const { admin } = world();
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'a' } };
    const made = await admin.put(`${LEASES}/l`, lease);
    expect(await refusal(admin.put(`${LEASES}/l`, lease))).toMatchObject({ code: 422 });
    const taken = await admin.put(`${LEASES}/l`, { ...made, spec: { holderIdentity: null } });
    expect(taken['spec']).toEqual({});
  });

  test('an update for an object that has been replaced under its name is a conflict', async () => {
    const { admin } = world();
    const old = await admin.create(NODES, node('n1'));
    await admin.delete(`${NODES}/n1`);
    expect(await refusal(admin.put(`${NODES}/n1`, old))).toMatchObject({ code: 409 });
    await admin.create(NODES, node('n1'));
    const { resourceVersion: _, ...metadata } = old.metadata;
    expect(await refusal(admin.put(`${NODES}/n1`, { ...old, metadata }))).toMatchObject({ code: 409 });
  });

  test('a write that changes nothing makes no new resourceVersion and no event', async () => {
    const { admin, clock } = world();
    const made = await admin.create(NODES, node('n1', { spec: { unschedulable: true } }));
    const watch = admin.watch(NODES, { resourceVersion: made.metadata.resourceVersion });
    const again = await admin.patch(`${NODES}/n1`, { spec: { unschedulable: true } });
    await clock.advance(1000);
    expect(again).toEqual(made);
    expect(watch.events).toEqual([]);
  });

  test('identity and times belong to the server', async () => {
    const { admin } = world();
    const made = await admin.create(NODES, node('n1'));
    const changes = {
      creationTimestamp: '1999-01-01T00:00:00Z',
      generation: 9,
    };
    expect(await admin.patch(`${NODES}/n1`, { metadata: changes })).toEqual(made);
    for (const [field, value] of [
      ['uid', 'other'],
      ['deletionTimestamp', '1999-01-01T00:00:00Z'],
    ] as const) {
      expect(await refusal(admin.patch(`${NODES}/n1`, { metadata: { [field]: value } }))).toMatchObject({
        code: 422,
        details: { causes: [{ field: `metadata.${field}` }] },
      });
    }
    expect(await refusal(admin.patch(`${NODES}/n1`, { metadata: { name: 'n2' } }))).toMatchObject({ code: 400 });
  });

  test('a cordon that is false is stored as absent', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n1', { spec: { unschedulable: true, podCIDR: '10.0.0.0/24' } }));
    const free = await admin.patch(`${NODES}/n1`, { spec: { unschedulable: false } });
    expect(free['spec']).toEqual({ podCIDR: '10.0.0.0/24' });
  });

  test('object and status are written apart', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n1', { status: { phase: 'ignored' } }));
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    await admin.patch(`${NODES}/n1`, { spec: { podCIDR: '10.0.0.0/24' }, status });
    expect(await admin.get(`${NODES}/n1`)).not.toHaveProperty('status');
    const patched = await admin.patch(`${NODES}/n1/status`, { spec: { podCIDR: 'other' }, status });
    expect(patched).toMatchObject({ spec: { podCIDR: '10.0.0.0/24' }, status });
  });

  test('what a client was given never changes under it', async () => {
    const { admin } = world();
    const body = { metadata: { name: 'n1', labels: { a: '1' } } };
    const made = await admin.create(NODES, body);
    body.metadata.labels.a = '2';
    await admin.patch(`${NODES}/n1`, { metadata: { labels: { a: '3' } } });
    expect(made.metadata.labels).toEqual({ a: '1' });
  });
});

describe('what is not there', () => {
  test('an unknown object, resource and path are 404', async () => {
    const { admin } = world();
    expect(await refusal(admin.get(`${NODES}/n9`))).toMatchObject({ code: 404, message: 'nodes "n9" not found' });
    for (const path of ['/api/v1/gadgets', '/apis/example.com/v1/gadgets', '/nowhere', '/api/v1/pods/p']) {
      expect(await refusal(admin.get(path))).toMatchObject({ code: 404 });
    }
  });

  test('what a real cluster can and this one cannot is said in words', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n1'));
    expect(await refusal(admin.get(`${PODS}/p/log`))).toMatchObject({
      code: 501,
      message: expect.stringContaining('log'),
    });
    const apply = 'application/apply-patch+yaml' as 'application/json';
    expect(await refusal(admin.patch(`${NODES}/n1`, {}, apply))).toMatchObject({
      code: 501,
      message: expect.stringContaining('server-side apply'),
    });
  });

  test('the API says its version and that it is well', async () => {
    const { cluster } = world();
    const nobody = new Client(cluster.transport({ username: 'joe', groups: ['system:authenticated'] }));
    expect(await nobody.get('/version')).toMatchObject({ major: '1' });
    for (const path of ['/healthz', '/livez', '/readyz']) expect(await nobody.get(path)).toBe('ok');
    expect(await nobody.get('/api/v1')).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    expect(await nobody.get('/openapi/v3')).toHaveProperty('paths');
  });
});

test('every request is in the audit log, refusals too', async () => {
  const heard: string[] = [];
  const { admin, as } = world({ onAudit: ({ verb, name = '', code }) => heard.push(`${verb} ${name} ${code}`) });
  await admin.create(NODES, node('n1'));
  await admin.patch(`${NODES}/n1/status`, { status: { phase: 'x' } });
  await refusal(as({ username: 'joe', groups: [] }).get(`${NODES}/n1`));
  expect(heard).toEqual(['create  201', 'patch n1 200', 'get n1 403']);
});

test('the audit log keeps the newest', async () => {
  const { admin, cluster } = world({ auditLimit: 10 });
  for (let count = 0; count < 35; count++) await admin.list(NODES, { limit: String(count + 1) });
  expect(cluster.audit.length).toBeGreaterThanOrEqual(10);
  expect(cluster.audit.length).toBeLessThanOrEqual(20);
  expect(cluster.audit.at(-1)).toMatchObject({ verb: 'list', resource: 'nodes', user: 'kubernetes-admin', code: 200 });
});
