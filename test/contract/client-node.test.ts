import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ApiException,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type KubernetesListObject,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  type V1ConfigMap,
  V1MicroTime,
  Watch,
} from '@kubernetes/client-node';
import { inTime } from '../in-time.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import { type Gadgets, servedGadgets } from './gadget.ts';

/** What other people's programs do, by a client that knows nothing of this operator and parses every answer by Kubernetes' own schema. */

let cluster: Contract;
let core: CoreV1Api;
let gadgets: Gadgets;
let namespace: string;
beforeAll(async () => {
  cluster = await contract();
  core = cluster.config.makeApiClient(CoreV1Api);
  gadgets = await servedGadgets(cluster);
  ({ namespace } = gadgets);
});
afterAll(async () => {
  await gadgets.remove();
  await cluster.stop();
});

async function addGadget(name: string): Promise<{ readonly custom: CustomObjectsApi; readonly at: GadgetPlace }> {
  const custom = cluster.config.makeApiClient(CustomObjectsApi);
  const at = { group: gadgets.group, version: 'v2', namespace, plural: 'gadgets' };
  await custom.createNamespacedCustomObject({ ...at, body: gadgets.gadget(name) });
  return { custom, at };
}

type GadgetPlace = Readonly<Record<'group' | 'version' | 'namespace' | 'plural', string>>;

const addMap = (name: string, data: Record<string, string> = {}): Promise<V1ConfigMap> =>
  core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { set: 'ours' } }, data } });

const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? '';

/** The Status that a call is refused with. */
async function refused(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiException)) throw new Error('expected a refusal', { cause: error });
  return JSON.parse(error.body as string);
}

const merging = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const strategically = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);

describe('a typed client', () => {
  test('gets times as times, also those of microseconds', async () => {
    const leases = cluster.config.makeApiClient(CoordinationV1Api);
    const renewTime = new V1MicroTime('2026-01-01T00:00:00.000Z');
    const body = { metadata: { name: 'timed' }, spec: { holderIdentity: 'a', renewTime } };
    await leases.createNamespacedLease({ namespace, body });
    const { metadata, spec } = await leases.readNamespacedLease({ namespace, name: 'timed' });
    expect(metadata?.creationTimestamp?.getTime()).toBeGreaterThan(renewTime.getTime());
    expect(new Date(String(spec?.renewTime)).getTime()).toBe(renewTime.getTime());
    const heldBy = (holderIdentity: string): Promise<unknown> =>
      leases.replaceNamespacedLease({
        namespace,
        name: 'timed',
        body: { metadata: metadata!, spec: { holderIdentity } },
      });
    await heldBy('b');
    expect(await refused(heldBy('c'))).toMatchObject({ kind: 'Status', code: 409, reason: 'Conflict' });
  });

  test('lists in pages and by labels', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await addMap(name);
    const first = await core.listNamespacedConfigMap({ namespace, labelSelector: 'set=ours', limit: 2 });
    expect(first.items.map(nameOf)).toEqual(['page-1', 'page-2']);
    const next = first.metadata?._continue ?? '';
    const rest = await core.listNamespacedConfigMap({
      namespace,
      labelSelector: 'set=ours',
      limit: 2,
      _continue: next,
    });
    expect([rest.items.map(nameOf), rest.metadata?._continue]).toEqual([['page-3'], undefined]);
  });

  test('patches in two ways', async () => {
    const { metadata } = await core.createNode({ body: { metadata: { generateName: 'patched-' } } });
    const name = metadata?.name ?? '';
    const add = (type: string): object => ({ status: { conditions: [{ type, status: 'True' }] } });
    await core.patchNodeStatus({ name, body: add('DiskOld') }, merging);
    await core.patchNodeStatus({ name, body: add('DiskSlow') }, strategically);
    const { status } = await core.readNode({ name });
    expect(status?.conditions?.map(({ type }) => type)).toEqual(expect.arrayContaining(['DiskOld', 'DiskSlow']));
    const cordoned = await core.patchNode({ name, body: { spec: { unschedulable: true } } }, merging);
    expect(cordoned.spec?.unschedulable).toBe(true);
    await core.deleteNode({ name });
    expect(await refused(core.readNode({ name }))).toMatchObject({ code: 404, details: { kind: 'nodes', name } });
  });

  test('is told which budget forbids an eviction', async () => {
    const labels = { app: 'guarded' };
    const metadata = { name: 'guarded', labels };
    const containers = [{ name: 'main', image: 'web' }];
    await core.createNamespacedPod({ namespace, body: { metadata, spec: { nodeName: cluster.node, containers } } });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await core.patchNamespacedPodStatus({ namespace, name: 'guarded', body: { status } }, merging);
    const policy = cluster.config.makeApiClient(PolicyV1Api);
    const body = { metadata: { name: 'guard' }, spec: { minAvailable: 1, selector: { matchLabels: labels } } };
    await policy.createNamespacedPodDisruptionBudget({ namespace, body });
    await eventually(async () => {
      const { status: counted } = await policy.readNamespacedPodDisruptionBudget({ namespace, name: 'guard' });
      expect(counted).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0 });
    });
    const eviction = { metadata: { name: 'guarded', namespace } };
    expect(
      await refused(core.createNamespacedPodEviction({ namespace, name: 'guarded', body: eviction })),
    ).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'DisruptionBudget', message: expect.stringContaining('guard') }] },
    });
  });

  test('deletes the object that it has seen, and no namesake', async () => {
    const { metadata } = await addMap('once');
    const del = (uid: string | undefined): Promise<unknown> =>
      core.deleteNamespacedConfigMap({ namespace, name: 'once', body: { preconditions: { ...(uid && { uid }) } } });
    expect(await refused(del('another'))).toMatchObject({ code: 409, reason: 'Conflict' });
    await del(metadata?.uid);
    expect(await refused(core.readNamespacedConfigMap({ namespace, name: 'once' }))).toMatchObject({ code: 404 });
  });
});

describe('a client that learns of kinds as it runs', () => {
  test('finds by discovery where a kind is served', async () => {
    const objects = KubernetesObjectApi.makeApiClient(cluster.config);
    const spec = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'found', namespace } };
    await objects.create(spec);
    expect((await objects.read(spec)).metadata?.name).toBe('found');
    await objects.delete(spec);
    expect(await refused(objects.read(spec))).toMatchObject({ code: 404 });
  });

  test('works on a custom resource and its status', async () => {
    const { custom, at } = await addGadget('g');
    const body = { status: { seen: 'now' }, spec: { state: 'Busy' } };
    await custom.patchNamespacedCustomObjectStatus({ ...at, name: 'g', body }, merging);
    expect(await custom.getNamespacedCustomObject({ ...at, name: 'g' })).toMatchObject({
      spec: { state: 'Idle', size: 3 },
      status: { seen: 'now' },
    });
    await custom.deleteNamespacedCustomObject({ ...at, name: 'g' });
  });
});

describe('a watch', () => {
  test('goes on from the version of a list, until it is aborted', async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const seen: string[] = [];
    const ended = Promise.withResolvers<unknown>();
    const watching = await new Watch(cluster.config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { resourceVersion: metadata?.resourceVersion ?? '', labelSelector: 'set=ours' },
      (type, object: KubernetesObject) => seen.push(`${type} ${nameOf(object)}`),
      ended.resolve,
    );
    await addMap('watched');
    await core.patchNamespacedConfigMap({ namespace, name: 'watched', body: { data: { a: 'b' } } }, merging);
    await core.deleteNamespacedConfigMap({ namespace, name: 'watched' });
    await eventually(() => expect(seen).toEqual(['ADDED watched', 'MODIFIED watched', 'DELETED watched']));
    watching.abort();
    await inTime('the end of the watch', ended.promise);
  });
});

describe('an informer', () => {
  test('lists anew where its version is too old, and tells of what came, changed and went', async () => {
    const { custom, at } = await addGadget('first');
    await cluster.forget();
    let lists = 0;
    const list = async (): Promise<KubernetesListObject<KubernetesObject>> => {
      const now = (await custom.listNamespacedCustomObject(at)) as KubernetesListObject<KubernetesObject>;
      return lists++ > 0 ? now : { ...now, metadata: { resourceVersion: '1' } };
    };
    const informer = makeInformer(cluster.config, gadgets.v2, list);
    const told: string[] = [];
    for (const verb of ['add', 'update', 'delete'] as const)
      informer.on(verb, (object) => told.push(`${verb} ${nameOf(object)}`));
    await informer.start();
    await eventually(() => expect(lists).toBe(2));
    await addGadget('second');
    const busy = { spec: { state: 'Busy' } };
    await custom.patchNamespacedCustomObject({ ...at, name: 'first', body: busy }, merging);
    await custom.deleteNamespacedCustomObject({ ...at, name: 'second' });
    await eventually(() => expect(told).toEqual(['add first', 'add second', 'update first', 'delete second']));
    expect(informer.list().map(nameOf)).toEqual(['first']);
    await informer.stop();
  });
});
