import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type KubeJson } from '../../lab/sim/cluster/object.ts';
import { listNames, refusal, told } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

const inNamespace = (namespace: string, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;

async function gone(path: string): Promise<void> {
  await eventually(async () => expect(await refusal(cluster.admin.get(path))).toMatchObject({ code: 404 }));
}

describe('deleting', () => {
  test('an object without finalizers removes it at once, and the answer names it', async () => {
    const path = inNamespace(await cluster.namespace(), 'secrets');
    const { metadata } = await cluster.admin.create(path, { metadata: { name: 's' } });
    expect(await cluster.admin.delete(`${path}/s`)).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 's', kind: 'secrets', uid: metadata.uid },
    });
    expect(await refusal(cluster.admin.get(`${path}/s`))).toMatchObject({ code: 404 });
  });

  test('means only the object that its preconditions name', async () => {
    const path = inNamespace(await cluster.namespace(), 'secrets');
    await cluster.admin.create(path, { metadata: { name: 's' } });
    for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }]) {
      expect(await refusal(cluster.admin.delete(`${path}/s`, { preconditions }))).toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
    }
    await cluster.admin.get(`${path}/s`);
  });

  test('waits for the last finalizer', async () => {
    const path = inNamespace(await cluster.namespace(), 'secrets');
    await cluster.admin.create(path, { metadata: { name: 's', finalizers: ['example.com/a', 'example.com/b'] } });
    const pending = await cluster.admin.delete(`${path}/s`);
    expect(pending.metadata).toMatchObject({
      deletionTimestamp: expect.stringMatching(/Z$/),
      finalizers: ['example.com/a', 'example.com/b'],
    });
    await cluster.admin.patch(`${path}/s`, { metadata: { finalizers: ['example.com/b'] } });
    await cluster.admin.get(`${path}/s`);
    await cluster.admin.patch(`${path}/s`, { metadata: { finalizers: null } });
    expect(await refusal(cluster.admin.get(`${path}/s`))).toMatchObject({ code: 404 });
  });

  test('as a dry run deletes nothing', async () => {
    const path = inNamespace(await cluster.namespace(), 'secrets');
    await cluster.admin.create(path, { metadata: { name: 's' } });
    await cluster.admin.delete(`${path}/s`, { dryRun: ['All'] });
    await cluster.admin.delete(`${path}/s`, undefined, { dryRun: 'All' });
    await cluster.admin.get(`${path}/s`);
  });
});

describe('a pod', () => {
  const pod = (name: string, spec: object = {}): object => ({
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'web' }], ...spec },
  });

  test('that is on a node gets its grace, and goes when its kubelet says so', async () => {
    const pods = inNamespace(await cluster.namespace(), 'pods');
    const { metadata } = await cluster.admin.create(pods, pod('p', { nodeName: cluster.node }));
    const watch = cluster.admin.watch(pods, { resourceVersion: metadata.resourceVersion });
    const ending = await cluster.admin.delete(`${pods}/p`);
    expect(ending.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    await cluster.admin.delete(`${pods}/p`, { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
    await eventually(() => expect(told(watch.events).at(-1)).toBe('DELETED p'));
    expect(told(watch.events)[0]).toBe('MODIFIED p');
    watch.stop();
  });

  test("'s grace is shortened by a second deletion, never lengthened", async () => {
    const pods = inNamespace(await cluster.namespace(), 'pods');
    await cluster.admin.create(pods, pod('p', { nodeName: cluster.node }));
    const seconds = async (gracePeriodSeconds: number): Promise<unknown> =>
      (await cluster.admin.delete(`${pods}/p`, { gracePeriodSeconds })).metadata.deletionGracePeriodSeconds;
    expect([await seconds(20), await seconds(60), await seconds(5)]).toEqual([20, 20, 5]);
  });

  test('that no kubelet has goes at once', async () => {
    const pods = inNamespace(await cluster.namespace(), 'pods');
    await cluster.admin.create(pods, pod('p'));
    await cluster.admin.delete(`${pods}/p`);
    expect(await refusal(cluster.admin.get(`${pods}/p`))).toMatchObject({ code: 404 });
  });

  test.each(['Succeeded', 'Failed'])('in phase %s goes at once', async (phase) => {
    const pods = inNamespace(await cluster.namespace(), 'pods');
    await cluster.admin.create(pods, pod('p', { nodeName: cluster.node }));
    await cluster.admin.patch(`${pods}/p/status`, { status: { phase } });
    await cluster.admin.delete(`${pods}/p`);
    expect(await refusal(cluster.admin.get(`${pods}/p`))).toMatchObject({ code: 404 });
  });

  test('is bound once', async () => {
    const pods = inNamespace(await cluster.namespace(), 'pods');
    await cluster.admin.create(pods, pod('p'));
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: cluster.node } };
    expect(await cluster.admin.create(`${pods}/p/binding`, binding)).toMatchObject({ status: 'Success' });
    expect((await cluster.admin.get(`${pods}/p`))['spec']).toMatchObject({ nodeName: cluster.node });
    expect(await refusal(cluster.admin.create(`${pods}/p/binding`, binding))).toMatchObject({ code: 409 });
  });
});

describe('owners', () => {
  const owner = ({ kind = '', metadata }: Pick<KubeJson, 'metadata'> & { readonly kind?: string }): object => ({
    apiVersion: 'v1',
    kind,
    name: metadata.name,
    uid: metadata.uid,
  });

  test('take their dependents along, unless another owner is left', async () => {
    const maps = inNamespace(await cluster.namespace(), 'configmaps');
    const [one, two] = [
      await cluster.admin.create(maps, { metadata: { name: 'one' } }),
      await cluster.admin.create(maps, { metadata: { name: 'two' } }),
    ].map((object) => owner({ ...object, kind: 'ConfigMap' }));
    await cluster.admin.create(maps, { metadata: { name: 'child', ownerReferences: [one] } });
    await cluster.admin.create(maps, { metadata: { name: 'shared', ownerReferences: [one, two] } });
    await cluster.admin.delete(`${maps}/one`);
    await gone(`${maps}/child`);
    await cluster.admin.get(`${maps}/shared`);
    await cluster.admin.delete(`${maps}/two`);
    await gone(`${maps}/shared`);
  });

  test('take the dependents of their dependents along', async () => {
    const maps = inNamespace(await cluster.namespace(), 'configmaps');
    let ownerReferences: readonly object[] = [];
    for (const name of ['one', 'child', 'grandchild']) {
      const made = await cluster.admin.create(maps, { metadata: { name, ownerReferences } });
      ownerReferences = [owner({ ...made, kind: 'ConfigMap' })];
    }
    await cluster.admin.delete(`${maps}/one`);
    await gone(`${maps}/grandchild`);
    await gone(`${maps}/child`);
  });

  test('that live in another namespace own nothing', async () => {
    const [here, there] = [await cluster.namespace(), await cluster.namespace()];
    const far = await cluster.admin.create(inNamespace(there, 'configmaps'), { metadata: { name: 'one' } });
    const maps = inNamespace(here, 'configmaps');
    const ownerReferences = [owner({ ...far, kind: 'ConfigMap' })];
    await cluster.admin.create(maps, { metadata: { name: 'child', ownerReferences } });
    await gone(`${maps}/child`);
  });

  test('that do not exist own nothing: what names them is collected', async () => {
    const maps = inNamespace(await cluster.namespace(), 'configmaps');
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }];
    await cluster.admin.create(maps, { metadata: { name: 'orphan', ownerReferences } });
    await gone(`${maps}/orphan`);
  });

  test('that are deleted as orphaning leave their dependents', async () => {
    const maps = inNamespace(await cluster.namespace(), 'configmaps');
    const made = await cluster.admin.create(maps, { metadata: { name: 'one' } });
    const ownerReferences = [owner({ ...made, kind: 'ConfigMap' })];
    await cluster.admin.create(maps, { metadata: { name: 'child', ownerReferences } });
    await eventually(async () => expect(listNames(await cluster.admin.list(maps))).toContain('child'));
    await cluster.admin.delete(`${maps}/one`, { propagationPolicy: 'Orphan' });
    await gone(`${maps}/one`);
    expect((await cluster.admin.get(`${maps}/child`)).metadata).not.toHaveProperty('ownerReferences');
  });
});

test('a namespace takes nothing new while it goes, and takes its objects along', async () => {
  const name = await cluster.namespace();
  const held = { metadata: { name: 'held', finalizers: ['example.com/a'] } };
  const spec = { containers: [{ name: 'main', image: 'web' }], schedulingGates: [{ name: 'example.com/a' }] };
  const [maps, accounts, pods] = ['configmaps', 'serviceaccounts', 'pods'].map((plural) => inNamespace(name, plural));
  for (const path of [maps, accounts]) await cluster.admin.create(path!, held);
  await cluster.admin.create(pods!, { ...held, spec });
  await cluster.admin.delete(`/api/v1/namespaces/${name}`);
  expect(await cluster.admin.get(`/api/v1/namespaces/${name}`)).toMatchObject({ status: { phase: 'Terminating' } });
  const binding = { metadata: { name: 'held' }, target: { kind: 'Node', name: cluster.node } };
  for (const more of [
    () => cluster.admin.create(maps!, { metadata: { name: 'more' } }),
    () => cluster.admin.create(`${pods}/held/binding`, binding),
    () => cluster.admin.create(`${accounts}/held/token`, {}),
  ]) {
    expect(await eventually(() => refusal(more()))).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: expect.stringContaining('because it is being terminated'),
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    });
  }
  for (const path of [maps, accounts, pods])
    await cluster.admin.patch(`${path}/held`, { metadata: { finalizers: null } });
  await gone(`/api/v1/namespaces/${name}`);
});
