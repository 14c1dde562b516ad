import { afterEach, describe, expect, test } from '@jest/globals';
import type { Controller } from '../../runtime/controller/controller.ts';
import { shadowName } from '../../runtime/shadow/names.ts';
import { Stage } from './stage.ts';

/** What nobody but a person can decide: the controller waits, says so, and goes on once somebody has acted. */

const DAY = 24 * 3_600_000;
let stage: Stage;
afterEach(() => stage.end());

const verdicts = (controller: Controller): Readonly<Record<string, string>> =>
  Object.fromEntries(controller.outlook().verdicts.map(({ node, reason }) => [node, reason]));

describe('a node that does not return from its reboot', () => {
  let controller: Controller;

  async function lost(): Promise<void> {
    stage = await Stage.with('a', 'b');
    controller = stage.start();
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.report('a', {
      reboot: { boot_id: 'boot-1', version: '1.1.0', requested_at: '2026-01-01T00:00:02Z' },
    });
    await stage.setReady('a', false);
    await stage.pass(DAY / 12);
    expect(verdicts(controller)).toEqual({ a: 'NotReturned', b: 'WaitingForSlot' });
    expect(await stage.slots()).toEqual(['brs-a']);
  }

  test('keeps its slot and stops a fleet of one at a time, until it returns', async () => {
    await lost();
    await stage.setReady('a', true);
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0', reboot: null });
    await stage.pass();
    await stage.report('a', { current_state: 'MonitoringUpdate' });
    await stage.pass();
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass();
    expect(await stage.slots()).toEqual(['brs-b']);
  });

  test('or until its Node is deleted', async () => {
    await lost();
    await stage.transport.request({ method: 'DELETE', path: '/api/v1/nodes/a' });
    await stage.pass();
    expect(await stage.slots()).toEqual(['brs-b']);
  });
});

describe('a version that failed once on a node whose host then offers another', () => {
  async function halted(): Promise<Controller> {
    stage = await Stage.with('a', 'b');
    const failure = { crash_count: 1, state_transition_failure_timestamp: '2026-01-01T00:00:00Z' };
    await stage.report('a', { ...failure, failed_versions: ['1.2.0'] });
    await stage.report('b', { target_version: '1.2.0' });
    const controller = stage.start({ env: { MAX_FAILED_UPDATE: '1' } });
    await stage.pass(300_000);
    await stage.update('a');
    await stage.pass(DAY / 12);
    expect(verdicts(controller)['b']).toBe('RolloutHalted');
    return controller;
  }

  test('stays halted though that node is updated to the other', async () => {
    await halted();
    expect((await stage.shadows.get('brs-a'))!.status).toMatchObject({ current_version: '1.1.0' });
    expect(await stage.spec('b')).toBe('Idle');
  });

  test('is no longer halted once somebody deletes the shadow that remembers it', async () => {
    await halted();
    await stage.shadows.delete(shadowName('a'), {});
    await stage.pass();
    expect(await stage.spec('b')).toBe('StagedAndPerformedUpdate 1.2.0');
  });
});
