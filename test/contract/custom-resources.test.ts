import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { exchange } from '../e2e/controlplane/exchange.ts';
import { at, type KubeJson } from '../../lab/sim/cluster/object.ts';
import { listNames, refusal, told } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import { CRDS, definition, type Gadgets, INVALID_SPECS, servedGadgets, version } from './gadget.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

describe('a definition', () => {
  test('is established, says what it stores, and is found by discovery and in all namespaces', async () => {
    const { group, v2, crd, gadget } = await servedGadgets(cluster);
    expect((await cluster.admin.get(crd))['status']).toMatchObject({
      acceptedNames: { kind: 'Gadget', singular: 'gadget', listKind: 'GadgetList' },
      storedVersions: ['v2'],
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'NamesAccepted', status: 'True' }),
        expect.objectContaining({ type: 'Established', status: 'True' }),
      ]),
    });
    await cluster.admin.create(v2, gadget('g'));
    expect(await cluster.admin.list(`/apis/${group}/v2`)).toMatchObject({ groupVersion: `${group}/v2` });
    expect(await cluster.admin.list(`/apis/${group}/v1/gadgets`)).toMatchObject({
      kind: 'GadgetList',
      items: [{ apiVersion: `${group}/v1`, metadata: { name: 'g' } }],
    });
  });

  test('that is deleted takes its objects and its watches along', async () => {
    const { v2, crd, gadget } = await servedGadgets(cluster);
    await cluster.admin.create(v2, gadget('g'));
    const watch = cluster.admin.watch(v2);
    await eventually(() => expect(told(watch.events)).toEqual(['ADDED g']));
    await cluster.admin.delete(crd);
    await eventually(() => expect(told(watch.events)).toEqual(['ADDED g', 'DELETED g']));
    await eventually(() => expect(watch.ended).toBe(true));
    await eventually(async () => {
      for (const path of [crd, v2]) expect(await refusal(cluster.admin.get(path))).toMatchObject({ code: 404 });
    });
  });

  test('waits with going for objects that are held back', async () => {
    const { v2, crd, gadget } = await servedGadgets(cluster);
    for (const [name, finalizers] of Object.entries({ held: ['a/b'], free: [] })) {
      await cluster.admin.create(v2, { ...gadget(name), metadata: { name, finalizers } });
    }
    await cluster.admin.delete(crd);
    await eventually(async () => expect(listNames(await cluster.admin.list(v2))).toEqual(['held']));
    await cluster.admin.get(crd);
    await cluster.admin.patch(`${v2}/held`, { metadata: { finalizers: null } });
    await eventually(async () => expect(await refusal(cluster.admin.get(crd))).toMatchObject({ code: 404 }));
  });

  test('keeps the versions that it has stored until its status is written', async () => {
    const versions = (stored: string): object[] => ['v1', 'v2'].map((name) => version(name, name === stored));
    const storedVersions = (object: unknown): unknown => at(object, 'status', 'storedVersions');
    const { crd } = await servedGadgets(cluster, { versions: versions('v1') });
    const without = (): Promise<KubeJson> => cluster.admin.patch(crd, { spec: { versions: [version('v2', true)] } });
    expect(storedVersions(await cluster.admin.patch(crd, { spec: { versions: versions('v2') } }))).toEqual([
      'v1',
      'v2',
    ]);
    const { code, details } = await refusal(without());
    expect([code, details?.causes?.map(({ field }) => field)]).toEqual([422, ['status.storedVersions[0]']]);
    for (const names of [['v9'], ['v2']]) {
      const status = { storedVersions: names };
      expect(storedVersions(await cluster.admin.patch(`${crd}/status`, { status }))).toEqual(names);
    }
    expect(storedVersions(await without())).toEqual(['v2']);
  });

  test.each([
    ['another name', { names: { kind: 'Gadget', plural: 'gizmos' } }, 'metadata.name'],
    ['no storage version', { versions: [version('v1', false)] }, 'spec.versions'],
    [
      'no schema',
      { versions: [{ name: 'v1', served: true, storage: true }] },
      'spec.versions[0].schema.openAPIV3Schema',
    ],
    ['no scope', { scope: 'Everywhere' }, 'spec.scope'],
  ])('with %s is invalid', async (_, more, field) => {
    const { code, details } = await refusal(cluster.admin.create(CRDS, definition(more)));
    expect([code, details?.causes?.map((cause) => cause.field)]).toEqual([422, expect.arrayContaining([field])]);
  });
});

let gadgets: Gadgets;
beforeAll(async () => {
  gadgets = await servedGadgets(cluster);
});
beforeEach(async () => {
  gadgets = await gadgets.elsewhere();
});

describe('an object', () => {
  test.each(INVALID_SPECS)('with spec %j is invalid', async (spec, why) => {
    const { code, reason, message } = await refusal(cluster.admin.create(gadgets.v2, gadgets.gadget('g', spec)));
    expect([code, reason]).toEqual([422, 'Invalid']);
    expect(message).toContain(`Gadget.${gadgets.group} "g" is invalid: `);
    expect(message).toContain(why);
  });

  test('says of what kind it is', async () => {
    const { code, message } = await refusal(
      cluster.admin.create(gadgets.v2, { metadata: { name: 'g' }, spec: { state: 'Idle' } }),
    );
    expect([code, message]).toEqual([
      400,
      expect.stringContaining("(must be of type Gadget): Object 'Kind' is missing"),
    ]);
  });

  test('loses unknown fields, keeps free ones and nulls that are allowed, and gets its defaults', async () => {
    const spec = { state: 'Idle', version: null, size: null, colour: 'red', free: { any: 1 } };
    expect((await cluster.admin.create(gadgets.v2, gadgets.gadget('g', spec)))['spec']).toEqual({
      state: 'Idle',
      version: null,
      size: 3,
      free: { any: 1 },
    });
  });

  test('with unknown fields is refused where validation is strict', async () => {
    const odd = gadgets.gadget('g', { state: 'Idle', colour: 'red' });
    expect(await refusal(cluster.admin.create(gadgets.v2, odd, { fieldValidation: 'Strict' }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: expect.stringContaining('unknown field "spec.colour"'),
    });
    expect(await refusal(cluster.admin.create(gadgets.v2, odd, { fieldValidation: 'Loose' }))).toMatchObject({
      code: 422,
    });
  });

  test('has a status apart, and a generation that counts changes of the rest', async () => {
    const made = await cluster.admin.create(
      gadgets.v2,
      gadgets.gadget('g', { state: 'Idle' }, { status: { seen: 'ignored' } }),
    );
    expect(made).not.toHaveProperty('status');
    const patch = { metadata: { labels: { a: 'b' } }, spec: { state: 'Busy' }, status: { seen: 'now' } };
    const seen = await cluster.admin.patch(`${gadgets.v2}/g/status`, patch);
    expect(seen).toMatchObject({ spec: { state: 'Idle' }, status: { seen: 'now' }, metadata: { generation: 1 } });
    const busy = await cluster.admin.patch(`${gadgets.v2}/g`, { ...patch, status: { seen: 'never' } });
    expect(busy).toMatchObject({
      spec: { state: 'Busy' },
      status: { seen: 'now' },
      metadata: { generation: 2, labels: { a: 'b' } },
    });
    expect(await refusal(cluster.admin.patch(`${gadgets.v2}/g/status`, { status: { seen: null } }))).toMatchObject({
      code: 422,
    });
  });

  test("'s status can be written alone with annotations of its own", async () => {
    await cluster.admin.create(gadgets.v2, gadgets.gadget('g'));
    const patch = { metadata: { annotations: { a: 'b' }, labels: { a: 'b' } }, status: { seen: 'now' } };
    const { metadata } = await cluster.admin.patch(`${gadgets.v2}/g/status`, patch);
    expect([metadata.annotations, metadata.labels]).toEqual([undefined, undefined]);
  });

  test('needs its resourceVersion in a PUT, and no strategic merge', async () => {
    await cluster.admin.create(gadgets.v2, gadgets.gadget('g'));
    expect(await refusal(cluster.admin.put(`${gadgets.v2}/g`, gadgets.gadget('g')))).toMatchObject({ code: 422 });
    const strategic = cluster.admin.patch(`${gadgets.v2}/g`, {}, 'application/strategic-merge-patch+json');
    expect(await refusal(strategic)).toMatchObject({ code: 415 });
  });

  test('is shown as a table with its printer columns', async () => {
    await cluster.admin.create(gadgets.v2, gadgets.gadget('g'));
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
    const table = JSON.parse((await exchange(cluster.access, { path: gadgets.v2, headers })).text) as unknown;
    expect(table).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      columnDefinitions: [
        { name: 'Name', type: 'string', format: 'name' },
        { name: 'State', type: 'string' },
      ],
      rows: [{ cells: ['g', 'Idle'], object: { kind: 'PartialObjectMetadata', metadata: { name: 'g' } } }],
    });
  });
});

test('a watch of one name shows that object alone, from its making to its end', async () => {
  const { metadata } = await cluster.admin.list(gadgets.v2);
  const query = { fieldSelector: 'metadata.name=g', resourceVersion: metadata.resourceVersion };
  const watch = cluster.admin.watch(gadgets.v2, query);
  for (const name of ['f', 'g', 'h']) await cluster.admin.create(gadgets.v2, gadgets.gadget(name));
  for (const name of ['h', 'g']) await cluster.admin.patch(`${gadgets.v2}/${name}/status`, { status: { seen: 'now' } });
  for (const name of ['f', 'g']) await cluster.admin.delete(`${gadgets.v2}/${name}`);
  await eventually(() => expect(told(watch.events)).toEqual(['ADDED g', 'MODIFIED g', 'DELETED g']));
  watch.stop();
});

/** The garbage collector looks for new kinds every 30 seconds. */
const GARBAGE_COLLECTED_MS = 60_000;

test('an object goes with the node that owns it', async () => {
  const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'owner-' } });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: metadata.name, uid: metadata.uid }];
  await cluster.admin.create(gadgets.v2, { ...gadgets.gadget('owned'), metadata: { name: 'owned', ownerReferences } });
  await cluster.admin.create(gadgets.v2, gadgets.gadget('free'));
  await cluster.admin.delete(`/api/v1/nodes/${metadata.name}`);
  await eventually(
    async () => expect(await refusal(cluster.admin.get(`${gadgets.v2}/owned`))).toMatchObject({ code: 404 }),
    GARBAGE_COLLECTED_MS,
  );
  await cluster.admin.get(`${gadgets.v2}/free`);
});

test("an object's metadata has its types, whatever the schema says", async () => {
  const made = (metadata: object): Promise<unknown> =>
    cluster.admin.create(gadgets.v2, { ...gadgets.gadget('g'), metadata });
  expect(await refusal(made({ name: 'g', annotations: { a: 1 } }))).toMatchObject({ code: 400, reason: 'BadRequest' });
  expect(await made({ name: 'g', finalizers: ['plain'], colour: 'red' })).not.toHaveProperty('metadata.colour');
  const patch = { metadata: { annotations: { a: 1 } } };
  expect(await refusal(cluster.admin.patch(`${gadgets.v2}/g`, patch))).toMatchObject({ code: 422, reason: 'Invalid' });
  await cluster.admin.patch(`${gadgets.v2}/g`, { metadata: { finalizers: null } });
});

test('a watch from before what the server remembers is 410', async () => {
  await cluster.forget();
  const watch = cluster.admin.transport.watch({ path: gadgets.v2, query: { resourceVersion: '1' } });
  const first = watch[Symbol.asyncIterator]().next();
  expect(await refusal(first)).toMatchObject({ code: 410, reason: 'Expired' });
});
