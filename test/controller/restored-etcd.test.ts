import { afterEach, expect, test } from '@jest/globals';
import { PAUSED_ANNOTATION, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

/** etcd comes back from a backup, and with it the counter of versions: what a controller knows is newer than all that it reads. */
let stage: Stage;
afterEach(() => stage.end());

const paused = (value: string | null): Promise<unknown> =>
  stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } });

test('a controller whose conditions a restored etcd has lost starts nodes all the same', async () => {
  stage = await Stage.with('a', 'b');
  await paused('');
  const backup = stage.cluster.version;
  stage.start();
  await stage.pass(5000);
  expect((await stage.shadows.get(shadowName('a')))!.status!.conditions).toHaveLength(1);
  for (let write = 0; write < 200; write++) await stage.patchNode('b', { metadata: { labels: { write: `${write}` } } });
  await stage.pass();
  stage.cluster.restore(backup);
  await paused(null);
  await stage.pass(60_000);
  expect(await stage.permits()).toHaveLength(1);
});

test('an update that a restored etcd has lost begins anew', async () => {
  stage = await Stage.with('a');
  const backup = stage.cluster.version;
  stage.start();
  await stage.pass(5000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  stage.cluster.restore(backup);
  await stage.pass(60_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  await stage.update('a');
  expect(await stage.permits()).toEqual([]);
});
