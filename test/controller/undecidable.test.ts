import { afterEach, describe, expect, test } from '@jest/globals';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import { settle } from '../../lab/sim/clock.ts';
import { releasesOf } from '../../runtime/api/resources.ts';
import { Stage } from './stage.ts';

/**
 * What nobody can tell from the cluster's objects, and what the controller does then. These tests show what is documented in
 * `docs/protocol.md` (U1 to U8); none of it is wished for.
 */

let stage: Stage;
afterEach(() => stage.end());

const HOUR = 3_600_000;

async function verdict(name: string): Promise<string | undefined> {
  const conditions = (await stage.shadows.get(shadowName(name)))!.status?.conditions;
  return conditions?.find(({ type }) => type === 'UpToDate')?.reason;
}

describe('U2: an uncordon and a cordon of a node that we have cordoned', () => {
  const setCordon = (unschedulable: boolean): Promise<unknown> =>
    stage.patch('/api/v1/nodes/a', { spec: { unschedulable: unschedulable || null } });

  /** `a` is wanted in its reboot and drained; whether its cordon is still ours after these changes. */
  async function isOursAfter(changes: () => Promise<unknown>): Promise<boolean> {
    stage = await Stage.with('a');
    stage.start();
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.mark('a');
    await stage.pass();
    await changes();
    await stage.pass();
    return JSON.stringify((await stage.nodes.get('a'))!.metadata.annotations).includes(String.raw`\"cordon\"`);
  }

  test('make the cordon theirs where the controller has seen the first', async () => {
    const changes = async (): Promise<void> => {
      await setCordon(false);
      await settle();
      await setCordon(true);
    };
    expect(await isOursAfter(changes)).toBe(false);
  });

  test('leave it ours where it has not', async () => {
    const changes = async (): Promise<void> => {
      await setCordon(false);
      await setCordon(true);
    };
    expect(await isOursAfter(changes)).toBe(true);
  });
});

describe('U5: a node that does not return from its reboot', () => {
  /** `a` has gone down for its reboot an hour ago, `b` waits. */
  async function gone(): Promise<void> {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    const reboot = { boot_id: 'boot-1', version: '1.1.0', requested_at: '2026-01-01T00:00:01Z' };
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate', reboot });
    await stage.pass();
    await stage.setReady('a', false);
    await stage.pass(HOUR);
  }

  test('keeps its permit however long it takes, so that with a concurrency of 1 the fleet waits', async () => {
    await gone();
    await stage.pass(3 * HOUR);
    expect([await verdict('a'), await stage.permits(), await stage.spec('b')]).toEqual([
      'NotReturned',
      ['brs-a'],
      'Idle',
    ]);
  });

  test('gives its permit back when its Node is deleted', async () => {
    await gone();
    await stage.delete('/api/v1/nodes/a');
    await stage.pass();
    expect([await stage.permits(), await stage.spec('b')]).toEqual([['brs-b'], 'StagedAndPerformedUpdate 1.1.0']);
  });

  test('goes on with its update when it returns', async () => {
    await gone();
    await stage.patch('/api/v1/nodes/a/status', { status: { nodeInfo: { bootID: 'boot-2' } } });
    await stage.setReady('a', true);
    for (const state of ['RebootedIntoUpdate', 'MonitoringUpdate', 'Idle'] as const) {
      await stage.report('a', { current_state: state, current_version: '1.1.0', reboot: null });
      await stage.pass();
    }
    expect([await verdict('a'), await stage.permits()]).toEqual(['UpToDate', ['brs-b']]);
  });
});

describe('U6: one failure of a version on a node whose host then offers an older one', () => {
  /** `a` fails on 1.2.0 for no reason of the release; its host then offers 1.1.0, to which it is updated. */
  async function failedOnce(): Promise<void> {
    stage = await Stage.with('a', 'b');
    for (const name of ['a', 'b']) await stage.report(name, { target_version: '1.2.0' });
    stage.start({ env: { MAX_FAILED_UPDATE: '1' } });
    await stage.pass();
    const at = { state_transition_failure_timestamp: '2026-01-01T00:00:01Z', failed_versions: ['1.2.0'] };
    await stage.report('a', { current_state: 'ErrorReset', crash_count: 1, ...at });
    await stage.pass();
    await stage.report('a', { current_state: 'Idle', target_version: '1.1.0' });
    await stage.pass(HOUR);
    await stage.update('a');
    await stage.report('a', { crash_count: 0 });
    await stage.pass(3 * HOUR);
  }

  test('keeps that version halted at a budget of 1, whatever the node runs and however long it takes', async () => {
    await failedOnce();
    expect([await verdict('a'), await verdict('b'), await stage.spec('b')]).toEqual([
      'NoUpdateOffered',
      'RolloutHalted',
      'Idle',
    ]);
  });

  test('is forgotten when a person deletes the release', async () => {
    await failedOnce();
    await releasesOf(stage.transport).delete('1.2.0.aws-k8s-1.33.amd64', {});
    await stage.pass(5_000);
    expect(await stage.spec('b')).toBe('StagedAndPerformedUpdate 1.2.0');
  });
});
