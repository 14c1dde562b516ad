import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import { policyNamed } from '../policies.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { leftByUpdates } from './left.ts';
import { atRest, isCordoned, podsOn, shadowOf, verdict } from './looks.ts';
import { Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';
import { leftOnNodes, takeAway } from './taking-away.ts';
import { toldOf } from './told.ts';
import { haltOf, pause } from './undoing.ts';

/** What one update of a node waits for, for the sake of the pods that run there. */

const NODE = 'node-1';
const POLICY = 'one';
const BIG = 'big';
const BATCH = 'batch';
const STUBBORN = 'stubborn';
const RULES = {
  nodeSelector: { matchLabels: { 'kubernetes.io/hostname': NODE } },
  priority: 10,
  drain: { waitFor: { matchLabels: { app: BATCH } }, upTo: '1h' },
  settle: '10m',
};
const [NEWEST, LAST] = ['1.40.0', '1.41.0'] as const;

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

const change = (spec: object): Promise<unknown> =>
  kubectl('patch', 'bup', POLICY, '--type=merge', '-p', JSON.stringify({ spec }));

/** Machines of this fleet have a few CPU, and say so again at each boot. */
async function grow(): Promise<void> {
  const amounts = { cpu: '600' };
  const status = { capacity: amounts, allocatable: amounts };
  await kubectl('patch', 'node', NODE, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }));
}

function big(): object {
  const labels = { app: BIG };
  const containers = [{ name: BIG, image: 'example.com/big:1', resources: { requests: { cpu: '500' } } }];
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: BIG, namespace: 'default' }, spec };
}

const batch = (): object => podOf({ name: BATCH, labels: { app: BATCH } });
const stubborn = (): object => podOf({ name: STUBBORN, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });

function podOf(meta: { readonly name: string; readonly [field: string]: unknown }): object {
  const containers = [{ name: meta.name, image: 'example.com/batch:1' }];
  const metadata = { ...meta, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: NODE, containers } };
}

/** What `why`, `plan` and the page say of the node. */
async function shown(reason: string, message: RegExp): Promise<void> {
  for (const command of [['why', NODE], ['plan']])
    expect((await plugin.run(...command)).out).toMatch(new RegExp(`${NODE} +${reason} .*${message.source}`));
  const { nodes } = await plugin.page();
  expect(nodes.find(({ name }) => name === NODE)).toMatchObject({ reason, message: expect.stringMatching(message) });
}

const says = (reason: string): Promise<unknown> => scene.until((history) => verdict(history, NODE)?.reason === reason);

const told = (reason: string, text: string): Promise<void> => toldOf({ kind: 'Node', name: NODE }, reason, text);

/** Those of the node, and since when they end that do. */
const podsThere = (): readonly string[] =>
  podsOn(scene.history, NODE)
    .map(({ metadata: { name, uid, deletionTimestamp = 'never' } }) => `${name} ${uid} ends ${deletionTimestamp}`)
    .toSorted();

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator(await stage.manifestsWith({ UPDATE_CHECK_INTERVAL_IN_SEC: '20' }));
  await apply(
    policyNamed('others', { nodeSelector: {}, paused: true }),
    policyNamed(POLICY, { ...RULES, paused: true, capacity: 'wait' }),
  );
  scene = await stage.startFleet({ nodes: 2 });
  await says('Paused');
  await grow();
  await apply(big(), batch());
  await kubectl('rollout', 'status', `deployment/${BIG}`, '--timeout=60s');
  await kubectl('wait', '--for=condition=Ready', `pod/${BATCH}`, '--timeout=60s');
}, 150_000);

afterAll(() => stage.strike(), 60_000);

test('no drain begins before there is room elsewhere, and it begins once its policy waits for none', async () => {
  await change({ paused: false });
  await says('NoRoom');
  expect(verdict(scene.history, NODE)?.message).toMatch(
    /no room for its pods elsewhere: 500(\.\d+)? CPU needed, .* free/,
  );
  await told('NoRoom', 'Not drained; on the nodes that match: 500');
  await shown('NoRoom', /500(\.\d+)? CPU needed/);
  expect(leftByUpdates(scene.history)).toEqual([]);
  await change({ capacity: null });
  await says('WorkFinishing');
  await told('NoRoom', 'Some pods may find no place; on the nodes that match when the drain began: 500');
}, 120_000);

test('pods that are meant finish before anybody is evicted, and a pause, a halt or no policy meanwhile leaves no cordon', async () => {
  const before = podsThere();
  expect(verdict(scene.history, NODE)?.message).toContain(`default/${BATCH}`);
  expect(isCordoned(scene.history, NODE)).toBe(true);
  await told('DrainWaits', `default/${BATCH}`);
  await shown('WorkFinishing', new RegExp(`default/${BATCH}`));
  const paused = { say: () => change({ paused: true }), takeBack: () => change({ paused: false }) };
  // Another one rules the node then, which is paused.
  const deleted = { say: () => kubectl('delete', 'bup', POLICY), takeBack: () => apply(policyNamed(POLICY, RULES)) };
  for (const word of [paused, pause, haltOf(scene.options.to), deleted]) {
    await word.say();
    await scene.until((history) => {
      const isStopped = verdict(history, NODE)?.reason !== 'WorkFinishing';
      return isStopped && shadowOf(history, NODE)?.spec.state === 'Idle' && leftByUpdates(history).length === 0;
    });
    await word.takeBack();
    await says('WorkFinishing');
    expect(podsThere()).toEqual(before);
  }
  expect(before.filter((pod) => !pod.endsWith('ends never'))).toEqual([]);
  const status = { phase: 'Succeeded' };
  await kubectl('patch', 'pod', BATCH, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }));
  await scene.until(() => scene.fleet.reboots.length > 0);
}, 180_000);

test('the update ends once what it has displaced runs again, and until then it says what does not', async () => {
  await says('WorkloadsNotBack');
  const missing = new RegExp(`ReplicaSet default/${BIG}-\\w+: 0 of 1 ready \\(Unschedulable\\)`);
  await scene.until((history) => missing.test(verdict(history, NODE)?.message ?? ''));
  await shown('WorkloadsNotBack', missing);
  expect((await plugin.run('status')).out).toMatch(new RegExp(`settling +1 +${NODE}.*${missing.source}`));
  expect(leftByUpdates(scene.history)).toEqual([]);
  await grow();
  await scene.until((history) => atRest(history, scene.options.to).includes(NODE));
  expect(shadowOf(scene.history, NODE)?.status?.displaced ?? null).toBeNull();
  expect(leftByUpdates(scene.history)).toEqual([]);
}, 180_000);

test('a pod that is not to be disrupted is evicted at the end of its time; what is still missing at the end of its own is told', async () => {
  await apply(stubborn());
  await kubectl('wait', '--for=condition=Ready', `pod/${STUBBORN}`, '--timeout=60s');
  await change({ settle: '10s', drain: { honorDoNotDisrupt: true, upTo: '30s' } });
  scene.fleet.releases.publish({ version: NEWEST });
  await says('WorkFinishing');
  expect(verdict(scene.history, NODE)?.message).toContain(`default/${STUBBORN}`);
  expect(podsThere().filter((pod) => pod.startsWith(STUBBORN))).toEqual([expect.stringMatching(/never$/)]);
  await scene.until((history) => atRest(history, NEWEST).includes(NODE));
  expect(podsThere().filter((pod) => pod.startsWith(STUBBORN))).toEqual([]);
  await toldOf({ kind: 'BottlerocketShadow', name: shadowName(NODE) }, 'WorkloadsNotBack', `default/${BIG}-`);
  expect((await plugin.run('why', NODE)).out).toMatch(/not back in time after its update: ReplicaSet default\/big-/);
}, 180_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene)).toEqual([]);
}, 60_000);

test('who takes the operator away while a node lets work finish finds nothing of it on any node', async () => {
  await change({ drain: RULES.drain });
  await kubectl('delete', 'pod', BATCH);
  await apply(batch());
  scene.fleet.releases.publish({ version: LAST });
  await says('WorkFinishing');
  expect(isCordoned(scene.history, NODE)).toBe(true);
  await takeAway(stage.cluster);
  expect(await leftOnNodes()).toEqual([]);
}, 240_000);
