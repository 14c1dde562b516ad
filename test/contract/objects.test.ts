import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

describe('creating', () => {
  test('gives an identity that the client has no say in', async () => {
    const path = maps(await cluster.namespace());
    const made = await cluster.admin.create(path, { metadata: { name: 'm', uid: 'mine', resourceVersion: '' } });
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await cluster.admin.get(`${path}/m`)).toEqual(made);
  });

  test('refuses a resourceVersion', async () => {
    const path = maps(await cluster.namespace());
    const metadata = { name: 'm', resourceVersion: '1' };
    expect(await refusal(cluster.admin.create(path, { metadata }))).toMatchObject({ code: 500 });
  });

  test('completes generateName', async () => {
    const made = await cluster.admin.create(maps(await cluster.namespace()), { metadata: { generateName: 'web-' } });
    expect(made.metadata.name).toMatch(/^web-[a-z0-9]{5}$/);
  });

  test('of a name that is taken is AlreadyExists', async () => {
    const path = maps(await cluster.namespace());
    await cluster.admin.create(path, { metadata: { name: 'm' } });
    expect(await refusal(cluster.admin.create(path, { metadata: { name: 'm' } }))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "m" already exists',
      details: { name: 'm', kind: 'configmaps' },
    });
  });

  test('in a namespace that is not there is 404', async () => {
    expect(await refusal(cluster.admin.create(maps('nowhere'), { metadata: { name: 'm' } }))).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found',
      details: { name: 'nowhere', kind: 'namespaces' },
    });
  });

  test('of a name or a label that cannot be is Invalid and says where', async () => {
    const path = maps(await cluster.namespace());
    for (const [metadata, field] of [
      [{ name: 'N 1' }, 'metadata.name'],
      [{ name: 'm', labels: { a: 'b c' } }, 'metadata.labels'],
    ] as const) {
      expect(await refusal(cluster.admin.create(path, { metadata }))).toMatchObject({
        code: 422,
        reason: 'Invalid',
        details: { causes: [{ field }] },
      });
    }
  });

  test('as a dry run answers as if, and stores nothing', async () => {
    const path = maps(await cluster.namespace());
    const made = await cluster.admin.create(path, { metadata: { name: 'm' } }, { dryRun: 'All' });
    expect(made.metadata.uid).toBeDefined();
    expect(await refusal(cluster.admin.get(`${path}/m`))).toMatchObject({ code: 404, reason: 'NotFound' });
  });
});

describe('updating', () => {
  test('with an old resourceVersion is a conflict', async () => {
    const path = maps(await cluster.namespace());
    const old = await cluster.admin.create(path, { metadata: { name: 'm' } });
    await cluster.admin.patch(`${path}/m`, { data: { a: '1' } });
    expect(await refusal(cluster.admin.put(`${path}/m`, old))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "m": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'm', kind: 'configmaps' },
    });
  });

  test('what was replaced under its name is a conflict, and in a patch invalid', async () => {
    const path = maps(await cluster.namespace());
    const old = await cluster.admin.create(path, { metadata: { name: 'm' } });
    await cluster.admin.delete(`${path}/m`);
    await cluster.admin.create(path, { metadata: { name: 'm' } });
    const { resourceVersion: _, ...metadata } = old.metadata;
    expect(await refusal(cluster.admin.put(`${path}/m`, { ...old, metadata }))).toMatchObject({ code: 409 });
    const swap = { metadata: { uid: old.metadata.uid }, data: { a: '1' } };
    expect(await refusal(cluster.admin.patch(`${path}/m`, swap))).toMatchObject({ code: 422, reason: 'Invalid' });
  });

  test('without changing anything makes no new resourceVersion', async () => {
    const path = maps(await cluster.namespace());
    const made = await cluster.admin.create(path, { metadata: { name: 'm' }, data: { a: '1' } });
    expect((await cluster.admin.patch(`${path}/m`, { data: { a: '1' } })).metadata.resourceVersion).toBe(
      made.metadata.resourceVersion,
    );
  });

  test('leaves what belongs to the server as it is', async () => {
    const path = maps(await cluster.namespace());
    const made = await cluster.admin.create(path, { metadata: { name: 'm' } });
    const changes = { creationTimestamp: '1999-01-01T00:00:00Z', generation: 9 };
    expect((await cluster.admin.patch(`${path}/m`, { metadata: changes })).metadata).toMatchObject({
      creationTimestamp: made.metadata.creationTimestamp,
      resourceVersion: made.metadata.resourceVersion,
    });
    expect(await refusal(cluster.admin.patch(`${path}/m`, { metadata: { name: 'n' } }))).toMatchObject({ code: 400 });
    const ending = { metadata: { deletionTimestamp: '1999-01-01T00:00:00Z' } };
    expect(await refusal(cluster.admin.patch(`${path}/m`, ending))).toMatchObject({ code: 422 });
  });

  test('a Lease needs its resourceVersion, and changes hands by it', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${await cluster.namespace()}/leases`;
    const metadata = { name: 'l', annotations: { permits: '[]' } };
    const spec = { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.123456Z' };
    const lease = await cluster.admin.create(path, { metadata, spec });
    expect(lease['spec']).toEqual(spec);
    expect(await refusal(cluster.admin.put(`${path}/l`, { metadata, spec }))).toMatchObject({ code: 422 });
    const taken = await cluster.admin.put(`${path}/l`, { ...lease, spec: { ...spec, holderIdentity: 'b' } });
    expect(await refusal(cluster.admin.put(`${path}/l`, lease))).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(taken.metadata.annotations).toEqual({ permits: '[]' });
  });
});

describe('annotations', () => {
  const LIMIT = 262_144;
  /** Of so many bytes, keys and values together. */
  const ofBytes = (bytes: number) => ({ a: 'é', permits: 'x'.repeat(bytes - 'aépermits'.length - 1) });
  const cause = {
    reason: 'FieldValueTooLong',
    field: 'metadata.annotations',
    message: 'Too long: may not be more than 262144 bytes',
  };
  // The real server finds it several times over in an update, and says so in the causes alone.
  const TOO_LONG = { code: 422, reason: 'Invalid', details: { causes: expect.arrayContaining([cause]) } };

  test('of one object hold 262,144 bytes together, and no more', async () => {
    const path = maps(await cluster.namespace());
    const metadata = { name: 'm', annotations: ofBytes(LIMIT + 1) };
    expect(await refusal(cluster.admin.create(path, { metadata }))).toMatchObject({
      ...TOO_LONG,
      message: 'ConfigMap "m" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    });
    const made = await cluster.admin.create(path, { metadata: { name: 'm', annotations: ofBytes(LIMIT) } });
    const more = { metadata: { annotations: { b: '' } } };
    expect(await refusal(cluster.admin.patch(`${path}/m`, more))).toMatchObject(TOO_LONG);
    expect(await cluster.admin.get(`${path}/m`)).toEqual(made);
  });

  test('of a Lease are bounded in the same way', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${await cluster.namespace()}/leases`;
    const made = await cluster.admin.create(path, { metadata: { name: 'l' }, spec: { holderIdentity: 'a' } });
    const grown = { ...made, metadata: { ...made.metadata, annotations: ofBytes(LIMIT + 1) } };
    expect(await refusal(cluster.admin.put(`${path}/l`, grown))).toMatchObject({
      ...TOO_LONG,
      message:
        'Lease.coordination.k8s.io "l" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    });
  });
});

test('an Event is kept as it was sent', async () => {
  const namespace = await cluster.namespace();
  const event = {
    metadata: { generateName: 'e-' },
    involvedObject: { kind: 'Node', name: 'n1', uid: 'u', apiVersion: 'v1', namespace },
    reason: 'UpdateStarted',
    message: 'the update begins',
    type: 'Normal',
    source: { component: 'brupop-controller' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
  };
  const { metadata: _, ...content } = event;
  expect(await cluster.admin.create(`/api/v1/namespaces/${namespace}/events`, event)).toMatchObject(content);
});

test('an unknown object, resource and group are 404', async () => {
  expect(await refusal(cluster.admin.get('/api/v1/nodes/none'))).toMatchObject({
    code: 404,
    reason: 'NotFound',
    message: 'nodes "none" not found',
    details: { name: 'none', kind: 'nodes' },
  });
  for (const path of ['/api/v1/gadgets', '/apis/nowhere.example.com/v1/gadgets']) {
    expect(await refusal(cluster.admin.get(path))).toMatchObject({ code: 404 });
  }
});

describe('a time that was never set is null, whether it was sent as null or not at all,', () => {
  test('of a container whose end nobody knows, and of conditions', async () => {
    const pods = `/api/v1/namespaces/${await cluster.namespace()}/pods`;
    const spec = { containers: [{ name: 'c', image: 'c' }], nodeName: cluster.node };
    await cluster.admin.create(pods, { metadata: { name: 'p' }, spec });
    const terminated = { exitCode: 137, reason: 'ContainerStatusUnknown', finishedAt: null };
    const containerStatuses = [
      { name: 'c', image: 'c', imageID: '', ready: false, restartCount: 0, state: { terminated } },
    ];
    const conditions = [{ type: 'Ready', status: 'False' }];
    const { status } = await cluster.admin.patch(`${pods}/p/status`, { status: { containerStatuses, conditions } });
    expect(status).toMatchObject({
      containerStatuses: [{ state: { terminated: { ...terminated, startedAt: null } } }],
      conditions: [{ type: 'Ready', status: 'False', lastProbeTime: null, lastTransitionTime: null }],
    });
  });

  test('of the conditions of a node', async () => {
    const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'contract-' } });
    const conditions = [{ type: 'Ready', status: 'Unknown', lastTransitionTime: null }];
    const { status } = await cluster.admin.patch(`/api/v1/nodes/${metadata.name}/status`, { status: { conditions } });
    expect(status).toMatchObject({ conditions: [{ ...conditions[0], lastHeartbeatTime: null }] });
    await cluster.admin.delete(`/api/v1/nodes/${metadata.name}`);
  });

  test('of an Event', async () => {
    const namespace = await cluster.namespace();
    const event = { metadata: { generateName: 'e-' }, involvedObject: { kind: 'Namespace', namespace }, reason: 'X' };
    expect(await cluster.admin.create(`/api/v1/namespaces/${namespace}/events`, event)).toMatchObject({
      eventTime: null,
      firstTimestamp: null,
      lastTimestamp: null,
    });
  });
});
