import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CONTROLLER_DEPLOYMENT, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/api/shadow/semver.ts';
import { WORKLOAD, WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { operatorRuns } from './operator.ts';
import { Stage } from './scene.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  // The first alone would keep a new release from all nodes but one until that has proven it.
  const settings = ['MAX_CONCURRENT_UPDATE=unlimited', 'MAX_FAILED_UPDATE=unlimited', 'PROOF_NODES=100%'];
  await kubectl('set', 'env', '-n', NAMESPACE, `deployment/${CONTROLLER_DEPLOYMENT}`, ...settings);
}, 90_000);

afterAll(() => stage.strike(), 60_000);

test('all three nodes, with the whole operator on them, go down together and come back with all of it', async () => {
  const scene = await stage.startFleet({ nodes: 3 });
  // With every node cordoned nothing comes back elsewhere: a budget that keeps some would have the drains wait for each other.
  const relaxed = JSON.stringify({ spec: { minAvailable: 0 } });
  await kubectl('patch', 'pdb', WORKLOAD, '-n', WORKLOAD_NAMESPACE, '--type=merge', '-p', relaxed);
  await scene.rolledOver();

  const nodes = [...scene.history.nodes.values()];
  expect(nodes.map(({ status }) => versionOfOsImage(status?.nodeInfo?.osImage))).toEqual(Array(3).fill('1.39.0'));
  expect(nodes.filter(({ spec }) => spec?.unschedulable)).toEqual([]);
  expect(scene.fleet.reboots).toHaveLength(3);
  const allowed = {
    concurrency: 3,
    stays: ({ metadata }: { metadata: { namespace?: string } }) => metadata.namespace === NAMESPACE,
  };
  expect(await invariants(scene, allowed)).toEqual([]);
  // More than the policy of one at a time would do.
  expect(await invariants(scene, { ...allowed, concurrency: 2 })).toEqual(['marked at once: node-1, node-2, node-3']);
  await operatorRuns(scene);
});
