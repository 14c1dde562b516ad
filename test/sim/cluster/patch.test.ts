import { describe, expect, test } from '@jest/globals';
import { jsonPatch } from '../../../sim/cluster/patch/json.ts';
import { mergePatch } from '../../../sim/cluster/patch/merge.ts';
import { strategicMergePatch } from '../../../sim/cluster/patch/strategic.ts';
import { NODES, node, PODS, refusal, world } from './harness.ts';

describe('a merge patch', () => {
  test.each([
    [
      { a: 1, b: 2 },
      { b: null, c: 3 },
      { a: 1, c: 3 },
    ],
    [{ a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 'text' }, { a: { b: { c: null } } }, { a: { b: {} } }],
    [{ a: { b: 1 } }, { a: 'text' }, { a: 'text' }],
  ])('%j + %j = %j', (target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected);
  });
});

describe('a JSON patch', () => {
  const target = { a: { b: 1 }, list: [1, 2, 3], 'x/y~z': 0 };

  test.each([
    [
      { op: 'add', path: '/a/c', value: 2 },
      { ...target, a: { b: 1, c: 2 } },
    ],
    [
      { op: 'add', path: '/list/1', value: 9 },
      { ...target, list: [1, 9, 2, 3] },
    ],
    [
      { op: 'add', path: '/list/-', value: 9 },
      { ...target, list: [1, 2, 3, 9] },
    ],
    [
      { op: 'replace', path: '/x~1y~0z', value: 5 },
      { ...target, 'x/y~z': 5 },
    ],
    [
      { op: 'replace', path: '/list/0', value: 5 },
      { ...target, list: [5, 2, 3] },
    ],
    [
      { op: 'remove', path: '/list/1' },
      { ...target, list: [1, 3] },
    ],
    [
      { op: 'move', from: '/a/b', path: '/list/0' },
      { ...target, a: {}, list: [1, 1, 2, 3] },
    ],
    [
      { op: 'copy', from: '/a', path: '/c' },
      { ...target, c: { b: 1 } },
    ],
    [{ op: 'test', path: '/a', value: { b: 1 } }, target],
  ])('%j', (operation, expected) => {
    expect(jsonPatch(target, [operation])).toEqual(expected);
  });

  test.each([
    { op: 'test', path: '/a/b', value: 2 },
    { op: 'remove', path: '/a/nothing' },
    { op: 'replace', path: '/nothing', value: 1 },
    { op: 'add', path: '/list/7', value: 1 },
    { op: 'add', path: '/nothing/b', value: 1 },
  ])('%j does not apply', (operation) => {
    expect(() => jsonPatch(target, [operation])).toThrow('rejected our request');
  });

  test('that is none is a bad request', () => {
    for (const patch of [{ a: 1 }, [{ op: 'invent', path: '/a' }], [{ op: 'add', path: 'a' }]]) {
      expect(() => jsonPatch(target, patch)).toThrow(
        expect.objectContaining({ status: expect.objectContaining({ code: 400 }) }),
      );
    }
  });
});

describe('a strategic merge patch', () => {
  test.each([
    [
      'merges conditions by type',
      {
        conditions: [
          { type: 'A', status: 'True' },
          { type: 'B', status: 'True' },
        ],
      },
      {
        conditions: [
          { type: 'B', status: 'False' },
          { type: 'C', status: 'True' },
        ],
      },
      {
        conditions: [
          { type: 'A', status: 'True' },
          { type: 'B', status: 'False' },
          { type: 'C', status: 'True' },
        ],
      },
    ],
    [
      'merges containers by name and their ports by number',
      { containers: [{ name: 'main', image: 'a', ports: [{ containerPort: 80, name: 'web' }] }] },
      { containers: [{ name: 'main', image: 'b', ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
      { containers: [{ name: 'main', image: 'b', ports: [{ containerPort: 80, name: 'web', protocol: 'TCP' }] }] },
    ],
    [
      'deletes an element by its key',
      { env: [{ name: 'A' }, { name: 'B' }] },
      { env: [{ $patch: 'delete', name: 'A' }] },
      { env: [{ name: 'B' }] },
    ],
    [
      'replaces tolerations and taints as a whole',
      { tolerations: [{ key: 'a' }], taints: [{ key: 'a' }] },
      { tolerations: [{ key: 'b' }], taints: [{ key: 'b' }] },
      { tolerations: [{ key: 'b' }], taints: [{ key: 'b' }] },
    ],
    [
      'replaces a list that says so',
      { env: [{ name: 'A' }] },
      { env: [{ $patch: 'replace' }, { name: 'B' }] },
      { env: [{ name: 'B' }] },
    ],
    ['replaces a map that says so', { spec: { a: 1 } }, { spec: { $patch: 'replace', b: 2 } }, { spec: { b: 2 } }],
    ['merges finalizers', { finalizers: ['a'] }, { finalizers: ['b'] }, { finalizers: ['a', 'b'] }],
    [
      'takes finalizers away',
      { finalizers: ['a', 'b'] },
      { '$deleteFromPrimitiveList/finalizers': ['a'] },
      { finalizers: ['b'] },
    ],
    [
      'keeps only the keys it retains',
      { strategy: { a: 1, b: 2 } },
      { strategy: { $retainKeys: ['b'], b: 3 } },
      { strategy: { b: 3 } },
    ],
    [
      'ignores the wanted order',
      { env: [{ name: 'A' }] },
      { '$setElementOrder/env': [{ name: 'A' }] },
      { env: [{ name: 'A' }] },
    ],
    ['removes what is null', { a: 1, b: { c: 1 } }, { a: null, b: { c: null } }, { b: {} }],
  ])('%s', (_, target, patch, expected) => {
    expect(strategicMergePatch(target, patch)).toEqual(expected);
  });
});

describe('patching through the API', () => {
  test('a resourceVersion inside makes it a compare-and-swap', async () => {
    const { admin } = world();
    const { metadata } = await admin.create(NODES, node('n1'));
    const patch = { metadata: { resourceVersion: metadata.resourceVersion, labels: { a: 'b' } } };
    await admin.patch(`${NODES}/n1`, patch);
    expect(await refusal(admin.patch(`${NODES}/n1`, patch))).toMatchObject({ code: 409, reason: 'Conflict' });
    const swap = [{ op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion }];
    expect(await refusal(admin.patch(`${NODES}/n1`, swap, 'application/json-patch+json'))).toMatchObject({ code: 409 });
  });

  test('a JSON patch whose test fails is 422 and changes nothing', async () => {
    const { admin } = world();
    const made = await admin.create(NODES, node('n1'));
    const patch = [
      { op: 'add', path: '/spec', value: { unschedulable: true } },
      { op: 'test', path: '/metadata/uid', value: 'other' },
    ];
    expect(await refusal(admin.patch(`${NODES}/n1`, patch, 'application/json-patch+json'))).toMatchObject({
      code: 422,
    });
    expect(await admin.get(`${NODES}/n1`)).toEqual(made);
  });

  test('nothing is created by a patch', async () => {
    const { admin } = world();
    expect(await refusal(admin.patch(`${NODES}/n1`, {}))).toMatchObject({ code: 404 });
  });

  test('a type that nobody knows is 415', async () => {
    const { admin } = world();
    await admin.create(PODS, { metadata: { name: 'p' }, spec: {} });
    expect(await refusal(admin.patch(`${PODS}/p`, {}, 'application/json'))).toMatchObject({ code: 415 });
  });
});
