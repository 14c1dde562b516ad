import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WAITING_TAINT } from '../../runtime/api/marks/taints.ts';
import { POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { policyNamed } from '../policies.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { Stage } from './scene.ts';
import { haltOf, holdOf, pause } from './undoing.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  await apply(policyNamed('all', { nodeSelector: {}, preferUpdated: true }));
}, 90_000);

afterAll(() => stage.strike(), 60_000);

const bearing = ({ nodes }: History): readonly string[] =>
  [...nodes].flatMap(([name, { spec }]) => (spec?.taints?.some(({ key }) => key === WAITING_TAINT.key) ? name : []));

test('nodes that wait for a proven release bear the taint, and none under a pause, a hold, a halt or no policy', async () => {
  const scene = await stage.startFleet({ nodes: 7 });
  const bear = (least: number) => scene.until((history) => bearing(history).length >= least);
  const noneBears = () => scene.until((history) => bearing(history).length === 0);
  await bear(4);
  await pause.say();
  await noneBears();
  await pause.takeBack();
  await bear(3);
  const [held = ''] = bearing(scene.history);
  await holdOf(held).say();
  await scene.until((history) => !bearing(history).includes(held));
  const halt = haltOf(scene.options.to);
  await halt.say();
  await noneBears();
  await halt.takeBack();
  await bear(1);
  await kubectl('delete', 'bup', 'all');
  await noneBears();
  expect(await invariants(scene, { concurrency: 1 })).toEqual([]);
  const { stdout } = await kubectl('get', 'events', '-A', '-o', 'json');
  const { items } = JSON.parse(stdout) as { items: { reason: string; involvedObject: { kind: string } }[] };
  const told = items.filter(({ involvedObject }) => involvedObject.kind === POLICY_KIND).map(({ reason }) => reason);
  expect(told).toEqual(expect.arrayContaining(['PreferringUpdated', 'PreferringNone']));
});
