import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VERSION } from '../../runtime/lib/version.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { comesTrue } from '../../test/e2e/come-true.ts';
import { invariants } from '../../test/e2e/invariants.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { atRest } from '../../test/e2e/looks.ts';
import { operatorRuns } from '../../test/e2e/operator.ts';
import { DIST } from '../../test/e2e/scene.ts';
import { documentedRemoval, filesOfPods, type Footprint, footprint, leftovers } from './parts/footprint.ts';
import { changeWhileUpdating, OTHER, otherManifests, runningTags, stageForBoth } from './parts/other-version.ts';
import type { ClusterStage } from './stage.ts';

/** The life of an installation by `kubectl apply -f dist/`, from before it to after it. */

const NODES = ['node-1', 'node-2', 'node-3'];

let stage: ClusterStage;
let before: Footprint;

beforeAll(async () => {
  stage = await stageForBoth();
  before = await footprint();
}, 400_000);

afterAll(() => stage.strike(), 60_000);

test('an upgrade and its rollback leave a rollout that is under way as safe as it was, and going on', async () => {
  await stage.installOperator();
  const other = await otherManifests(stage);
  const tags = await changeWhileUpdating(stage, {
    upgrade: () => kubectl('apply', '-f', other),
    rollback: () => kubectl('apply', '-f', DIST),
  });
  expect(tags).toContain(OTHER.image.tag);
  expect(await runningTags()).toEqual([VERSION]);
  expect(atRest(stage.history, stage.options.to)).toEqual(NODES);
  expect(await invariants(stage)).toEqual([]);
  await operatorRuns(stage);
}, 600_000);

test('what docs/deploying.md says of taking it away leaves nothing: on no node, and nowhere in the cluster', async () => {
  expect(await leftovers(stage, documentedRemoval(), before)).toEqual({ nodes: {}, objects: [] });
  await comesTrue(() => filesOfPods(stage, NAMESPACE).length === 0);
}, 300_000);
