import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WAITING_TAINT } from '../../runtime/api/marks/taints.ts';
import { POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { policyNamed } from '../policies.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { untilBare } from './left.ts';
import { Plugin, type Verdicts } from './plugin.ts';
import { updating } from './looks.ts';
import { type Scene, Stage } from './scene.ts';
import { leftOnNodes, takeAway } from './taking-away.ts';
import { haltOf, holdOf, pause } from './undoing.ts';

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

const prefer = (): Promise<unknown> => apply(policyNamed('all', { nodeSelector: {}, preferUpdated: true }));

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator();
  await prefer();
}, 90_000);

afterAll(() => stage.strike(), 60_000);

const bearing = ({ nodes }: History): readonly string[] =>
  [...nodes].flatMap(([name, { spec }]) => (spec?.taints?.some(({ key }) => key === WAITING_TAINT.key) ? name : []));

const bear = (least: number): Promise<unknown> => scene.until((history) => bearing(history).length >= least);
const noneBears = (): Promise<unknown> => scene.until((history) => bearing(history).length === 0);

/** Wherever people look. One that is being updated bears it as well, until it is done. */
async function saidOfOne(): Promise<void> {
  const says = 'new pods prefer other nodes';
  const { history } = scene;
  const name = bearing(history).findLast((one) => one !== updating(history)) ?? '';
  expect((await plugin.run('why', name)).out).toContain(says);
  const { nodes } = await plugin.page();
  expect(nodes.find((one) => one.name === name)?.meanwhile).toContain(says);
  const planned = await plugin.json<Verdicts>(['plan']);
  expect(planned.nodes).toContainEqual(expect.objectContaining({ node: name, isAvoided: true }));
}

test('nodes that wait for a proven release bear the taint, and none under a pause, a hold, a halt or no policy', async () => {
  scene = await stage.startFleet({ nodes: 8 });
  await bear(5);
  await saidOfOne();
  await pause.say();
  await untilBare(scene);
  await pause.takeBack();
  await bear(4);
  // The last to be updated: one that is drained already would stay cordoned.
  const held = bearing(scene.history).at(-1) ?? '';
  await holdOf(held).say();
  await scene.until((history) => !bearing(history).includes(held));
  const halt = haltOf(scene.options.to);
  await halt.say();
  await untilBare(scene);
  await halt.takeBack();
  await bear(1);
  await kubectl('delete', 'bup', 'all');
  await noneBears();
  await holdOf(held).takeBack();
  expect(await invariants(scene, { concurrency: 1 })).toEqual([]);
  const { stdout } = await kubectl('get', 'events', '-A', '-o', 'json');
  const { items } = JSON.parse(stdout) as { items: { reason: string; involvedObject: { kind: string } }[] };
  const told = items.filter(({ involvedObject }) => involvedObject.kind === POLICY_KIND).map(({ reason }) => reason);
  expect(told).toEqual(expect.arrayContaining(['PreferringUpdated', 'PreferringNone']));
}, 180_000);

test('who takes the operator away while nodes bear it finds nothing of it on any', async () => {
  await prefer();
  await bear(1);
  await takeAway(stage.cluster);
  expect(await leftOnNodes()).toEqual([]);
}, 180_000);
