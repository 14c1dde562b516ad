import { afterEach, describe, expect, test } from '@jest/globals';
import { leftoversIn } from '../../runtime/cli/commands/leftovers.ts';
import { viewOfNode } from '../../runtime/controller/seeing/views.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import type { NodeView } from '../../runtime/controller/plan/facts/snapshot.ts';
import { intercepted } from './transports.ts';
import { Stage } from './stage.ts';

/** The annotations by which the first operator's users watch their nodes. */

const PREFIX = 'bottlerocket.aws';
const ON = { NODE_ANNOTATIONS: 'true' };

let stage: Stage;
afterEach(() => stage.end());

/** What the README of the first operator looks at, and the label. */
async function told(): Promise<readonly (string | undefined)[]> {
  const { annotations, labels } = (await stage.nodes.get('a'))!.metadata;
  const keys = ['action-wanted', 'action-active', 'action-state', 'update-available'];
  return [...keys.map((key) => annotations?.[`${PREFIX}/${key}`]), labels?.[`${PREFIX}/update-available`]];
}

const annotate = (values: Readonly<Record<string, string>>, kind = 'annotations'): Promise<unknown> => {
  const named = Object.fromEntries(Object.entries(values).map(([key, value]) => [`${PREFIX}/${key}`, value]));
  return stage.patch('/api/v1/nodes/a', { metadata: { [kind]: named } });
};

describe('a node', () => {
  test('says in the first operator’s words where its update is, from its beginning to its end', async () => {
    stage = await Stage.with('a');
    stage.start({ env: ON });
    await stage.pass(3000);
    expect(await told()).toEqual(['perform-update', 'perform-update', 'busy', 'true', 'true']);
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass(3000);
    expect(await told()).toEqual(['reboot-update', 'reboot-update', 'busy', 'true', 'true']);
    await stage.update('a');
    await stage.pass(3000);
    expect(await told()).toEqual(['stabilize', 'stabilize', 'ready', 'false', 'false']);
    const { annotations } = (await stage.nodes.get('a'))!.metadata;
    expect(annotations).toMatchObject({ [`${PREFIX}/operator-version`]: VERSION });
  });

  test('whose attempt has failed says so', async () => {
    stage = await Stage.with('a');
    stage.start({ env: ON });
    await stage.pass();
    await stage.report('a', { current_state: 'ErrorReset', crash_count: 1 });
    await stage.pass(100);
    await stage.pass(3000);
    expect((await told())[2]).toBe('error');
  });

  test('is written when that changes, and at no other time', async () => {
    stage = await Stage.with('a', 'b');
    let writes = 0;
    const transport = intercepted(stage.transport, (request, go) => {
      const { metadata } = (request.body ?? {}) as { metadata?: { annotations?: object } };
      if (`${PREFIX}/operator-version` in (metadata?.annotations ?? {})) writes += 1;
      return go();
    });
    stage.start({ env: ON, transport });
    await stage.pass(5000);
    const before = writes;
    expect(before).toBeGreaterThanOrEqual(2);
    await stage.pass(600_000);
    expect(writes).toBe(before);
  });

  test('says nothing any more once it is switched off', async () => {
    stage = await Stage.with('a');
    const first = new AbortController();
    stage.start({ env: ON, signal: first.signal });
    await stage.pass(3000);
    first.abort(new Error('replaced'));
    await stage.pass(5000);
    stage.start();
    await stage.pass(60_000);
    expect(await told()).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect((await stage.nodes.get('a'))!.metadata.annotations ?? {}).not.toHaveProperty([`${PREFIX}/operator-version`]);
  });
});

describe('what the first operator has left', () => {
  const STALE = { 'action-wanted': 'reboot-update', 'action-active': 'reboot-update', 'action-state': 'ready' };

  test('is no order, and stays where nothing of ours is to be there', async () => {
    stage = await Stage.with('a');
    await stage.report('a', { target_version: '1.0.0' });
    await annotate(STALE);
    stage.start();
    await stage.pass(60_000);
    expect([await stage.spec('a'), (await told()).slice(0, 3)]).toEqual(['Idle', Object.values(STALE)]);
  });

  test('is named as a leftover: annotations, and labels, which it left empty; ours are not', async () => {
    stage = await Stage.with('a');
    await stage.report('a', { target_version: '1.0.0' });
    const left = async (): Promise<readonly string[]> => {
      const node = viewOfNode((await stage.nodes.get('a'))!) as unknown as NodeView;
      return leftoversIn({
        config: {},
        snapshot: { nodes: [node], shadows: [], permits: [] },
        plan: { preferences: [], arrivals: [] },
      } as never).map(({ whose, what }) => `${whose}: ${what}`);
    };
    await annotate({ 'action-wanted': 'stabilize' });
    await annotate({ 'action-wanted': '', 'update-available': 'false' }, 'labels');
    expect(await left()).toEqual([
      'first operator: annotation bottlerocket.aws/action-wanted, label bottlerocket.aws/action-wanted, label bottlerocket.aws/update-available',
    ]);
    stage.start({ env: ON });
    await stage.pass(3000);
    expect(await left()).toEqual(['first operator: label bottlerocket.aws/action-wanted']);
  });
});
