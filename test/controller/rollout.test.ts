import { afterEach, describe, expect, test } from '@jest/globals';
import { cordonPatch } from '../../runtime/api/marks/patches.ts';
import { HOLD_ANNOTATION, shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

let stage: Stage;
afterEach(() => stage.end());

describe('a rollout', () => {
  test('takes one node after the other, and ends with no permit', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
    expect(await stage.permits()).toEqual(['brs-a']);
    await stage.update('a');
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
    await stage.update('b');
    expect(await stage.permits()).toEqual([]);
    expect(await stage.events()).toEqual(['UpdateStarted', 'UpdateFinished', 'UpdateStarted', 'UpdateFinished']);
  });

  test('answers a status without any time going by', async () => {
    stage = await Stage.with('a');
    stage.start();
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass(0);
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  });

  test('says of each node why it is where it is', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass(2000);
    const conditions = await Promise.all(
      ['a', 'b'].map(async (name) => (await stage.shadows.get(shadowName(name)))!.status!.conditions!),
    );
    expect(conditions.flat()).toMatchObject([
      { type: 'UpToDate', status: 'False', reason: 'Updating', message: 'the node is being updated to 1.1.0' },
      { type: 'UpToDate', status: 'False', reason: 'WaitingForSlot' },
    ]);
    await stage.update('a');
    expect((await stage.shadows.get('brs-a'))!.status!.conditions).toMatchObject([
      { status: 'True', reason: 'UpToDate' },
    ]);
  });

  test('gives the permit of a failed node to the next, and tries the failed one last', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    const failure = { crash_count: 1, state_transition_failure_timestamp: '2026-01-01T00:00:02Z' };
    await stage.report('a', { current_state: 'ErrorReset', ...failure });
    await stage.pass();
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass();
    expect(await stage.specs('a', 'b')).toEqual(['Idle 1.1.0', 'StagedAndPerformedUpdate 1.1.0']);
    await stage.update('b');
    await stage.pass(119_000);
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  });

  test('the update of a node costs the controller few requests', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    stage = await Stage.with(...names);
    let requests = 0;
    const transport = intercepted(stage.transport, (_request, go) => {
      requests += 1;
      return go();
    });
    stage.start({ transport });
    for (const name of names) {
      await stage.pass(0);
      await stage.update(name);
    }
    await stage.pass();
    const renewals = stage.clock.monotonic() / 2000;
    expect(await stage.permits()).toEqual([]);
    // A renewal of the Lease is one request, and three where a permit was swapped in between.
    expect((requests - 3 * renewals) / names.length).toBeLessThan(30);
  });
});

describe('recovery', () => {
  const cordon = async (name: string): Promise<void> => {
    const node = (await stage.nodes.get(name))!;
    const patch = cordonPatch(node, { id: 'drain', now: '2026-01-01T00:00:00Z', boot: 'boot-1' })!;
    await stage.nodes.patch(name, { ...patch, metadata: { ...patch.metadata } });
  };
  const cordoned = async (name: string): Promise<boolean> =>
    (await stage.nodes.get(name))!.spec?.unschedulable === true;

  test('a cordon that somebody lifts is no longer ours, and what else is ours stays so', async () => {
    stage = await Stage.with('a');
    stage.start();
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await cordon('a');
    await stage.patchNode('a', { spec: { unschedulable: null } });
    await stage.pass();
    const marks = (await stage.nodes.get('a'))!.metadata.annotations!['brupop.bottlerocket.aws/marks']!;
    expect(JSON.parse(marks)).toMatchObject({ id: 'drain', owns: ['cluster-autoscaler', 'karpenter'] });
  });

  test('a held node keeps its cordon, which is no longer ours', async () => {
    stage = await Stage.with('a');
    await cordon('a');
    await stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
    stage.start();
    await stage.pass();
    expect(await cordoned('a')).toBe(true);
    expect((await stage.nodes.get('a'))!.metadata.annotations).not.toHaveProperty(['brupop.bottlerocket.aws/marks']);
  });

  test('a pause stops starts, and its end begins them', async () => {
    stage = await Stage.with('a');
    const paused = (value: string | null): Promise<unknown> =>
      stage.patch('/api/v1/namespaces/brupop-bottlerocket-aws', {
        metadata: { annotations: { 'brupop.bottlerocket.aws/paused': value } },
      });
    await paused('');
    stage.start();
    await stage.pass();
    expect(await stage.spec('a')).toBe('Idle');
    await paused(null);
    await stage.pass();
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  });
});
