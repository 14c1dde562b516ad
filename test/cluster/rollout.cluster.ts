import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { get } from 'node:http';
import { applyAll } from '../../sim/world/manifests.ts';
import { WORKLOAD, WORKLOAD_NAMESPACE } from '../../sim/world/workload.ts';
import { invariants } from '../e2e/invariants.ts';
import { kubectl } from '../e2e/kubectl.ts';
import { startLoad } from '../e2e/load.ts';
import { versionOf } from '../e2e/looks.ts';
import { operatorRuns } from '../e2e/operator.ts';
import { operatorImage } from './images.ts';
import { ClusterStage } from './stage.ts';
import { servedWorkload } from './workload.ts';

let stage: ClusterStage;

beforeAll(async () => {
  stage = await ClusterStage.set();
  const { name } = await operatorImage(stage.cluster.dir);
  await applyAll(stage.cluster.transport, servedWorkload(stage.options.nodes, name));
  await kubectl('rollout', 'status', '-n', WORKLOAD_NAMESPACE, `deployment/${WORKLOAD}`, '--timeout=120s');
}, 400_000);

afterAll(() => stage.strike(), 60_000);

test('the manifests as they are bring every part of the operator up', async () => {
  await stage.installOperator();
  await operatorRuns(stage);
}, 200_000);

test('while each node is drained and rebooted, nobody who asks the workload through its Service is left without an answer', async () => {
  const { stdout: host } = await kubectl(
    'get',
    'service',
    WORKLOAD,
    '-n',
    WORKLOAD_NAMESPACE,
    '-o',
    'jsonpath={.spec.clusterIP}',
  );
  const load = startLoad(Array.from({ length: 4 }, () => () => ask(host)));
  await stage.rolledOver();
  const { asked, faults } = await load.stop();
  expect([...new Set(faults)]).toEqual([]);
  expect(asked).toBeGreaterThan(500);
  expect([...stage.history.nodes.values()].map(versionOf)).toEqual(['1.39.0', '1.39.0', '1.39.0']);
  expect(await invariants(stage)).toEqual([]);
}, 400_000);

/** On a connection of its own, which may well go to another pod than the one before. */
function ask(host: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const request = get({ host, agent: false, timeout: 5000 }, (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode === 200 ? undefined : String(response.statusCode)));
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 5 s')));
    request.on('error', reject);
  });
}
