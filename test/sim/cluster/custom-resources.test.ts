import { describe, expect, test } from '@jest/globals';
import { CRD, CRDS, definition, gadget, INVALID_SPECS, schema, V2, version } from './gadget.ts';
import { listNames, NODES, node, refusal, settle, told, world } from './harness.ts';

describe('a definition', () => {
  test('is served at once, says so, and is found by discovery', async () => {
    const { admin } = world();
    const { status } = (await admin.create(CRDS, definition())) as unknown as { status: object };
    expect(status).toMatchObject({
      acceptedNames: { singular: 'gadget', listKind: 'GadgetList' },
      storedVersions: ['v2'],
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
    });
    await admin.create(V2, gadget('g'));
    expect(await admin.list('/apis/example.com/v2')).toMatchObject({ groupVersion: 'example.com/v2' });
    expect(await admin.list('/apis/example.com/v1/gadgets')).toMatchObject({
      kind: 'GadgetList',
      items: [{ apiVersion: 'example.com/v1' }],
    });
  });

  test('that is deleted takes its objects and its watches along', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    await admin.create(V2, gadget('g'));
    const watch = admin.watch(V2);
    await settle();
    await admin.delete(CRD);
    await settle();
    expect(told(watch.events)).toEqual(['ADDED g', 'DELETED g']);
    expect(watch.ended).toBe(true);
    for (const path of [CRD, V2]) expect(await refusal(admin.get(path))).toMatchObject({ code: 404 });
  });

  test('waits with going for objects that are held back', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    await admin.create(V2, { ...gadget('g'), metadata: { name: 'g', finalizers: ['a/b'] } });
    await admin.delete(CRD);
    await admin.get(CRD);
    await admin.patch(`${V2}/g`, { metadata: { finalizers: null } });
    expect(await refusal(admin.get(CRD))).toMatchObject({ code: 404 });
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
    expect(await refusal(world().admin.create(CRDS, definition(more)))).toMatchObject({
      code: 422,
      details: { causes: [{ field }] },
    });
  });

  test('with rules in CEL is refused in words', async () => {
    const rules = { ruled: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != ""' }] } };
    const versions = [{ name: 'v1', served: true, storage: true, schema: schema(rules) }];
    expect(await refusal(world().admin.create(CRDS, definition({ versions })))).toMatchObject({ code: 501 });
  });
});

describe('an object', () => {
  test.each(INVALID_SPECS)('with spec %j is invalid', async (spec, why) => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    const status = await refusal(admin.create(V2, gadget('g', spec)));
    expect(status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: `Gadget.example.com "g" is invalid: ${why}`,
    });
  });

  test('loses unknown fields, keeps free ones and nulls that are allowed, and gets its defaults', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    const made = await admin.create(
      V2,
      gadget('g', { state: 'Idle', version: null, size: null, colour: 'red', free: { any: 1 } }),
    );
    expect(made['spec']).toEqual({ state: 'Idle', version: null, size: 3, free: { any: 1 } });
  });

  test('with unknown fields is refused where validation is strict', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    const odd = gadget('g', { state: 'Idle', colour: 'red' });
    const status = await refusal(admin.create(V2, odd, { fieldValidation: 'Strict' }));
    expect(status).toMatchObject({ code: 400, message: expect.stringContaining('unknown field "spec.colour"') });
    expect(await refusal(admin.create(V2, odd, { fieldValidation: 'Loose' }))).toMatchObject({ code: 422 });
  });

  test('has a status apart: neither write touches the other, nor the metadata', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    const made = await admin.create(V2, gadget('g', { state: 'Idle' }, { status: { seen: 'ignored' } }));
    expect(made).not.toHaveProperty('status');
    const patch = { metadata: { labels: { a: 'b' } }, spec: { state: 'Busy' }, status: { seen: 'now' } };
    const seen = await admin.patch(`${V2}/g/status`, patch);
    expect(seen).toMatchObject({ spec: { state: 'Idle' }, status: { seen: 'now' }, metadata: { generation: 1 } });
    expect(seen.metadata).not.toHaveProperty('labels');
    const busy = await admin.patch(`${V2}/g`, { ...patch, status: { seen: 'never' } });
    expect(busy).toMatchObject({
      spec: { state: 'Busy' },
      status: { seen: 'now' },
      metadata: { generation: 2, labels: { a: 'b' } },
    });
    expect(await refusal(admin.patch(`${V2}/g/status`, { status: { seen: null } }))).toMatchObject({ code: 422 });
  });

  test('needs its resourceVersion in a PUT, and no strategic merge', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    await admin.create(V2, gadget('g'));
    expect(await refusal(admin.put(`${V2}/g`, gadget('g')))).toMatchObject({ code: 422 });
    const strategic = admin.patch(`${V2}/g`, {}, 'application/strategic-merge-patch+json');
    expect(await refusal(strategic)).toMatchObject({ code: 415 });
  });

  test('goes with the node that owns it', async () => {
    const { admin } = world();
    await admin.create(CRDS, definition());
    const { metadata } = await admin.create(NODES, node('n1'));
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: metadata.uid }];
    await admin.create(V2, { ...gadget('g'), metadata: { name: 'g', ownerReferences } });
    await admin.delete(`${NODES}/n1`);
    expect(listNames(await admin.list(V2))).toEqual([]);
  });

  test('is shown as a table with its printer columns', async () => {
    const { admin, cluster } = world();
    await admin.create(CRDS, definition());
    await admin.create(V2, gadget('g'));
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
    const user = { username: 'root', groups: ['system:masters'] };
    const answer = await cluster.handle({ method: 'GET', path: V2, headers }, user);
    expect(answer).toMatchObject({ body: { kind: 'Table', rows: [{ cells: ['g', 'Idle'] }] } });
  });
});
