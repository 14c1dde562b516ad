import { afterEach, describe, expect, test } from '@jest/globals';
import { POLICIES_PATH } from '../../runtime/api/resources.ts';
import { HOLD_ANNOTATION, NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { RELEASE_API_VERSION, RELEASE_KIND } from '../../runtime/api/release/names.ts';
import { RELEASES_PATH } from '../../runtime/api/resources.ts';
import { WAITING_TAINT } from '../../runtime/api/marks/taints.ts';
import { definePolicies } from '../policies.ts';
import { intercepted } from './transports.ts';
import { Stage } from './stage.ts';

/** The taint by which new pods avoid nodes that wait for a proven release. */

let stage: Stage;
afterEach(() => stage.end());

const env = { PROOF_NODES: '1' };
const GPU = { key: 'example.com/gpu', value: 'a', effect: 'NoSchedule' };

/** Names of the nodes that bear it. */
async function avoided(): Promise<readonly string[]> {
  const nodes = await stage.nodes.list();
  return nodes
    .filter(({ spec }) => spec?.taints?.some(({ key }) => key === WAITING_TAINT.key))
    .map(({ metadata }) => metadata.name);
}

/** `a` has proven the release, and `b` is next. */
async function provenBy(...names: readonly string[]): Promise<void> {
  stage = await Stage.with(...names);
  await definePolicies(stage, { all: { nodeSelector: {}, preferUpdated: true } });
  await stage.patch('/api/v1/nodes/c', { spec: { taints: [GPU] } });
  await stage.pass(30_000);
}

async function provenAndLed(...names: readonly string[]): Promise<void> {
  await provenBy(...names);
  stage.start({ env });
  await stage.pass(10_000);
  expect(await avoided()).toEqual([]);
  await stage.update('a');
  await stage.pass(10_000);
}

const told = async (): Promise<readonly string[]> =>
  (await stage.events()).filter((reason) => reason.startsWith('Preferring'));

test('stands on nodes that wait once the release is proven, goes from each as it is done, and is told twice', async () => {
  await provenAndLed('a', 'b', 'c');
  expect(await avoided()).toEqual(['b', 'c']);
  expect(await told()).toEqual(['PreferringUpdated']);
  await stage.update('b');
  await stage.pass(10_000);
  expect(await avoided()).toEqual(['c']);
  await stage.update('c');
  await stage.pass(10_000);
  expect(await avoided()).toEqual([]);
  expect(await told()).toEqual(['PreferringUpdated', 'PreferringNone']);
  expect((await stage.nodes.get('c'))?.spec?.taints).toEqual([GPU]);
});

describe('goes within seconds, and leaves the taints of others, when', () => {
  const namespace = `/api/v1/namespaces/${NAMESPACE}`;
  const policy = `${POLICIES_PATH}/all`;
  const release = {
    apiVersion: RELEASE_API_VERSION,
    kind: RELEASE_KIND,
    metadata: { name: 'no' },
    spec: { family: '*', version: '1.1.0', decision: 'Halt' },
  };
  test.each<[string, () => Promise<unknown>]>([
    ['the fleet is paused', () => stage.patch(namespace, { metadata: { annotations: { [PAUSED_ANNOTATION]: '' } } })],
    ['its policy is paused', () => stage.patch(policy, { spec: { paused: true } })],
    ['its policy is deleted', () => stage.delete(policy)],
    ['its policy wants it no more', () => stage.patch(policy, { spec: { preferUpdated: false } })],
    ['people halt the release', () => stage.create(RELEASES_PATH, release)],
    [
      'nodes are held',
      () =>
        Promise.all(
          ['b', 'c'].map((one) => stage.patchNode(one, { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } })),
        ),
    ],
    [
      'the offer is withdrawn',
      () => Promise.all(['b', 'c'].map((one) => stage.report(one, { target_version: '1.0.0' }))),
    ],
  ])('%s', async (_why, act) => {
    await provenAndLed('a', 'b', 'c');
    await act();
    await stage.pass(10_000);
    expect(await avoided()).toEqual([]);
    expect((await stage.nodes.get('c'))?.spec?.taints).toEqual([GPU]);
  });
});

test('goes by the next controller where its policy went while nobody led', async () => {
  await provenBy('a', 'b', 'c');
  const first = new AbortController();
  stage.start({ env, signal: first.signal });
  await stage.pass(10_000);
  await stage.update('a');
  await stage.pass(10_000);
  first.abort(new Error('killed'));
  await stage.pass(60_000);
  await stage.delete(`${POLICIES_PATH}/all`);
  stage.start({ env });
  await stage.pass(60_000);
  expect(await avoided()).toEqual([]);
});

test('is one write for each node, 50 a second at most, and none while nothing changes', async () => {
  const names = ['a', ...Array.from({ length: 60 }, (_, at) => `n${at}`), 'c'];
  await provenBy(...names);
  const writes: number[] = [];
  const transport = intercepted(stage.transport, (request, go) => {
    if (Object.hasOwn(request.body ?? {}, 'spec') && request.path.includes('/nodes/')) writes.push(stage.clock.now());
    return go();
  });
  stage.start({ env, transport });
  await stage.pass(10_000);
  await stage.update('a');
  await stage.pass(600_000);
  expect(await avoided()).toHaveLength(61);
  expect(writes).toHaveLength(61);
  expect(Math.max(...writes) - Math.min(...writes)).toBeGreaterThanOrEqual(60 * 20);
});
