import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/shadow/semver.ts';
import { invariants } from './invariants.ts';
import { operatorRuns } from './operator.ts';
import { Stage } from './scene.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
}, 90_000);

afterAll(() => stage.strike(), 60_000);

test('the only node, with the whole operator on it, rolls over and comes back with all of it', async () => {
  const scene = await stage.startFleet({ nodes: 1 });
  await scene.rolledOver();

  const [node] = scene.history.nodes.values();
  expect(versionOfOsImage(node?.status?.nodeInfo?.osImage)).toBe('1.39.0');
  expect(node?.spec?.unschedulable).toBeUndefined();
  expect(scene.fleet.reboots).toHaveLength(1);
  // Nowhere else could they go, and somebody has to bring the node back.
  expect(await invariants(scene, { stays: ({ metadata }) => metadata.namespace === NAMESPACE })).toEqual([]);
  await operatorRuns(scene);
}, 120_000);
