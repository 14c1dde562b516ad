import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Stage } from './stage.ts';

const STARTED = 'StagedAndPerformedUpdate 1.1.0';

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
});
afterEach(() => stage.end());

const owner = async (name: string, uid?: string): Promise<object> => {
  const node = (await stage.nodes.get(name))!;
  return { apiVersion: 'v1', kind: 'Node', name, uid: uid ?? node.metadata.uid };
};
const disown = (name: string): Promise<unknown> =>
  stage.shadows.patch(`brs-${name}`, { metadata: { ownerReferences: null } });

test('a shadow that names no Node as its owner starts nothing: its agent would not act on it, and its verdict says so', async () => {
  await disown('a');
  const controller = stage.start();
  await stage.pass();
  expect(await stage.specs('a', 'b')).toEqual(['Idle', STARTED]);
  expect(await stage.permits()).toEqual(['brs-b']);
  expect(controller.preview().verdicts[0]).toMatchObject({
    node: 'a',
    reason: 'ShadowNotOwned',
    message: 'brs-a does not name the Node as its owner: delete it, and the agent registers the node anew',
  });
});

test('once it is deleted and registered anew, its node has its turn', async () => {
  await disown('a');
  stage.start();
  await stage.shadows.delete('brs-a', {});
  await stage.register((await stage.nodes.get('a'))!);
  await stage.report('a', { current_version: '1.0.0', target_version: '1.1.0', current_state: 'Idle', crash_count: 0 });
  await stage.pass();
  expect(await stage.spec('a')).toBe(STARTED);
});

test('in mid-update its permit stays for as long as an agent runs that may have read it before', async () => {
  stage.start({ env: { AGENT_TIMEOUT_IN_SEC: '60' } });
  await stage.pass();
  await disown('a');
  await stage.pass(3_600_000);
  expect(await stage.permits()).toEqual(['brs-a']);
  await stage.loseAgent('a');
  await stage.pass(120_000);
  expect(await stage.permits()).toEqual(['brs-b']);
});

test('one that names the Node beside another is the Node’s, for the controller as for its agent', async () => {
  const ownerReferences = [await owner('a', 'former'), await owner('a')];
  await stage.shadows.patch('brs-a', { metadata: { ownerReferences } });
  stage.start();
  await stage.pass();
  expect(await stage.specs('a', 'b')).toEqual([STARTED, 'Idle']);
});
