import { describe, expect, test } from '@jest/globals';
import { decide, type Step, type View } from '../../runtime/agent/decide.ts';
import type { Spec, Status } from '../../runtime/api/shadow/model.ts';
import type { State } from '../../runtime/api/shadow/states.ts';

const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-1' };

function view(spec: Spec, status: Partial<Status> | undefined, others: Partial<View> = {}): View {
  const whole = { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0 } as const;
  const metadata = { name: 'brs-n1', uid: 's', resourceVersion: '7', ownerReferences: [OWNER] };
  const shadow = { metadata, spec, ...(status && { status: { ...whole, ...status } }) };
  return { shadow, nodeUid: 'uid-1', version: '1.38.0', bootId: 'boot-1', ...others };
}

const wanted = (state: State): Spec => ({ state, version: '1.39.0' });
const record = (
  boot: string,
  requested: string | null = '2026-01-01T00:00:00Z',
  version = '1.39.0',
): Partial<Status> => ({
  current_state: 'StagedAndPerformedUpdate',
  reboot: { boot_id: boot, version, requested_at: requested },
});

describe('what the agent does next', () => {
  test.each<[string, View, Step]>([
    ['without a shadow', { ...view(wanted('Idle'), {}), shadow: undefined }, { kind: 'create' }],
    ['with the shadow of another node', view(wanted('Idle'), {}, { nodeUid: 'uid-2' }), { kind: 'identify' }],
    ['without a status', view(wanted('RebootedIntoUpdate'), undefined), { kind: 'introduce' }],
    ['at rest', view(wanted('Idle'), {}), { kind: 'offer' }],
    ['after a failure', view(wanted('Idle'), { current_state: 'ErrorReset' }), { kind: 'rest', succeeded: false }],
    [
      'after the monitoring',
      view(wanted('Idle'), { current_state: 'MonitoringUpdate' }),
      { kind: 'rest', succeeded: true },
    ],
    ['wanted staged', view(wanted('StagedAndPerformedUpdate'), {}), { kind: 'prepare', version: '1.39.0' }],
    ['wanted staged, without a version', view({ state: 'StagedAndPerformedUpdate' }, {}), { kind: 'wait' }],
    [
      'wanted staged at what runs',
      view(wanted('StagedAndPerformedUpdate'), {}, { version: '1.39.0' }),
      { kind: 'reached', state: 'StagedAndPerformedUpdate', release: false },
    ],
    [
      'staged',
      view(wanted('StagedAndPerformedUpdate'), { current_state: 'StagedAndPerformedUpdate' }),
      { kind: 'wait' },
    ],
    ['failed', view(wanted('StagedAndPerformedUpdate'), { current_state: 'ErrorReset' }), { kind: 'wait' }],
    ['wanted rebooted', view(wanted('RebootedIntoUpdate'), {}), { kind: 'reboot', version: '1.39.0' }],
    [
      'wanted rebooted, at the version',
      view(wanted('RebootedIntoUpdate'), record('boot-0'), { version: '1.39.0' }),
      { kind: 'reached', state: 'RebootedIntoUpdate', release: true },
    ],
    [
      'in the boot that a reboot was asked in',
      view(wanted('RebootedIntoUpdate'), record('boot-1')),
      { kind: 'reboot', version: '1.39.0' },
    ],
    [
      'in the boot after it, at the old version',
      view(wanted('RebootedIntoUpdate'), record('boot-0')),
      { kind: 'bootFailed', version: '1.39.0' },
    ],
    [
      'in the boot after a probe',
      view(wanted('RebootedIntoUpdate'), record('boot-0', null)),
      { kind: 'reboot', version: '1.39.0' },
    ],
    [
      'with the record of another update',
      view(wanted('RebootedIntoUpdate'), record('boot-0', '2026-01-01T00:00:00Z', '1.37.0')),
      { kind: 'reboot', version: '1.39.0' },
    ],
    [
      'wanted in monitoring',
      view(wanted('MonitoringUpdate'), { current_state: 'RebootedIntoUpdate' }),
      { kind: 'reached', state: 'MonitoringUpdate', release: true },
    ],
    ['in monitoring', view(wanted('MonitoringUpdate'), { current_state: 'MonitoringUpdate' }), { kind: 'wait' }],
    ['wanted in ErrorReset', view(wanted('ErrorReset'), {}), { kind: 'wait' }],
  ])('%s', (_, given, step) => {
    expect(decide(given)).toEqual(step);
  });
});
