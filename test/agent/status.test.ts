import { describe, expect, test } from '@jest/globals';
import type { View } from '../../runtime/agent/decide.ts';
import {
  alreadySaid,
  failedStatus,
  withOffer,
  currentStatus,
  reachedStatus,
  idleStatus,
} from '../../runtime/agent/status.ts';
import { joinParts } from '../../runtime/lib/parts.ts';
import type { FailureReason, Status } from '../../runtime/api/shadow/model.ts';

const TIME = '2026-01-01T00:00:00Z';

function view(status: Partial<Status> | undefined, version = '1.38.0'): View {
  const whole = { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0 } as const;
  const shadow = {
    metadata: { name: 'brs-n1', uid: 's', resourceVersion: '7' },
    spec: { state: 'Idle' as const },
    ...(status && { status: { ...whole, ...status } }),
  };
  return { shadow, nodeUid: 'uid-1', version, bootId: 'boot-1' };
}

const failure = (reason: FailureReason, version = '1.39.0') =>
  ({ state: 'StagedAndPerformedUpdate', reason, message: 'why', version }) as const;

describe('the status that the agent sends', () => {
  test('says of each field that it keeps for good whether it is there', () => {
    expect(currentStatus(view({}))).toEqual({
      current_version: '1.38.0',
      target_version: '1.39.0',
      current_state: 'Idle',
      crash_count: 0,
      state_transition_failure_timestamp: null,
      reboot: null,
      last_failure: null,
      check: null,
      failed_versions: null,
      finished: null,
    });
  });

  test('of a node without one offers nothing', () => {
    expect(currentStatus(view(undefined))).toMatchObject({
      current_state: 'Idle',
      target_version: '1.38.0',
      crash_count: 0,
    });
  });

  test('of a version that has just come up offers nothing, whatever was offered to the one before', () => {
    expect(currentStatus(view({ target_version: '1.39.0' }, '1.40.0'))).toMatchObject({ target_version: '1.40.0' });
  });

  test('keeps the crash count until an update is completed', () => {
    const crashed = view({ crash_count: 2, state_transition_failure_timestamp: TIME });
    expect(reachedStatus(crashed, 'RebootedIntoUpdate').crash_count).toBe(2);
    expect(idleStatus(crashed, false, TIME)).toMatchObject({
      crash_count: 2,
      state_transition_failure_timestamp: TIME,
    });
    expect(idleStatus(crashed, true, TIME)).toMatchObject({ crash_count: 0, state_transition_failure_timestamp: null });
  });

  test('says with what is staged that no reboot was asked for yet, and with any other state that none is to come', () => {
    const { shadow, ...rest } = view({});
    const wanted = { ...shadow!, spec: { state: 'StagedAndPerformedUpdate' as const, version: '1.39.0' } };
    const said = (state: Status['current_state']): unknown => reachedStatus({ ...rest, shadow: wanted }, state).reboot;
    expect(said('StagedAndPerformedUpdate')).toEqual({ boot_id: 'boot-1', version: '1.39.0', requested_at: null });
    expect([said('RebootedIntoUpdate'), said('MonitoringUpdate')]).toEqual([null, null]);
  });

  test('is not sent again where only the way of saying nothing differs', () => {
    expect(alreadySaid(currentStatus(view({})), view({}))).toBe(true);
    expect(alreadySaid(withOffer(view({}), '1.40.0'), view({}))).toBe(false);
    expect(alreadySaid(currentStatus(view(undefined)), view(undefined))).toBe(false);
  });
});

describe('the versions that a node failed on', () => {
  test.each<[FailureReason, boolean]>([
    ['PrepareFailed', true],
    ['ActivateFailed', false],
    ['BootFailed', true],
    ['DrainFailed', false],
    ['RebootFailed', false],
    ['TargetChanged', false],
    ['HostFailed', false],
    ['Unsupported', false],
    ['Reverted', true],
    ['Unstable', true],
  ])('%s: %p', (reason, blamed) => {
    expect(failedStatus(view({}), failure(reason), TIME).failed_versions).toEqual(blamed ? ['1.39.0'] : null);
  });

  test('stay until the node runs them, other failures or not', () => {
    const blamed = view({ failed_versions: ['1.39.0'] });
    expect(failedStatus(blamed, failure('DrainFailed'), TIME).failed_versions).toEqual(['1.39.0']);
    expect(reachedStatus(blamed, 'StagedAndPerformedUpdate').failed_versions).toEqual(['1.39.0']);
    expect(failedStatus(blamed, failure('BootFailed', '1.40.0'), TIME).failed_versions).toEqual(['1.39.0', '1.40.0']);
    expect(currentStatus(view({ failed_versions: ['1.39.0', '1.40.0'] }, '1.39.0')).failed_versions).toEqual([
      '1.40.0',
    ]);
  });

  test('are five at most, the oldest dropped', () => {
    const full = view({ failed_versions: ['1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0'] });
    const after = failedStatus(full, failure('BootFailed'), TIME).failed_versions;
    expect(after).toEqual(['1.2.0', '1.3.0', '1.4.0', '1.5.0', '1.39.0']);
  });
});

test('the message of a failure keeps to a kilobyte, and says how many of many pods it leaves out', () => {
  const message = joinParts([
    '504: left',
    ...Array.from({ length: 110 }, (_, index) => `shop/wéb-${index} (not evicted)`),
  ]);
  const stated = failedStatus(view({}), { ...failure('DrainFailed'), message }, TIME).last_failure?.message ?? '';
  expect(Buffer.byteLength(stated)).toBeLessThanOrEqual(1024);
  const named = stated.match(/shop/g)?.length ?? 0;
  expect([named > 20, stated.endsWith(`; and ${110 - named} more`)]).toEqual([true, true]);
});

test('a target that changed is no crash, and no reason to back off', () => {
  const after = failedStatus(view({ crash_count: 1 }), failure('TargetChanged'), TIME);
  expect(after).toMatchObject({
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: null,
  });
  expect(failedStatus(view({ crash_count: 1 }), failure('DrainFailed'), TIME).crash_count).toBe(2);
});
