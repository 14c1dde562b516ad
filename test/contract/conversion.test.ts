import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { at, fields, type KubeJson, withMeta } from '../../lab/sim/cluster/object.ts';
import { mergePatch } from '../../lab/sim/cluster/patch/merge.ts';
import { listNames, refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import { type Gadgets, servedGadgets } from './gadget.ts';
import { serveWebhook } from './webhook.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
let gadgets: Gadgets;
let close = (): void => undefined;
afterEach(async () => {
  close();
  await gadgets.remove();
});
afterAll(() => cluster.stop());

interface Review {
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubeJson[];
}

interface Response {
  readonly uid: unknown;
  readonly result: object;
  readonly convertedObjects: readonly KubeJson[];
}

interface Hook {
  /** What it makes of their metadata besides. */
  readonly metadata?: object;
  /** What becomes of its answer. */
  readonly answer?: (response: Response, review: Review) => object | Promise<object>;
}

/** Gadgets behind a webhook that marks each object that it converts. Returns what it is asked. */
async function converting({ metadata = {}, answer = (response) => response }: Hook = {}): Promise<readonly unknown[]> {
  const reviews: unknown[] = [];
  const hook = await serveWebhook(cluster, await cluster.namespace(), async (asked) => {
    reviews.push(asked);
    const { apiVersion, kind } = fields(asked);
    const review = at(asked, 'request') as Review & { readonly uid: string };
    const response = { uid: review.uid, result: { status: 'Success' }, convertedObjects: converted(review, metadata) };
    return { apiVersion, kind, response: await answer(response, review) };
  });
  close = hook.close;
  const { clientConfig } = hook;
  const webhook = { conversionReviewVersions: ['v1'], clientConfig };
  gadgets = await servedGadgets(cluster, { conversion: { strategy: 'Webhook', webhook } });
  return reviews;
}

function converted({ desiredAPIVersion, objects }: Review, metadata: object): KubeJson[] {
  const spec = { version: desiredAPIVersion.endsWith('/v1') ? '1' : '2' };
  return objects.map((object) => mergePatch(object, { apiVersion: desiredAPIVersion, spec, metadata }) as KubeJson);
}

test('without a webhook changes the version and nothing else', async () => {
  gadgets = await servedGadgets(cluster);
  const { v1, v2, gadgetV1 } = gadgets;
  await cluster.admin.create(v1, gadgetV1('g'));
  const { managedFields: _, ...metadata } = (await cluster.admin.get(`${v1}/g`)).metadata as never as {
    managedFields: unknown;
  };
  const second = await cluster.admin.get(`${v2}/g`);
  expect(second).toMatchObject({ apiVersion: `${gadgets.group}/v2`, metadata, spec: { state: 'Idle', size: 3 } });
});

test('asks the webhook of a Service on the way in and on the way out, and only where versions differ', async () => {
  const reviews = await converting();
  const { group, v1, v2, gadget, gadgetV1 } = gadgets;
  await cluster.admin.create(v2, gadget('g'));
  await eventually(async () =>
    expect(await cluster.admin.get(`${v1}/g`)).toMatchObject({ apiVersion: `${group}/v1`, spec: { version: '1' } }),
  );
  await cluster.admin.create(v1, gadgetV1('h'));
  expect(await cluster.admin.get(`${v2}/h`)).toMatchObject({ spec: { version: '2' } });
  expect((await cluster.admin.get(`${v2}/g`))['spec']).not.toHaveProperty('version');
  for (const review of reviews) {
    expect(review).toMatchObject({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' });
    const { desiredAPIVersion, objects } = at(review, 'request') as Review;
    expect(objects.map(({ apiVersion }) => apiVersion)).not.toContain(desiredAPIVersion);
  }
});

test('of a list and of a watch reaches each object', async () => {
  await converting();
  const { v1, v2, gadget } = gadgets;
  for (const name of ['a', 'b']) await cluster.admin.create(v2, gadget(name));
  const all = await eventually(() => cluster.admin.list(v1));
  expect([listNames(all), all.items.map(({ spec }) => at(spec, 'version'))]).toEqual([
    ['a', 'b'],
    ['1', '1'],
  ]);
  const watch = cluster.admin.watch(v1);
  await eventually(() =>
    expect(watch.events.map(({ object }) => [object.apiVersion, object.metadata.name])).toEqual([
      [`${gadgets.group}/v1`, 'a'],
      [`${gadgets.group}/v1`, 'b'],
    ]),
  );
  watch.stop();
});

test('lets no write be lost that lands while it runs', async () => {
  const [asked, landed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let holds = false;
  await converting({
    answer: async (response, { desiredAPIVersion }) => {
      if (!holds || !desiredAPIVersion.endsWith('/v2')) return response;
      asked.resolve();
      await landed.promise;
      return response;
    },
  });
  const { v1, v2, gadget } = gadgets;
  await cluster.admin.create(v2, gadget('g'));
  await eventually(() => cluster.admin.get(`${v1}/g`));
  holds = true;
  const slow = cluster.admin.patch(`${v1}/g`, { spec: { size: 7 } });
  await asked.promise;
  await cluster.admin.patch(`${v2}/g`, { spec: { state: 'Busy' } });
  landed.resolve();
  await slow;
  expect(await cluster.admin.get(`${v2}/g`)).toMatchObject({ spec: { state: 'Busy', size: 7 } });
});

test('changes labels and annotations, and nothing else of metadata', async () => {
  await converting({
    metadata: {
      labels: { a: 'b' },
      annotations: { by: 'hook' },
      finalizers: ['example.com/hook'],
      generation: 99,
    },
  });
  const { v1, v2, gadget } = gadgets;
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

const FAILED = '.example.com/v2, Kind=Gadget failed: ';

test.each<readonly [what: string, hook: Hook, message: string]>([
  [
    'annotations larger than an object may have',
    { metadata: { annotations: { by: 'x'.repeat(262_144) } } },
    '262144 bytes',
  ],
  [
    'a failure',
    { answer: (response) => ({ ...response, result: { status: 'Failed', message: 'no such state' } }) },
    `${FAILED}no such state`,
  ],
  [
    'the answer to another question',
    { answer: (response) => ({ ...response, uid: 'other' }) },
    `${FAILED}expected response.uid="`,
  ],
  [
    'another object',
    {
      answer: ({ convertedObjects, ...response }) => ({
        ...response,
        convertedObjects: convertedObjects.map((object) => withMeta(object, { name: 'x' })),
      }),
    },
    'must have the same name: g != x',
  ],
])('that gets %s is a 500 that says why', async (_, hook, message) => {
  await converting(hook);
  const { v1, v2, gadget } = gadgets;
  await cluster.admin.create(v2, gadget('g'));
  await eventually(async () =>
    expect(await refusal(cluster.admin.get(`${v1}/g`))).toMatchObject({
      code: 500,
      message: expect.stringContaining(message),
    }),
  );
});

test('whose webhook is away fails reads of the other version alone', async () => {
  await converting();
  const { v1, v2, gadget } = gadgets;
  close();
  await cluster.admin.create(v2, gadget('g'));
  await cluster.admin.get(`${v2}/g`);
  const { code, message } = await refusal(cluster.admin.get(`${v1}/g`));
  expect([code, message]).toEqual([500, expect.stringContaining(FAILED)]);
});
