import { describe, expect, test } from '@jest/globals';
import type { WebhookCall } from '../../../sim/cluster/cluster.ts';
import { at, fields, type KubeJson, list, withMeta } from '../../../sim/cluster/object.ts';
import { mergePatch } from '../../../sim/cluster/patch/merge.ts';
import { CRD, CRDS, definition, gadget, gadgetV1, V1, V2, version } from './gadget.ts';
import { type Client, listNames, refusal, settle, world } from './harness.ts';

describe('conversion', () => {
  const webhook = {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { caBundle: 'Y2E=', service: { namespace: 'ns', name: 'hook', path: '/convert' } },
      },
    },
  };

  /** Marks each object that it converts. */
  const convert = ({ body }: WebhookCall): unknown => {
    const request = fields(at(body, 'request'));
    const apiVersion = request['desiredAPIVersion'];
    const spec = { version: apiVersion === 'example.com/v1' ? '1' : '2' };
    const convertedObjects = list(request['objects']).map((object) => mergePatch(object, { apiVersion, spec }));
    return { response: { uid: request['uid'], result: { status: 'Success' }, convertedObjects } };
  };

  async function converted(dial: (call: WebhookCall) => unknown): Promise<{ admin: Client; calls: WebhookCall[] }> {
    const calls: WebhookCall[] = [];
    const webhooks = async (call: WebhookCall): Promise<unknown> => {
      calls.push(call);
      await settle(1);
      return dial(call);
    };
    const { admin } = world({ webhooks });
    await admin.create(CRDS, definition(webhook));
    return { admin, calls };
  }

  test('without a webhook changes the version and nothing else', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    await admin.create(V1, gadgetV1('g'));
    const [first, second] = [await admin.get(`${V1}/g`), await admin.get(`${V2}/g`)];
    expect(second).toEqual({ ...first, apiVersion: 'example.com/v2' });
  });

  test('asks the webhook on the way in and on the way out, and only where versions differ', async () => {
    const { admin, calls } = await converted(convert);
    await admin.create(V2, gadget('g'));
    await admin.get(`${V2}/g`);
    expect(calls).toEqual([]);
    expect(await admin.get(`${V1}/g`)).toMatchObject({ apiVersion: 'example.com/v1', spec: { version: '1' } });
    expect(calls).toMatchObject([
      { service: { namespace: 'ns', name: 'hook', port: 443, path: '/convert' }, caBundle: 'Y2E=', timeoutMs: 30_000 },
    ]);
    await admin.create(V1, gadgetV1('h'));
    expect(await admin.get(`${V2}/h`)).toMatchObject({ spec: { version: '2' } });
  });

  test('of a list is one review, of a watch one for each event', async () => {
    const { admin, calls } = await converted(convert);
    for (const name of ['a', 'b']) await admin.create(V2, gadget(name));
    const watch = admin.watch(V1);
    await settle(20);
    expect(watch.events.map(({ object }) => object.apiVersion)).toEqual(['example.com/v1', 'example.com/v1']);
    calls.length = 0;
    expect(listNames(await admin.list(V1))).toEqual(['a', 'b']);
    expect(calls).toHaveLength(1);
  });

  test('lets no write be lost that lands while it runs', async () => {
    const { admin } = await converted(convert);
    await admin.create(V2, gadget('g'));
    const slow = admin.patch(`${V1}/g`, { spec: { size: 7 } });
    await admin.patch(`${V2}/g`, { spec: { state: 'Busy' } });
    await slow;
    expect(await admin.get(`${V2}/g`)).toMatchObject({ spec: { state: 'Busy', size: 7 } });
  });

  test.each([
    ['no answer', () => Promise.reject(new Error('connection refused')), 'connection refused'],
    [
      'a failure',
      ({ body }: WebhookCall) => ({
        response: { uid: at(body, 'request', 'uid'), result: { status: 'Failed', message: 'no such state' } },
      }),
      'no such state',
    ],
    ['the answer to another question', () => ({ response: { uid: 'other' } }), 'expected response.uid'],
    [
      'another object',
      (call: WebhookCall) => {
        const { response } = convert(call) as { response: { convertedObjects: KubeJson[] } };
        const renamed = response.convertedObjects.map((object) => withMeta(object, { name: 'x' }));
        return { response: { ...response, convertedObjects: renamed } };
      },
      'metadata may not change',
    ],
  ])('that gets %s is a 500 that says why', async (_, dial, why) => {
    const { admin } = await converted(dial);
    await admin.create(V2, gadget('g'));
    const status = await refusal(admin.get(`${V1}/g`));
    expect(status).toMatchObject({
      code: 500,
      message: expect.stringContaining('conversion webhook for example.com/v2, Kind=Gadget failed'),
    });
    expect(status.message).toContain(why);
  });

  test('storedVersions grow with the storage version, and shrink by a status write', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition({ versions: [version('v1', true), version('v2', false)] }));
    await admin.create(V1, gadgetV1('g'));
    const patched = await admin.patch(CRD, { spec: { versions: [version('v1', false), version('v2', true)] } });
    expect(at(patched, 'status', 'storedVersions')).toEqual(['v1', 'v2']);
    expect(await refusal(admin.patch(`${CRD}/status`, { status: { storedVersions: ['v9'] } }))).toMatchObject({
      code: 422,
    });
    const shrunk = await admin.patch(`${CRD}/status`, { status: { storedVersions: ['v2'] } });
    expect(at(shrunk, 'status', 'storedVersions')).toEqual(['v2']);
  });
});
