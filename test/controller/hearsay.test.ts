import { afterEach, describe, expect, test } from '@jest/globals';
import type { Manager } from '../../runtime/controller/manager.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { Stage } from './stage.ts';

/** What kubelets and agents say of times is by their own clocks, or null: nothing is undone, blamed or proven by it. */

const MINUTE = 60_000;
let stage: Stage;
afterEach(() => stage.end());

const reasonOf = (controller: Manager, node: string): string | undefined =>
  controller.preview().verdicts.find((verdict) => verdict.node === node)?.reason;
const started = (env: Readonly<Record<string, string>> = {}): Manager => stage.start({ env });

/** A leader, and another that follows it. */
async function changeLeader(first: AbortController): Promise<Manager> {
  first.abort();
  await stage.pass(5000);
  const next = stage.start({ env: { MAX_FAILED_UPDATE: '1' } });
  await stage.pass(2000);
  return next;
}

describe('a container of the agent that has ended', () => {
  async function draining(): Promise<void> {
    stage = await Stage.with('a');
    started();
    await stage.pass(60 * MINUTE);
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.mark('a');
  }

  test('when nobody knows, has ended just now: the drain that it was in goes on', async () => {
    await draining();
    const unknown = { terminated: { reason: 'ContainerStatusUnknown', exitCode: 137, finishedAt: null } };
    await stage.sayOfAgent('a', { waiting: { reason: 'CrashLoopBackOff' } }, unknown);
    await stage.pass(14 * MINUTE);
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
    await stage.pass(2 * MINUTE);
    expect(await stage.spec('a')).toBe('Idle 1.1.0');
  });

  test('long ago by the clock of its node, has ended just now', async () => {
    await draining();
    const finishedAt = rfc3339(stage.clock.now() - 20 * MINUTE);
    await stage.sayOfAgent(
      'a',
      { waiting: { reason: 'CrashLoopBackOff' } },
      { terminated: { exitCode: 1, finishedAt } },
    );
    await stage.pass(14 * MINUTE);
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  });

  test('again since it was missed has run since, though nobody saw it run', async () => {
    await draining();
    const ended = (): object => ({ terminated: { exitCode: 1, finishedAt: rfc3339(stage.clock.now()) } });
    await stage.sayOfAgent('a', ended());
    await stage.pass(10 * MINUTE);
    await stage.sayOfAgent('a', ended());
    await stage.pass(10 * MINUTE);
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  });
});

describe('on a node whose clock is behind', () => {
  test('a reboot that was just asked for may take all of its time', async () => {
    stage = await Stage.with('a', 'b');
    const controller = started();
    await stage.pass();
    await stage.askForReboot('a', { slowMs: 20 * MINUTE });
    await stage.setReady('a', false, 20 * MINUTE);
    await stage.pass(14 * MINUTE);
    expect(reasonOf(controller, 'a')).toBe('Updating');
    await stage.pass(2 * MINUTE);
    expect(reasonOf(controller, 'a')).toBe('NotReturned');
  });

  test('a soak lasts as long as it must, and may fail as late', async () => {
    stage = await Stage.with('a');
    const controller = started({ MONITORING_TIME_IN_SEC: '300' });
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    await stage.pass();
    await stage.report('a', { current_state: 'MonitoringUpdate' });
    await stage.pass(4 * MINUTE);
    await stage.setReady('a', false, 20 * MINUTE);
    await stage.pass(10 * MINUTE);
    expect(reasonOf(controller, 'a')).toBe('Updating');
    await stage.setReady('a', true, 20 * MINUTE);
    await stage.pass(4 * MINUTE);
    expect(await stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
    await stage.pass(2 * MINUTE);
    expect(await stage.spec('a')).toBe('Idle 1.1.0');
  });
});

test('a failure in a time to come is backed off from since it was heard of', async () => {
  stage = await Stage.with('a');
  started();
  await stage.pass();
  const ahead = rfc3339(stage.clock.now() + 24 * 60 * MINUTE);
  const failure = { crash_count: 1, state_transition_failure_timestamp: ahead };
  await stage.report('a', { current_state: 'ErrorReset', ...failure });
  await stage.pass();
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(MINUTE);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  await stage.pass(MINUTE + 2000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test('a controller that begins anew does not begin a backoff anew', async () => {
  stage = await Stage.with('a');
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass();
  const time = rfc3339(stage.clock.now());
  await stage.report('a', { current_state: 'ErrorReset', crash_count: 3, state_transition_failure_timestamp: time });
  await stage.pass();
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(7 * MINUTE);
  await changeLeader(first);
  await stage.pass(MINUTE);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test('a release that was halted stays so under another controller, which has seen nothing of it', async () => {
  stage = await Stage.with('a', 'b');
  const first = new AbortController();
  const rules = { MAX_FAILED_UPDATE: '1', MAX_CONCURRENT_UPDATE: '2' };
  const controller = stage.start({ env: rules, signal: first.signal });
  await stage.pass();
  await stage.askForReboot('a');
  await stage.setReady('a', false);
  await stage.pass(16 * MINUTE);
  expect(reasonOf(controller, 'b')).toBe('RolloutHalted');
  const next = await changeLeader(first);
  expect([reasonOf(next, 'a'), reasonOf(next, 'b')]).toEqual(['NotReturned', 'RolloutHalted']);
});
