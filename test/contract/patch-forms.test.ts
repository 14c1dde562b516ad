import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { at } from '../../lab/sim/cluster/object.ts';
import { type Contract, contract } from './cluster.ts';
import { type Gadgets, servedGadgets } from './gadget.ts';

/** What each kind of patch makes of an object, case by case. */

let cluster: Contract;
let gadgets: Gadgets;
let deployments: string;
let count = 0;
beforeAll(async () => {
  cluster = await contract();
  gadgets = await servedGadgets(cluster);
  deployments = `/apis/apps/v1/namespaces/${gadgets.namespace}/deployments`;
});
afterAll(async () => {
  await gadgets.remove();
  await cluster.stop();
});

/** An object whose free field holds `free`; its path. */
async function holding(free: object): Promise<string> {
  const gadget = gadgets.gadget(`g-${count++}`, { state: 'Idle', free });
  const { metadata } = await cluster.admin.create(gadgets.v2, gadget);
  return `${gadgets.v2}/${metadata.name}`;
}

const STRATEGIC = 'application/strategic-merge-patch+json';

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
  ])('%j + %j = %j', async (target, free, expected) => {
    const patched = await cluster.admin.patch(await holding(target), { spec: { free } });
    expect(at(patched, 'spec', 'free')).toEqual(expected);
  });
});

describe('a strategic merge patch', () => {
  const container = {
    name: 'main',
    image: 'a',
    env: [{ name: 'A' }, { name: 'B' }],
    ports: [{ containerPort: 80, name: 'web', protocol: 'TCP' }],
  };
  const made = (): object => ({
    metadata: { name: `d-${count++}`, finalizers: ['example.com/a'], labels: { a: '1' } },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [container], tolerations: [{ key: 'a', operator: 'Exists' }], nodeSelector: { a: '1' } },
      },
    },
  });
  const ofPod = (spec: object): object => ({ spec: { template: { spec } } });
  const ofMain = (more: object): object => ofPod({ containers: [{ name: 'main', ...more }] });
  const MAIN = ['spec', 'template', 'spec', 'containers', '0'];

  test.each<readonly [what: string, patch: object, path: readonly string[], expected: unknown]>([
    [
      'merges ports by number',
      ofMain({ ports: [{ containerPort: 80, hostPort: 81 }] }),
      [...MAIN, 'ports'],
      [{ containerPort: 80, name: 'web', hostPort: 81, protocol: 'TCP' }],
    ],
    [
      'deletes an element by its key',
      ofMain({ env: [{ $patch: 'delete', name: 'A' }] }),
      [...MAIN, 'env'],
      [{ name: 'B' }],
    ],
    [
      'replaces a list that says so',
      ofMain({ env: [{ $patch: 'replace' }, { name: 'C' }] }),
      [...MAIN, 'env'],
      [{ name: 'C' }],
    ],
    [
      'replaces tolerations as a whole',
      ofPod({ tolerations: [{ key: 'b', operator: 'Exists' }] }),
      ['spec', 'template', 'spec', 'tolerations'],
      [{ key: 'b', operator: 'Exists' }],
    ],
    [
      'replaces a map that says so',
      ofPod({ nodeSelector: { $patch: 'replace', b: '2' } }),
      ['spec', 'template', 'spec', 'nodeSelector'],
      { b: '2' },
    ],
    [
      'merges finalizers',
      { metadata: { finalizers: ['example.com/b'] } },
      ['metadata', 'finalizers'],
      ['example.com/b', 'example.com/a'],
    ],
    [
      'takes finalizers away',
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } },
      ['metadata', 'finalizers'],
      undefined,
    ],
    [
      'keeps only the keys that it retains',
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      ['spec', 'strategy'],
      { type: 'Recreate' },
    ],
    ['removes what is null', { metadata: { labels: { a: null, b: '2' } } }, ['metadata', 'labels'], { b: '2' }],
  ])('%s', async (_, patch, path, expected) => {
    const { metadata } = await cluster.admin.create(deployments, made());
    const patched = await cluster.admin.patch(`${deployments}/${metadata.name}`, patch, STRATEGIC);
    expect(path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], patched)).toEqual(expected);
    await cluster.admin.patch(`${deployments}/${metadata.name}`, { metadata: { finalizers: null } });
  });
});
