import { afterEach, expect, test } from '@jest/globals';
import { patchObject } from '../../runtime/cli/change.ts';
import type { OperatedCluster } from '../../runtime/cli/operator.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import { Stage } from '../controller/stage.ts';

let stage: Stage;
afterEach(() => stage.end());

test('a change is decided again where somebody else has written the object since it was read', async () => {
  stage = await Stage.with('a');
  const cluster = { transport: stage.transport } as OperatedCluster;
  const seen: unknown[] = [];
  await patchObject(cluster, { path: NODES_PATH, name: 'a', called: 'node a', dryRun: false }, async (node) => {
    seen.push(node.metadata.labels?.['theirs']);
    if (seen.length === 1) await stage.patchNode('a', { metadata: { labels: { theirs: 'yes' } } });
    return { metadata: { annotations: { ours: 'yes' } } };
  });
  expect(seen).toEqual([undefined, 'yes']);
  expect((await stage.nodes.get('a'))?.metadata.annotations).toMatchObject({ ours: 'yes' });
});
