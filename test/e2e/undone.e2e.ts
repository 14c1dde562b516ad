import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { policyNamed } from '../policies.ts';
import { comesTrue } from './come-true.ts';
import { cross, type Pair, pin } from './crossing.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { leftByUpdates } from './left.ts';
import { atRest, isCordoned, shadowOf, verdict } from './looks.ts';
import { Plugin, type Verdicts } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';
import { leftOnNodes, takeAway } from './taking-away.ts';
import { haltOf, pause } from './undoing.ts';

/** Everything by which updates disturb less, at work at the same time, and stopped by people in each way. */

const PAIR: Pair = ['node-1', 'node-2'];
const [SETTLES, SELDOM] = ['node-3', 'node-4'] as const;
const WIDE = ['node-5', 'node-6', 'node-7', 'node-8'] as const;
/** One for each time: who is stopped while there is no room is left alone for minutes, and the next one comes. */
const CROWDED = ['node-9', 'node-10', 'node-11', 'node-12'] as const;
const NODES = [...PAIR, SETTLES, SELDOM, ...WIDE, ...CROWDED];
const [FIRST, SECOND] = ['1.39.0', '1.40.0'] as const;
const BIG = 'big';

const on = (...values: readonly string[]) => ({
  priority: 10,
  nodeSelector: { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] },
});
/** What has come keeps its permit: for that of the older the younger waits, and the others for those that have come before them. */
const STAY = { nodeSoak: '1h' };
const POLICIES = {
  // With as many as may fail, the unproven release may be tried by two more, whoever rules them.
  crossed: { ...on(...PAIR), ...STAY, maxConcurrent: 2, maxFailed: 'unlimited', proof: { nodes: 2 } },
  settle: { ...on(SETTLES), settle: '1h' },
  // Until the others are at work, to whom they would leave their places.
  room: { ...on(...CROWDED), maxConcurrent: 1, capacity: 'wait', paused: true },
  seldom: { ...on(SELDOM), minInterval: '24h', completeWithin: '1s' },
  widen: { ...on(...WIDE), maxConcurrent: 3, proof: { nodes: 1, soak: '3s', widen: 2 } },
};

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

/** Machines of this fleet have a few CPU, and say so again at each boot. */
async function grow(node: string): Promise<void> {
  const amounts = { cpu: '600' };
  const status = JSON.stringify({ status: { capacity: amounts, allocatable: amounts } });
  await kubectl('patch', 'node', node, '--subresource=status', '--type=merge', '-p', status);
}

/** A machine that has grown has room for one such pod. */
function big(replicas: number): object {
  const labels = { app: BIG };
  const containers = [{ name: BIG, image: 'example.com/big:1', resources: { requests: { cpu: '500' } } }];
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: BIG, namespace: 'default' }, spec };
}

const says = (reason: string, ...nodes: readonly string[]): Promise<unknown> =>
  scene.until((history) => nodes.every((node) => verdict(history, node)?.reason === reason));

const isIdle = (history: History, node: string): boolean => {
  const { spec, status } = shadowOf(history, node) ?? {};
  return spec?.state === 'Idle' && status?.current_state === 'Idle';
};
const monitored = (history: History): readonly string[] =>
  NODES.filter((node) => shadowOf(history, node)?.status?.current_state === 'MonitoringUpdate');

const change = (policy: string, spec: object): Promise<unknown> =>
  kubectl('patch', 'bup', policy, '--type=merge', '-p', JSON.stringify({ spec }));

/** One has proven it, two run it and stay on their way. @returns the one for which there is no place */
async function widens(version: string): Promise<string> {
  await scene.until((history) => WIDE.some((node) => atRest(history, version).includes(node)));
  await change('widen', STAY);
  const [waiting = ''] = await scene.until((history) => {
    const others = WIDE.filter((node) => ![...atRest(history, version), ...monitored(history)].includes(node));
    return others.length === 1 && others;
  });
  return waiting;
}

/** @returns the younger of the drains that block each other: it is back in service, and waits for the older, which is done but for its soak */
async function callsOff(): Promise<string> {
  await cross(scene, PAIR);
  return scene.until((history) => {
    const back = PAIR.find((node) => isIdle(history, node) && !isCordoned(history, node));
    return monitored(history).some((node) => PAIR.includes(node)) && back;
  });
}

/** @returns those that wait for something, and would start or go on by themselves */
async function begin(version: string): Promise<readonly string[]> {
  const stopped = await Promise.all([callsOff(), widens(version)]);
  await change('room', { paused: false });
  return [...stopped, ...CROWDED];
}

/** Resolves once all of it is at work. */
async function atWork([calledOff = '', waiting]: readonly string[]): Promise<void> {
  await says('BudgetsCrossed', calledOff);
  await says('WorkloadsNotBack', SETTLES);
  await comesTrue(async () => {
    const { nodes } = await plugin.json<Verdicts>(['why']);
    return nodes.some(({ node, reason }) => node === waiting && reason === 'Widening');
  });
  await scene.until((history) =>
    CROWDED.some((node) => verdict(history, node)?.reason === 'NoRoom' && !isIdle(history, node)),
  );
}

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  const variables = {
    MAX_CONCURRENT_UPDATE: 'unlimited',
    UPDATE_CHECK_INTERVAL_IN_SEC: '20',
    // A quarter of it is the time after which the younger is called off.
    DRAIN_TIMEOUT_IN_SEC: '80',
    SETTLE_TIME_IN_SEC: '10',
  };
  await stage.installOperator(await stage.manifestsWith(variables));
  await pause.say();
  await apply(policyNamed('others', { nodeSelector: {}, paused: true }));
  await apply(...Object.entries(POLICIES).map(([name, spec]) => policyNamed(name, spec)));
  scene = await stage.startFleet({ nodes: NODES.length });
  await says('Paused', ...NODES);
  for (const node of [SETTLES, ...CROWDED]) await grow(node);
  await apply(big(1 + CROWDED.length));
  await kubectl('rollout', 'status', `deployment/${BIG}`, '--timeout=60s');
  await pin(scene, PAIR);
}, 180_000);

afterAll(() => stage.strike(), 60_000);

test('a pause, a halt and the end of their policies each leave nothing on any node, whatever was waited for', async () => {
  await pause.takeBack();
  const stopped = await begin(FIRST);
  const words = { Paused: pause, RolloutHalted: haltOf(FIRST) };
  for (const [reason, word] of Object.entries(words)) {
    await atWork(stopped);
    await word.say();
    await says(reason, ...stopped);
    await scene.until((history) => stopped.every((node) => isIdle(history, node)));
    expect(leftByUpdates(scene.history)).toEqual([]);
    // They have come to it, and disturb nobody by waiting.
    expect(monitored(scene.history)).toHaveLength(4);
    expect(verdict(scene.history, SETTLES)?.reason).toBe('WorkloadsNotBack');
    await word.takeBack();
  }
  await atWork(stopped);
  await kubectl('delete', 'bup', ...Object.keys(POLICIES));
  // Another policy rules them then, which is paused.
  await says('Paused', ...stopped);
  await scene.until((history) => NODES.every((node) => isIdle(history, node)));
  expect(leftByUpdates(scene.history)).toEqual([]);
}, 300_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene, { concurrency: NODES.length })).toEqual([]);
}, 60_000);

test('who takes the operator away finds nothing of it on any node, whatever was waited for', async () => {
  await grow(SETTLES);
  await kubectl('rollout', 'status', `deployment/${BIG}`, '--timeout=60s');
  await pin(scene, PAIR);
  scene.fleet.releases.publish({ version: SECOND });
  await scene.until((history) => NODES.every((node) => shadowOf(history, node)?.status?.target_version === SECOND));
  await apply(...Object.entries(POLICIES).map(([name, spec]) => policyNamed(name, spec)));
  await atWork(await begin(SECOND));
  await says('RecentlyUpdated', SELDOM);
  await takeAway(stage.cluster);
  expect(await leftOnNodes()).toEqual([]);
}, 300_000);
