import type { Parts } from './fleet.ts';

/** What the upstream operator documents about its controller, as data: each row is one sentence of its state machine or its scheduling. */

const AT_VERSION = { current_version: '1.0.0', target_version: '1.1.0' } as const;

/** The spec that follows, as `state version`; undefined = it waits. */
export const TRANSITIONS: readonly (readonly [says: string, parts: Parts, next: string | undefined])[] = [
  ['no status: wanted at rest', { spec: { state: 'StagedAndPerformedUpdate' }, status: null }, 'Idle -'],
  ['idle and current != target: stage', { status: AT_VERSION }, 'StagedAndPerformedUpdate 1.1.0'],
  ['idle and current == target: stay', { status: { target_version: '1.0.0' } }, undefined],
  ['status not yet at staging', { spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' } }, undefined],
  ['staged', inState('StagedAndPerformedUpdate'), 'RebootedIntoUpdate 1.1.0'],
  ['rebooted', inState('RebootedIntoUpdate', '1.1.0'), 'MonitoringUpdate 1.1.0'],
  ['monitored', inState('MonitoringUpdate', '1.1.0'), 'Idle 1.1.0'],
  ['failed in staging', failedIn('StagedAndPerformedUpdate'), 'Idle 1.1.0'],
  ['failed in the reboot', failedIn('RebootedIntoUpdate'), 'Idle 1.1.0'],
  ['failed in monitoring', failedIn('MonitoringUpdate'), 'Idle 1.1.0'],
  ['failed and told to rest: waits for the agent', failedIn('Idle'), undefined],
];

type Wanted = 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate';

function inState(state: Wanted, current_version = '1.0.0'): Parts {
  return { spec: { state, version: '1.1.0' }, status: { current_state: state, current_version } };
}

function failedIn(state: Wanted | 'Idle'): Parts {
  return { spec: { state, version: '1.1.0' }, status: { current_state: 'ErrorReset', crash_count: 1 } };
}

/** A new attempt is allowed once more than min(2^n, 1440) minutes passed since the failure. */
export const BACKOFF_MINUTES: readonly (readonly [crashes: number, minutes: number])[] = [
  [1, 2],
  [2, 4],
  [3, 8],
  [10, 1024],
  [11, 1440],
  [60, 1440],
];

/** Active = has a status, and is or is wanted elsewhere than at rest. */
export const ACTIVE: readonly (readonly [says: string, parts: Parts, active: boolean])[] = [
  ['idle and wanted idle', {}, false],
  ['idle and wanted staged', { spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' } }, true],
  ['staged', inState('StagedAndPerformedUpdate'), true],
  ['monitoring and wanted idle', { status: { current_state: 'MonitoringUpdate' } }, true],
  ['failed and wanted idle', failedIn('Idle'), true],
  ['without status', { spec: { state: 'StagedAndPerformedUpdate' }, status: null }, false],
];

/** The example in the README of the cron library that upstream uses, and the moments that it prints for it. */
export const CRON_README = {
  expression: '0   30   9,12,15     1,15       May-Aug  Mon,Wed,Fri  2018/2',
  after: '2018-05-16T00:00:00Z',
  upcoming: [
    '2018-06-01 09:30:00',
    '2018-06-01 12:30:00',
    '2018-06-01 15:30:00',
    '2018-06-15 09:30:00',
    '2018-06-15 12:30:00',
    '2018-06-15 15:30:00',
    '2018-08-01 09:30:00',
    '2018-08-01 12:30:00',
    '2018-08-01 15:30:00',
    '2018-08-15 09:30:00',
  ],
} as const;

/** UPDATE_WINDOW_START and _STOP as documented: start inclusive, stop exclusive, over midnight where stop comes first. */
export const DAILY_WINDOWS: readonly (readonly [start: string, stop: string, at: string, open: boolean])[] = [
  ['09:00:00', '21:00:00', '09:00:00', true],
  ['09:00:00', '21:00:00', '20:59:59', true],
  ['09:00:00', '21:00:00', '21:00:00', false],
  ['21:00:00', '08:30:00', '08:29:59', true],
  ['21:00:00', '08:30:00', '08:30:00', false],
  ['21:00:00', '08:30:00', '20:59:59', false],
];
