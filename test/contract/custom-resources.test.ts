import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { exchange } from '../e2e/controlplane/exchange.ts';
import { at, fields, list } from '../../sim/cluster/object.ts';
import { mergePatch } from '../../sim/cluster/patch/merge.ts';
import { CRD, CRDS, definition, gadget, gadgetV1, INVALID_SPECS, version } from '../sim/cluster/gadget.ts';
import { refusal, told } from '../sim/cluster/harness.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import { serveWebhook } from './webhook.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterEach(async () => {
  await cluster.admin.delete(CRD).catch(() => undefined);
  await eventually(async () => expect(await refusal(cluster.admin.get(CRD))).toMatchObject({ code: 404 }));
});
afterAll(() => cluster.stop());

interface Gadgets {
  readonly v1: string;
  readonly v2: string;
}

/** The definition, and where its objects are in a namespace of their own; once they are served. */
async function served(more: object = {}): Promise<Gadgets> {
  const namespace = await cluster.namespace();
  await cluster.admin.create(CRDS, definition(more));
  const path = (name: string): string => `/apis/example.com/${name}/namespaces/${namespace}/gadgets`;
  await eventually(() => cluster.admin.create(path('v2'), gadget('probe'), { dryRun: 'All' }));
  return { v1: path('v1'), v2: path('v2') };
}

describe('a definition', () => {
  test('is established, and says what it stores', async () => {
    await served();
    expect((await cluster.admin.get(CRD))['status']).toMatchObject({
      acceptedNames: { kind: 'Gadget', singular: 'gadget', listKind: 'GadgetList' },
      storedVersions: ['v2'],
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'NamesAccepted', status: 'True' }),
        expect.objectContaining({ type: 'Established', status: 'True' }),
      ]),
    });
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

describe('an object', () => {
  test.each(INVALID_SPECS)('with spec %j is invalid', async (spec, why) => {
    const { v2 } = await served();
    const { code, reason, message } = await refusal(cluster.admin.create(v2, gadget('g', spec)));
    expect([code, reason]).toEqual([422, 'Invalid']);
    expect(message).toContain(`Gadget.example.com "g" is invalid: `);
    expect(message).toContain(why);
  });

  test('says of what kind it is', async () => {
    const { v2 } = await served();
    const { code, message } = await refusal(
      cluster.admin.create(v2, { metadata: { name: 'g' }, spec: { state: 'Idle' } }),
    );
    expect([code, message]).toEqual([
      400,
      expect.stringContaining("(must be of type Gadget): Object 'Kind' is missing"),
    ]);
  });

  test('loses unknown fields, keeps free ones and nulls that are allowed, and gets its defaults', async () => {
    const { v2 } = await served();
    const spec = { state: 'Idle', version: null, size: null, colour: 'red', free: { any: 1 } };
    expect((await cluster.admin.create(v2, gadget('g', spec)))['spec']).toEqual({
      state: 'Idle',
      version: null,
      size: 3,
      free: { any: 1 },
    });
  });

  test('with unknown fields is refused where validation is strict', async () => {
    const { v2 } = await served();
    const odd = gadget('g', { state: 'Idle', colour: 'red' });
    expect(await refusal(cluster.admin.create(v2, odd, { fieldValidation: 'Strict' }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: expect.stringContaining('unknown field "spec.colour"'),
    });
  });

  test('has a status apart, and a generation that counts changes of the rest', async () => {
    const { v2 } = await served();
    const made = await cluster.admin.create(v2, gadget('g', { state: 'Idle' }, { status: { seen: 'ignored' } }));
    expect(made).not.toHaveProperty('status');
    const patch = { metadata: { labels: { a: 'b' } }, spec: { state: 'Busy' }, status: { seen: 'now' } };
    const seen = await cluster.admin.patch(`${v2}/g/status`, patch);
    expect(seen).toMatchObject({ spec: { state: 'Idle' }, status: { seen: 'now' }, metadata: { generation: 1 } });
    const busy = await cluster.admin.patch(`${v2}/g`, { ...patch, status: { seen: 'never' } });
    expect(busy).toMatchObject({
      spec: { state: 'Busy' },
      status: { seen: 'now' },
      metadata: { generation: 2, labels: { a: 'b' } },
    });
    expect(await refusal(cluster.admin.patch(`${v2}/g/status`, { status: { seen: null } }))).toMatchObject({
      code: 422,
    });
  });

  test("'s status can be written alone with annotations of its own", async () => {
    const { v2 } = await served();
    await cluster.admin.create(v2, gadget('g'));
    const patch = { metadata: { annotations: { a: 'b' }, labels: { a: 'b' } }, status: { seen: 'now' } };
    const { metadata } = await cluster.admin.patch(`${v2}/g/status`, patch);
    expect([metadata.annotations, metadata.labels]).toEqual([undefined, undefined]);
  });

  test('needs its resourceVersion in a PUT, and no strategic merge', async () => {
    const { v2 } = await served();
    await cluster.admin.create(v2, gadget('g'));
    expect(await refusal(cluster.admin.put(`${v2}/g`, gadget('g')))).toMatchObject({ code: 422 });
    const strategic = cluster.admin.patch(`${v2}/g`, {}, 'application/strategic-merge-patch+json');
    expect(await refusal(strategic)).toMatchObject({ code: 415 });
  });

  test('is shown as a table with its printer columns', async () => {
    const { v2 } = await served();
    await cluster.admin.create(v2, gadget('g'));
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
    const table = JSON.parse((await exchange(cluster.access, { path: v2, headers })).text) as unknown;
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
  const { v2 } = await served();
  const { metadata } = await cluster.admin.list(v2);
  const query = { fieldSelector: 'metadata.name=g', resourceVersion: metadata.resourceVersion };
  const watch = cluster.admin.watch(v2, query);
  for (const name of ['f', 'g', 'h']) await cluster.admin.create(v2, gadget(name));
  for (const name of ['h', 'g']) await cluster.admin.patch(`${v2}/${name}/status`, { status: { seen: 'now' } });
  for (const name of ['f', 'g']) await cluster.admin.delete(`${v2}/${name}`);
  await eventually(() => expect(told(watch.events)).toEqual(['ADDED g', 'MODIFIED g', 'DELETED g']));
  watch.stop();
});

test('an object goes with the node that owns it', async () => {
  const { v2 } = await served();
  const { metadata } = await cluster.admin.create('/api/v1/nodes', { metadata: { generateName: 'owner-' } });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: metadata.name, uid: metadata.uid }];
  await cluster.admin.create(v2, { ...gadget('owned'), metadata: { name: 'owned', ownerReferences } });
  await cluster.admin.create(v2, gadget('free'));
  await cluster.admin.delete(`/api/v1/nodes/${metadata.name}`);
  await eventually(async () => expect(await refusal(cluster.admin.get(`${v2}/owned`))).toMatchObject({ code: 404 }));
  await cluster.admin.get(`${v2}/free`);
});

test("an object's metadata has its types, whatever the schema says", async () => {
  const { v2 } = await served();
  const made = (metadata: object): Promise<unknown> => cluster.admin.create(v2, { ...gadget('g'), metadata });
  expect(await refusal(made({ name: 'g', annotations: { a: 1 } }))).toMatchObject({ code: 400, reason: 'BadRequest' });
  expect(await made({ name: 'g', finalizers: ['plain'], colour: 'red' })).not.toHaveProperty('metadata.colour');
  const patch = { metadata: { annotations: { a: 1 } } };
  expect(await refusal(cluster.admin.patch(`${v2}/g`, patch))).toMatchObject({ code: 422, reason: 'Invalid' });
  await cluster.admin.patch(`${v2}/g`, { metadata: { finalizers: null } });
});

test('a watch from before what the server remembers is 410', async () => {
  const { v2 } = await served();
  await cluster.forget();
  const watch = cluster.admin.transport.watch({ path: v2, query: { resourceVersion: '1' } });
  const first = watch[Symbol.asyncIterator]().next();
  expect(await refusal(first)).toMatchObject({ code: 410, reason: 'Expired' });
});

describe('conversion', () => {
  test('without a webhook changes the version and nothing else', async () => {
    const { v1, v2 } = await served();
    await cluster.admin.create(v1, gadgetV1('g'));
    const { managedFields: _, ...metadata } = (await cluster.admin.get(`${v1}/g`)).metadata as never as {
      managedFields: unknown;
    };
    const second = await cluster.admin.get(`${v2}/g`);
    expect(second).toMatchObject({ apiVersion: 'example.com/v2', metadata, spec: { state: 'Idle', size: 3 } });
  });

  let close = (): void => undefined;
  afterEach(() => close());

  /** Marks each object that it converts, and counts its calls. @param metadata what it makes of theirs besides */
  async function webhook(metadata: object = {}): Promise<{ readonly conversion: object; readonly calls: unknown[] }> {
    const calls: unknown[] = [];
    const hook = await serveWebhook(cluster, await cluster.namespace(), (review) => {
      calls.push(review);
      return converted(review, metadata);
    });
    close = hook.close;
    const { clientConfig } = hook;
    return { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } }, calls };
  }

  function converted(review: unknown, metadata: object): object {
    const request = fields(at(review, 'request'));
    const apiVersion = request['desiredAPIVersion'];
    const spec = { version: apiVersion === 'example.com/v1' ? '1' : '2' };
    const convertedObjects = list(request['objects']).map((object) =>
      mergePatch(object, { apiVersion, spec, metadata }),
    );
    const { apiVersion: reviewVersion, kind } = fields(review);
    const response = { uid: request['uid'], result: { status: 'Success' }, convertedObjects };
    return { apiVersion: reviewVersion, kind, response };
  }

  test('asks the webhook of a Service on the way in and on the way out', async () => {
    const { conversion, calls } = await webhook();
    const { v1, v2 } = await served({ conversion });
    await cluster.admin.create(v2, gadget('g'));
    await eventually(async () =>
      expect(await cluster.admin.get(`${v1}/g`)).toMatchObject({
        apiVersion: 'example.com/v1',
        spec: { version: '1' },
      }),
    );
    await cluster.admin.create(v1, gadgetV1('h'));
    expect(await cluster.admin.get(`${v2}/h`)).toMatchObject({ spec: { version: '2' } });
    expect(calls[0]).toMatchObject({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' });
  });

  test('changes labels and annotations, and nothing else of metadata', async () => {
    const metadata = {
      labels: { a: 'b' },
      annotations: { by: 'hook' },
      finalizers: ['example.com/hook'],
      generation: 99,
    };
    const { conversion } = await webhook(metadata);
    const { v1, v2 } = await served({ conversion });
    const made = await cluster.admin.create(v2, gadget('g'));
    await eventually(async () =>
      expect((await cluster.admin.get(`${v1}/g`)).metadata).toEqual({
        ...made.metadata,
        labels: { a: 'b' },
        annotations: { by: 'hook' },
        ...('managedFields' in made.metadata && { managedFields: expect.anything() }),
      }),
    );
  });

  test('that makes annotations larger than an object may have fails', async () => {
    const { conversion } = await webhook({ annotations: { by: 'x'.repeat(262_144) } });
    const { v1, v2 } = await served({ conversion });
    await cluster.admin.create(v2, gadget('g'));
    await eventually(async () =>
      expect(await refusal(cluster.admin.get(`${v1}/g`))).toMatchObject({
        code: 500,
        message: expect.stringContaining('262144 bytes'),
      }),
    );
  });

  test('whose webhook is away fails reads of the other version alone', async () => {
    const { conversion } = await webhook();
    close();
    const { v1, v2 } = await served({ conversion });
    await cluster.admin.create(v2, gadget('g'));
    await cluster.admin.get(`${v2}/g`);
    const { code, message } = await refusal(cluster.admin.get(`${v1}/g`));
    expect([code, message]).toEqual([
      500,
      expect.stringContaining('conversion webhook for example.com/v2, Kind=Gadget failed'),
    ]);
  });
});
