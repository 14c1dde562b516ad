import { describe, expect, test } from '@jest/globals';
import { at } from '../../../sim/cluster/object.ts';
import { type Client, listNames, NODES, node, PODS, refusal, runningPod, settle, told, world } from './harness.ts';

const NAMESPACES = '/api/v1/namespaces';
const MAPS = `${NAMESPACES}/default/configmaps`;
const REPLICA_SETS = '/apis/apps/v1/namespaces/default/replicasets';

describe('deleting', () => {
  test('an object without finalizers is gone at once, and the answer names it', async () => {
    const { admin } = world();
    const { metadata } = await admin.create(NODES, node('n1'));
    expect(await admin.delete(`${NODES}/n1`)).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'n1', kind: 'nodes', uid: metadata.uid },
    });
    expect(await refusal(admin.get(`${NODES}/n1`))).toMatchObject({ code: 404 });
  });

  test('only the object that was meant', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n1'));
    for (const preconditions of [{ uid: 'other' }, { resourceVersion: '1' }]) {
      expect(await refusal(admin.delete(`${NODES}/n1`, { preconditions }))).toMatchObject({ code: 409 });
    }
    await admin.get(`${NODES}/n1`);
  });

  test('waits for the last finalizer', async () => {
    const { admin } = world();
    await admin.create(MAPS, { metadata: { name: 'm', finalizers: ['a/x', 'b/y'] } });
    const pending = await admin.delete(`${MAPS}/m`);
    expect(pending.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/x', 'b/y'] });
    await admin.patch(`${MAPS}/m`, { metadata: { finalizers: ['b/y'] } });
    await admin.get(`${MAPS}/m`);
    await admin.patch(`${MAPS}/m`, { metadata: { finalizers: null } });
    expect(await refusal(admin.get(`${MAPS}/m`))).toMatchObject({ code: 404 });
  });

  test('a dry run deletes nothing', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n1'));
    await admin.delete(`${NODES}/n1`, undefined, { dryRun: 'All' });
    await admin.delete(`${NODES}/n1`, { dryRun: ['All'] });
    await admin.get(`${NODES}/n1`);
  });
});

describe('a pod', () => {
  test('that is on a node gets its grace, and goes when its kubelet says so', async () => {
    const { admin } = world();
    await runningPod(admin, 'p');
    const watch = admin.watch(PODS);
    await settle();
    const ending = await admin.delete(`${PODS}/p`);
    expect(ending.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    await admin.delete(`${PODS}/p`, { gracePeriodSeconds: 0 });
    await settle();
    expect(told(watch.events)).toEqual(['ADDED p', 'MODIFIED p', 'DELETED p']);
  });

  test("'s grace is shortened by a second deletion, never lengthened", async () => {
    const { admin } = world();
    await runningPod(admin, 'p');
    const first = await admin.delete(`${PODS}/p`, undefined, { gracePeriodSeconds: '20' });
    expect(await admin.delete(`${PODS}/p`, { gracePeriodSeconds: 60 })).toEqual(first);
    const sooner = await admin.delete(`${PODS}/p`, { gracePeriodSeconds: 5 });
    expect(sooner.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:05Z', deletionGracePeriodSeconds: 5 });
  });

  test('that no kubelet has, or that is finished, goes at once', async () => {
    const { admin } = world();
    await admin.create(PODS, { metadata: { name: 'unbound' }, spec: {} });
    await runningPod(admin, 'finished');
    await admin.patch(`${PODS}/finished/status`, { status: { phase: 'Succeeded' } });
    for (const name of ['unbound', 'finished']) await admin.delete(`${PODS}/${name}`);
    expect((await admin.list(PODS)).items).toEqual([]);
  });

  test('is bound once', async () => {
    const { admin } = world();
    await admin.create(PODS, { metadata: { name: 'p' }, spec: {} });
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };
    await admin.create(`${PODS}/p/binding`, binding);
    expect(at(await admin.get(`${PODS}/p`), 'spec', 'nodeName')).toBe('n1');
    expect(await refusal(admin.create(`${PODS}/p/binding`, binding))).toMatchObject({ code: 409 });
  });
});

describe('owners', () => {
  const owner = (uid: string, kind = 'Node'): object => ({ apiVersion: 'v1', kind, name: 'owner', uid });

  async function owned(client: Client, name: string, ...uids: string[]): Promise<void> {
    await client.create(MAPS, { metadata: { name, ownerReferences: uids.map((uid) => owner(uid)) } });
  }

  test('take their dependents along, and theirs', async () => {
    const { admin } = world();
    const { metadata } = await admin.create(NODES, node('n1'));
    await owned(admin, 'child', metadata.uid);
    await owned(admin, 'grandchild', (await admin.get(`${MAPS}/child`)).metadata.uid);
    await owned(admin, 'stranger', (await admin.create(NODES, node('n2'))).metadata.uid);
    await admin.delete(`${NODES}/n1`);
    expect(listNames(await admin.list(MAPS))).toEqual(['stranger']);
  });

  test('keep what another of them still owns', async () => {
    const { admin } = world();
    const uids = [];
    for (const name of ['n1', 'n2']) uids.push((await admin.create(NODES, node(name))).metadata.uid);
    await owned(admin, 'shared', ...uids);
    await admin.delete(`${NODES}/n1`);
    expect(listNames(await admin.list(MAPS))).toEqual(['shared']);
    await admin.delete(`${NODES}/n2`);
    expect(listNames(await admin.list(MAPS))).toEqual([]);
  });

  test('that do not exist, or live in another namespace, own nothing: what names them is collected', async () => {
    const { admin } = world();
    await owned(admin, 'orphan', 'no-such-uid');
    const elsewhere = await admin.create(`${NAMESPACES}/kube-system/configmaps`, { metadata: { name: 'owner' } });
    await owned(admin, 'far', elsewhere.metadata.uid);
    expect(listNames(await admin.list(MAPS))).toEqual([]);
  });

  test('that are deleted as orphaning leave their dependents', async () => {
    const { admin } = world();
    const { metadata } = await admin.create(NODES, node('n1'));
    await owned(admin, 'child', metadata.uid);
    await admin.delete(`${NODES}/n1`, { propagationPolicy: 'Orphan' });
    expect((await admin.get(`${MAPS}/child`)).metadata).not.toHaveProperty('ownerReferences');
  });

  test('that are deleted in the foreground go after their last dependent', async () => {
    const { admin } = world();
    const { metadata } = await admin.create(REPLICA_SETS, { metadata: { name: 'web' }, spec: {} });
    const ownerReferences = [{ ...owner(metadata.uid, 'ReplicaSet'), apiVersion: 'apps/v1' }];
    await admin.create(PODS, { metadata: { name: 'p', ownerReferences }, spec: { nodeName: 'n1' } });
    await admin.delete(`${REPLICA_SETS}/web`, { propagationPolicy: 'Foreground' });
    expect((await admin.get(`${REPLICA_SETS}/web`)).metadata.finalizers).toEqual(['foregroundDeletion']);
    expect((await admin.get(`${PODS}/p`)).metadata.deletionTimestamp).toBeDefined();
    await admin.delete(`${PODS}/p`, { gracePeriodSeconds: 0 });
    expect(await refusal(admin.get(`${REPLICA_SETS}/web`))).toMatchObject({ code: 404 });
  });
});

describe('a namespace', () => {
  test('empties first, takes nothing new, and goes with the last pod', async () => {
    const { admin } = world();
    await admin.create(NAMESPACES, { metadata: { name: 'shop' } });
    const pods = `${NAMESPACES}/shop/pods`;
    await admin.create(pods, { metadata: { name: 'p' }, spec: { nodeName: 'n1' } });
    await admin.create(`${NAMESPACES}/shop/configmaps`, { metadata: { name: 'm' } });
    await admin.delete(`${NAMESPACES}/shop`);
    expect(await admin.get(`${NAMESPACES}/shop`)).toMatchObject({ status: { phase: 'Terminating' } });
    expect((await admin.list(`${NAMESPACES}/shop/configmaps`)).items).toEqual([]);
    expect(await refusal(admin.create(pods, { metadata: { name: 'q' }, spec: {} }))).toMatchObject({
      code: 403,
      message: expect.stringContaining('because it is being terminated'),
    });
    await admin.delete(`${pods}/p`, { gracePeriodSeconds: 0 });
    expect(await refusal(admin.get(`${NAMESPACES}/shop`))).toMatchObject({ code: 404 });
  });

  test('that is empty goes at once', async () => {
    const { admin } = world();
    await admin.create(NAMESPACES, { metadata: { name: 'shop' } });
    await admin.delete(`${NAMESPACES}/shop`);
    expect(listNames(await admin.list(NAMESPACES))).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
  });
});
