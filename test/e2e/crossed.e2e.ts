import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { CONTROLLER_DEPLOYMENT, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { budgetsIn } from '../../runtime/api/shadow/drain.ts';
import { policyNamed } from '../policies.ts';
import { comesTrue } from './come-true.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, isCordoned, isMarked, podsOn, shadowOf, verdict } from './looks.ts';
import { type Plan, Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';

/**
 * Two PodDisruptionBudgets that cross: each has a pod on each of two nodes, which runs nowhere else. Of one budget the first node evicts its pod, of
 * the other the second, and neither can go on.
 */

const [OLDER, YOUNGER] = ['node-1', 'node-2'] as const;
const BUDGETS = ['x', 'y'] as const;
/** A quarter of it is the time after which the younger is called off. */
const DRAIN_TIMEOUT_SEC = 80;
/** Pods of system priority are evicted once the others are gone. */
const LATER = 'system-cluster-critical';
/** So long the others take to end: by then both of them are evicted. */
const GRACE_SEC = 15;

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

async function apply(name: string, ...items: readonly object[]): Promise<void> {
  const path = join(stage.cluster.dir, `${name}.json`);
  await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await kubectl('apply', '-f', path);
}

/** One pod of a budget, which runs on that node or nowhere. */
function pinned(budget: string, node: string, priorityClassName?: string): object {
  const labels = { budget, pinned: node };
  const spec = {
    ...(priorityClassName && { priorityClassName }),
    terminationGracePeriodSeconds: priorityClassName ? 1 : GRACE_SEC,
    nodeSelector: { 'kubernetes.io/hostname': node },
    containers: [{ name: budget, image: 'example.com/pinned:1' }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `${budget}-${node}`, namespace: WORKLOAD_NAMESPACE },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

const budget = (name: string, minAvailable: number): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: WORKLOAD_NAMESPACE },
  spec: { minAvailable, selector: { matchLabels: { budget: name } } },
});

/** As many pods as each of both budgets has to have: of two. */
const want = (minAvailable: number): Promise<void> =>
  apply('budgets', ...BUDGETS.map((name) => budget(name, minAvailable)));

const scale = (replicas: number): Promise<unknown> =>
  kubectl('scale', '-n', NAMESPACE, `deployment/${CONTROLLER_DEPLOYMENT}`, `--replicas=${replicas}`);

const waitsFor = (history: History, node: string): readonly string[] => {
  const { drain } = shadowOf(history, node)?.status ?? {};
  return isMarked(history, node) ? [...budgetsIn(drain?.blocked_by ?? [])].toSorted() : [];
};
const inNamespace = (name: string): string => `${WORKLOAD_NAMESPACE}/${name}`;

/** Up to where each drain waits for a pod that the other one has evicted. */
async function cross(): Promise<void> {
  await scene.until((history) =>
    [OLDER, YOUNGER].every((node) => waitsFor(history, node).length > 0 && isCordoned(history, node)),
  );
  await want(1);
  await scene.until(
    (history) =>
      waitsFor(history, OLDER).join() === inNamespace('x') && waitsFor(history, YOUNGER).join() === inNamespace('y'),
  );
}

const pinnedOn = (history: History, node: string): number =>
  podsOn(history, node).filter(({ metadata, status }) => metadata.labels?.['pinned'] && status?.phase === 'Running')
    .length;

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  const values = { MAX_CONCURRENT_UPDATE: '2', DRAIN_TIMEOUT_IN_SEC: `${DRAIN_TIMEOUT_SEC}` };
  await stage.startCertManager();
  await stage.installOperator(await stage.manifestsWith(values));
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [OLDER, YOUNGER] }];
  await apply(
    'policies',
    policyNamed('others', { nodeSelector: {}, paused: true }),
    policyNamed('both', {
      nodeSelector: { matchExpressions },
      priority: 10,
      maxConcurrent: 2,
      proof: { nodes: 2 },
      paused: true,
    }),
  );
  scene = await stage.startFleet({ nodes: 4 });
  await scene.until((history) => [OLDER, YOUNGER].every((node) => verdict(history, node)?.reason === 'Paused'));
  await want(2);
  await apply('pods', pinned('y', OLDER), pinned('x', OLDER, LATER), pinned('x', YOUNGER), pinned('y', YOUNGER, LATER));
  await scene.until((history) => [OLDER, YOUNGER].every((node) => pinnedOn(history, node) === 2));
}, 180_000);

afterAll(() => stage.strike(), 60_000);

test('while no controller sees it, both drains wait until their deadline, and both fail', async () => {
  await kubectl('patch', 'bup', 'both', '--type=merge', '-p', '{"spec":{"paused":false}}');
  await cross();
  await scale(0);
  const failed = (history: History, node: string): boolean =>
    shadowOf(history, node)?.status?.last_failure?.reason === 'DrainFailed';
  await scene.until((history) => failed(history, OLDER) && failed(history, YOUNGER));
  for (const node of [OLDER, YOUNGER]) {
    const { message = '' } = shadowOf(scene.history, node)?.status?.last_failure ?? {};
    expect(message).toMatch(/PodDisruptionBudget shop\/[xy]/);
  }
  await want(2);
  await scale(1);
  await scene.until((history) =>
    [OLDER, YOUNGER].every((node) => !isCordoned(history, node) && pinnedOn(history, node) === 2),
  );
}, 300_000);

test('the younger is called off, named, and back in service; the older goes on, and is done', async () => {
  expect((await plugin.run('retry', OLDER, YOUNGER)).code).toBe(0);
  await cross();
  await scene.until((history) => verdict(history, OLDER)?.reason === 'BudgetsCrossed');
  expect(verdict(scene.history, OLDER)?.message).toMatch(`its drain and that of ${YOUNGER} block each other`);
  await scene.until((history) => shadowOf(history, YOUNGER)?.spec.state === 'Idle');
  await scene.until((history) => !isCordoned(history, YOUNGER) && pinnedOn(history, YOUNGER) === 2);
  expect(isCordoned(scene.history, OLDER)).toBe(true);
  const said = new RegExp(`that of ${OLDER} block each other \\(PodDisruptionBudget shop/y, shop/x\\)`);
  await scene.until((history) => said.test(verdict(history, YOUNGER)?.message ?? ''));
  expect((await plugin.run('why', YOUNGER)).out).toMatch(said);
  expect((await plugin.run('plan')).out).toMatch(new RegExp(`${YOUNGER} +BudgetsCrossed .*${said.source}`));
  const { nodes } = await plugin.page();
  expect(nodes.find(({ name }) => name === YOUNGER)?.message).toMatch(said);
  await comesTrue(async () => {
    const selector = 'reason=UpdateCalledOff';
    const { stdout } = await kubectl('get', 'events', '-A', '--field-selector', selector, '-o', 'json');
    return said.test(stdout);
  });
  expect(shadowOf(scene.history, YOUNGER)?.status?.crash_count).toBe(1);
  await scene.until((history) => atRest(history, scene.options.to).includes(OLDER));
  expect(shadowOf(scene.history, YOUNGER)?.status?.crash_count).toBe(1);
}, 240_000);

test('the younger waits for its turn, comes again, and is done, as is the rest of the fleet', async () => {
  const plan = await plugin.json<Plan>(['plan', '--until-done']);
  expect(plan.starts.map(({ node }) => node)).toContain(YOUNGER);
  await scene.until((history) => atRest(history, scene.options.to).includes(YOUNGER));
  await kubectl('patch', 'bup', 'others', '--type=merge', '-p', '{"spec":{"paused":false}}');
  await scene.rolledOver();
  expect(shadowOf(scene.history, YOUNGER)?.metadata.annotations?.['brupop.bottlerocket.aws/crossed']).toBeUndefined();
  expect(await invariants(scene, { concurrency: 2 })).toEqual([]);
}, 300_000);
