import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { COMPONENTS, HOLD_ANNOTATION, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { invariants } from '../../test/e2e/invariants.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { atRest } from '../../test/e2e/looks.ts';
import { operatorPods } from '../../test/e2e/operator.ts';
import type { ContainerStatus } from '../../runtime/kube/objects.ts';
import { containersOf } from './containers.ts';
import { ClusterStage } from './stage.ts';

let stage: ClusterStage;

beforeAll(async () => {
  stage = await ClusterStage.set({ nodes: 1 });
  await kubectl('annotate', 'node', '--all', `${HOLD_ANNOTATION}=`);
  await stage.installOperator();
  await stage.until(() => agent()?.state?.running);
}, 400_000);

afterAll(() => stage.strike());

function agent(): ContainerStatus | undefined {
  return operatorPods(stage, COMPONENTS.agent).flatMap(containersOf)[0];
}

test('an agent whose host makes its socket anew ends once it is there, and its next container has it', async () => {
  stage.fleet.hosts.get('node-1')?.host.restartApi(1000);
  await stage.until(() => agent()?.restartCount === 1);
  expect(agent()?.lastState?.terminated).toMatchObject({
    exitCode: 0,
    message: expect.stringContaining("the mount of the host's socket is dead"),
  });
}, 400_000);

test('the only node is updated, though the pods of the cluster DNS wait for it to be uncordoned', async () => {
  await kubectl('annotate', 'node', '--all', `${HOLD_ANNOTATION}-`);
  await stage.until((history) => atRest(history, stage.options.to).includes('node-1'));
  // There is no other node to which the operator's own pods, and the cluster's, could go.
  expect(await invariants(stage, { stays: ({ metadata }) => metadata.namespace === NAMESPACE })).toEqual([]);
}, 400_000);
