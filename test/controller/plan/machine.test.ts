import { describe, expect, test } from '@jest/globals';
import type { Command } from '../../../runtime/controller/plan/facts/commands.ts';
import {
  fleet,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  staging,
  updated,
} from './fleet.ts';

type State = 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate';

const writes = (parts: Parts): readonly Command[] => plan(fleet({ a: parts }), POLICY, NOW).commands;
const behind = (wanted: 'RebootedIntoUpdate' | 'MonitoringUpdate' | 'Idle', current_state: State): Parts => ({
  spec: { state: wanted, version: '1.1.0' },
  status: { current_state },
});
const failedIn = (state: State): Parts => ({
  spec: { state, version: '1.1.0' },
  status: { current_state: 'ErrorReset', crash_count: 1 },
});
const spec = (state: string, version: string | null = '1.1.0', at: string | null = moment(0)): object => ({
  spec: { state, version, state_transition_timestamp: at },
});

describe('the state machine of the contract', () => {
  test.each([
    ['Idle with an update on offer starts it', {}, spec('StagedAndPerformedUpdate')],
    [
      'staged goes on to reboot',
      { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } as const,
      spec('RebootedIntoUpdate'),
    ],
    [
      'rebooted goes on to monitoring',
      { spec: rebooting.spec!, status: { current_state: 'RebootedIntoUpdate' } } as const,
      spec('MonitoringUpdate'),
    ],
    ['monitored comes to rest', monitoring(), spec('Idle')],
    ['a failure in staging leads to rest, with its version', failedIn('StagedAndPerformedUpdate'), spec('Idle')],
    ['a failure in the reboot leads to rest, with its version', failedIn('RebootedIntoUpdate'), spec('Idle')],
    ['a failure in monitoring leads to rest, with its version', failedIn('MonitoringUpdate'), spec('Idle')],
    ['a finished update is forgotten', { ...updated, spec: { version: '1.1.0' } }, spec('Idle', null, null)],
    ['a shadow without status is wanted at rest', { ...staging, status: null }, { spec: { state: 'Idle' } }],
  ])('%s', (_name, parts, expected) => {
    expect(writes(parts)).toEqual([expect.objectContaining({ shadow: 'brs-a', resourceVersion: '100', ...expected })]);
  });

  test.each([
    ['a status that is not yet at staging', staging],
    ['a status that is not yet at its reboot', behind('RebootedIntoUpdate', 'StagedAndPerformedUpdate')],
    ['a status that is not yet at monitoring', behind('MonitoringUpdate', 'RebootedIntoUpdate')],
    ['a status that is not yet at rest', behind('Idle', 'MonitoringUpdate')],
    ['a node at rest on the newest version', updated],
    ['a failure that already leads to rest', { status: { current_state: 'ErrorReset', crash_count: 1 } } as const],
    ['a shadow without status that is wanted at rest', { status: null }],
    ['an offer that was withdrawn in mid-update', { ...staging, status: { target_version: '1.0.0' } }],
  ])('waits for %s', (_name, parts) => {
    expect(writes(parts)).toEqual([]);
  });

  test('a newer offer before the agent has begun changes the version of the start', () => {
    const { commands } = plan(fleet({ a: { ...staging, status: { target_version: '1.2.0' } } }), POLICY, NOW);
    expect(commands).toEqual([
      expect.objectContaining({ kind: 'start', ...spec('StagedAndPerformedUpdate', '1.2.0') }),
    ]);
  });

  test('nothing is decided on a view that is older than an own write', () => {
    expect(writes({ stale: true })).toEqual([]);
    expect(writes({ ...staging, status: { current_state: 'StagedAndPerformedUpdate' }, stale: true })).toEqual([]);
    expect(writes({ ...monitoring(), stale: true })).toEqual([]);
  });
});

describe('soak', () => {
  const policy = { ...POLICY, soakMs: 300_000 };
  const soaking = (since: number, more: Parameters<typeof node>[1] = {}): ReturnType<typeof plan> =>
    plan(fleet({ a: monitoring(since) }, { nodes: [node('a', more)] }), policy, NOW);

  test('counts from the entry into monitoring, though the node was never seen to be not Ready', () => {
    expect(soaking(-4).commands).toEqual([]);
    expect(soaking(-4).requeueAt).toBe(minutes(1));
    expect(soaking(-5).commands).toHaveLength(1);
  });

  test('begins anew when the node was not Ready', () => {
    expect(soaking(-60, { readyChangedAt: minutes(-1) }).requeueAt).toBe(minutes(4));
  });

  test('fails when the node stays not Ready', () => {
    const down = soaking(-60, { ready: false, readyChangedAt: minutes(-15) });
    expect(down.verdicts).toEqual([expect.objectContaining({ reason: 'SoakFailed' })]);
    expect(down.commands).toEqual([]);
  });
});
