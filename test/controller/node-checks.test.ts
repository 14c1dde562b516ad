import { afterEach, describe, expect, test } from '@jest/globals';
import { POLICIES_PATH } from '../../runtime/api/resources.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import { type Checked, envOf, MINUTE, SMOKE, verdictOn, withPolicy } from './checked.ts';
import { policyNamed } from '../policies.ts';
import { intercepted } from './transports.ts';

let world: Checked;
afterEach(() => world.stage.end());

describe('a node, before its drain', () => {
  const BEFORE = { proof: { nodes: 2 }, maxConcurrent: 1, checks: { before: [SMOKE] } };

  /** Up to where the first node has staged the release. */
  async function upToStaged(meet?: Parameters<typeof intercepted>[1]): Promise<Manager> {
    world = await withPolicy({ spec: BEFORE });
    const controller = world.stage.start({
      ...(meet && { transport: intercepted(world.stage.transport, meet) }),
    });
    await world.stage.pass(10_000);
    await world.stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await world.stage.pass(10_000);
    return controller;
  }

  test('is checked once it has staged the release, and told to drain when that has passed', async () => {
    const controller = await upToStaged();
    expect(verdictOn(controller, 'a')?.reason).toBe('Checking');
    expect(await world.stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
    expect(envOf(await world.made())).toContain('BRUPOP_NODES=a');
    await world.end('Complete');
    expect(await world.stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  });

  test('is asked about once, where its ledger takes no answer', async () => {
    let isOut = false;
    let asked = 0;
    await upToStaged(async (request, go) => {
      if (isOut && request.path.includes('/jobs/')) asked += 1;
      // Who asks without a pause would never let time go on.
      if (asked > 100) await world.stage.clock.sleep(1000);
      const isLedger = request.method === 'PATCH' && request.path.includes('/bottlerocketreleases/');
      return isOut && isLedger ? Promise.reject(new UnreachableError('no answer')) : go();
    });
    isOut = true;
    await world.end('Complete');
    await world.stage.pass(5 * MINUTE);
    expect(asked).toBeLessThan(5);
    expect(await world.stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
    isOut = false;
    await world.stage.pass(6 * MINUTE);
    expect(await world.stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  });

  test('is checked again where it waits for something else after that has passed', async () => {
    await upToStaged();
    await world.stage.setReady('a', false);
    await world.end('Complete');
    await world.stage.pass(6 * MINUTE);
    expect(await world.stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
    await world.stage.setReady('a', true);
    await world.stage.pass(10_000);
    expect(await world.made()).toHaveLength(2);
    expect(await world.stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
    await world.end('Complete');
    expect(await world.stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  });

  test('is left as it is for an hour by a check that fails, and another goes on', async () => {
    const controller = await upToStaged();
    await world.end('Failed', 'the queue is full');
    expect(await world.stage.spec('a')).toBe('Idle 1.1.0');
    await world.stage.report('a', { current_state: 'Idle' });
    await world.stage.pass(15_000);
    expect(verdictOn(controller, 'a')).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('the queue is full'),
    });
    expect(await world.stage.permits()).toEqual(['brs-b']);
    expect(await world.failed()).toEqual([]);
    await world.stage.report('b', { current_state: 'StagedAndPerformedUpdate' });
    await world.stage.pass(10_000);
    await world.end('Complete');
    await world.stage.update('b');
    await world.stage.pass(20 * MINUTE);
    expect(await world.stage.spec('a')).toBe('Idle 1.1.0');
    await world.stage.pass(45 * MINUTE);
    expect(await world.stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  });
});

describe('a node that is back from its update', () => {
  const AFTER = { proof: { nodes: 2 }, maxConcurrent: 1, checks: { after: [SMOKE] } };

  /** Up to where the first node is back and monitored. */
  async function upToBack(): Promise<Manager> {
    world = await withPolicy({ spec: AFTER });
    const controller = world.stage.start();
    await world.stage.pass(10_000);
    await world.stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await world.stage.pass();
    await world.stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    await world.stage.pass();
    await world.stage.report('a', { current_state: 'MonitoringUpdate' });
    await world.stage.pass(10_000);
    return controller;
  }

  test('keeps its permit until its check has passed', async () => {
    const controller = await upToBack();
    expect(verdictOn(controller, 'a')?.reason).toBe('Checking');
    expect(await world.stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
    await world.end('Complete');
    expect(await world.stage.spec('a')).toBe('Idle 1.1.0');
    expect(await world.failed()).toEqual([]);
  });

  test('keeps its permit while its policy is gone for a moment', async () => {
    await upToBack();
    await world.stage.delete(`${POLICIES_PATH}/all`);
    await world.stage.pass(10_000);
    expect(await world.stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
    await world.stage.create(POLICIES_PATH, policyNamed('all', { nodeSelector: {}, maxFailed: 5, ...AFTER }));
    await world.stage.pass(10_000);
    expect(await world.stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
    await world.end('Complete');
    expect(await world.stage.spec('a')).toBe('Idle 1.1.0');
  });

  test('keeps its permit while several policies claim it', async () => {
    const controller = await upToBack();
    await world.stage.create(POLICIES_PATH, policyNamed('other', { nodeSelector: {} }));
    await world.stage.pass(10 * MINUTE);
    expect(await world.stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
    expect(verdictOn(controller, 'a')?.reason).toBe('PolicyConflict');
    await world.stage.delete(`${POLICIES_PATH}/other`);
    await world.stage.pass(10_000);
    await world.end('Complete');
    expect(await world.stage.spec('a')).toBe('Idle 1.1.0');
  });

  test('keeps its permit while its policy cannot be obeyed, whatever that asks besides', async () => {
    const controller = await upToBack();
    await world.stage.patch(`${POLICIES_PATH}/all`, { spec: { windows: [{ start: '61 * * * *', duration: '1h' }] } });
    await world.stage.pass(10 * MINUTE);
    expect(await world.stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
    expect(verdictOn(controller, 'a')?.reason).toBe('PolicyInvalid');
    await world.stage.patch(`${POLICIES_PATH}/all`, { spec: { windows: null } });
    await world.stage.pass(10_000);
    await world.end('Complete');
    expect(await world.stage.spec('a')).toBe('Idle 1.1.0');
  });

  test('comes to rest where it fails, and counts as failed on the release for good', async () => {
    const controller = await upToBack();
    await world.end('Failed', 'the disk is slow');
    expect(await world.stage.spec('a')).toBe('Idle 1.1.0');
    await world.stage.report('a', { current_state: 'Idle' });
    await world.stage.pass(30 * MINUTE);
    expect(await world.failed()).toEqual(['a CheckFailed']);
    expect(verdictOn(controller, 'a')).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('the disk is slow'),
    });
    expect(await world.stage.permits()).toEqual(['brs-b']);
  });
});
