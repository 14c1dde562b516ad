import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CONTROLLER_DEPLOYMENT, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { policyNamed } from '../policies.ts';
import { comesTrue } from './come-true.ts';
import { cross, pin, pinnedOn, want } from './crossing.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { atRest, isCordoned, shadowOf, verdict } from './looks.ts';
import { type Plan, Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';

/** Drains that block each other by two budgets: nobody sees it, or the younger is called off. */

const PAIR = ['node-1', 'node-2'] as const;
const [OLDER, YOUNGER] = PAIR;
/** A quarter of it is the time after which the younger is called off. */
const DRAIN_TIMEOUT_SEC = 80;

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

const scale = (replicas: number): Promise<unknown> =>
  kubectl('scale', '-n', NAMESPACE, `deployment/${CONTROLLER_DEPLOYMENT}`, `--replicas=${replicas}`);

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  const values = { MAX_CONCURRENT_UPDATE: '2', DRAIN_TIMEOUT_IN_SEC: `${DRAIN_TIMEOUT_SEC}` };
  await stage.startCertManager();
  await stage.installOperator(await stage.manifestsWith(values));
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: PAIR }];
  await apply(
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
  await scene.until((history) => PAIR.every((node) => verdict(history, node)?.reason === 'Paused'));
  await pin(scene, PAIR);
}, 180_000);

afterAll(() => stage.strike(), 60_000);

test('while no controller sees it, both drains wait until their deadline, and both fail', async () => {
  await kubectl('patch', 'bup', 'both', '--type=merge', '-p', '{"spec":{"paused":false}}');
  await cross(scene, PAIR);
  await scale(0);
  const failed = (history: History, node: string): boolean =>
    shadowOf(history, node)?.status?.last_failure?.reason === 'DrainFailed';
  await scene.until((history) => failed(history, OLDER) && failed(history, YOUNGER));
  for (const node of PAIR) {
    const { message = '' } = shadowOf(scene.history, node)?.status?.last_failure ?? {};
    expect(message).toMatch(/PodDisruptionBudget shop\/[xy]/);
  }
  await want(2);
  await scale(1);
  await scene.until((history) => PAIR.every((node) => !isCordoned(history, node) && pinnedOn(history, node) === 2));
}, 300_000);

test('the younger is called off, named, and back in service; the older goes on, and is done', async () => {
  expect((await plugin.run('retry', OLDER, YOUNGER)).code).toBe(0);
  await cross(scene, PAIR);
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
