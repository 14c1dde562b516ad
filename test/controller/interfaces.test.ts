import { afterEach, describe, expect, test } from '@jest/globals';
import { MANAGED_LABEL } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

/** Nodes whose hosts are driven in different ways, and the label that says which. */

let stage: Stage;
afterEach(() => stage.end());

const label = (value: string): Promise<unknown> =>
  stage.patch('/api/v1/nodes/a', { metadata: { labels: { [MANAGED_LABEL]: value } } });
const cordoned = async (): Promise<boolean> => (await stage.nodes.get('a'))?.spec?.unschedulable === true;

describe('a node of interface 1.0.0', () => {
  test('is managed like any other where its driver is on', async () => {
    stage = await Stage.with('a', 'b');
    await label('1.0.0');
    stage.start({ env: { INTERFACE_V1: 'true' } });
    await stage.pass();
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  });

  test('is not where its driver is off', async () => {
    stage = await Stage.with('a', 'b');
    await label('1.0.0');
    stage.start();
    await stage.pass(5000);
    expect(await stage.shadows.get('brs-a')).toBeUndefined();
    expect(await stage.spec('b')).toBe('StagedAndPerformedUpdate 1.1.0');
  });

  test('that is relabelled in mid-update keeps its shadow, its permit, its cordon and its update', async () => {
    stage = await Stage.with('a', 'b');
    await label('1.0.0');
    stage.start({ env: { INTERFACE_V1: 'true' } });
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.mark('a');
    const before = (await stage.shadows.get('brs-a'))!;
    await label('2.0.0');
    // The agent of the one DaemonSet goes, then that of the other comes.
    await stage.loseAgent('a');
    await stage.pass(60_000);
    await stage.startAgent('a');
    await stage.pass(60_000);
    const after = (await stage.shadows.get('brs-a'))!;
    expect([after.metadata.uid, after.spec]).toEqual([before.metadata.uid, before.spec]);
    expect([await stage.permits(), await cordoned()]).toEqual([['brs-a'], true]);
    expect(await stage.spec('b')).toBe('Idle');
  });
});
