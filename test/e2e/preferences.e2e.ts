import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WAITING_TAINT } from '../../runtime/api/marks/taints.ts';
import { POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { policyNamed } from '../policies.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { Stage } from './scene.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  const file = join(stage.cluster.dir, 'policy.json');
  await writeFile(file, JSON.stringify(policyNamed('all', { nodeSelector: {}, preferUpdated: true })));
  await kubectl('apply', '-f', file);
}, 90_000);

afterAll(() => stage.strike(), 60_000);

const bearing = ({ nodes }: History): number =>
  [...nodes.values()].filter(({ spec }) => spec?.taints?.some(({ key }) => key === WAITING_TAINT.key)).length;

test('nodes that wait for a proven release bear the taint, none does under a pause, and none in the end', async () => {
  const scene = await stage.startFleet({ nodes: 5 });
  await scene.until((history) => bearing(history) >= 3);
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}=`);
  await scene.until((history) => bearing(history) === 0);
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}-`);
  await scene.rolledOver();
  await scene.until((history) => bearing(history) === 0);
  expect(await invariants(scene, { concurrency: 1 })).toEqual([]);
  const { stdout } = await kubectl('get', 'events', '-A', '-o', 'json');
  const { items } = JSON.parse(stdout) as { items: { reason: string; involvedObject: { kind: string } }[] };
  const told = items.filter(({ involvedObject }) => involvedObject.kind === POLICY_KIND).map(({ reason }) => reason);
  expect(told).toEqual(expect.arrayContaining(['PreferringUpdated', 'PreferringNone']));
});
