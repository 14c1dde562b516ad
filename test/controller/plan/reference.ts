import type { Parts } from './fleet.ts';

/** What the upstream operator documents about its controller, as data: each row is one sentence of its state machine or its scheduling. */

const AT_TARGET = { status: { current_version: '1.1.0' } } as const;
const AT_VERSION = { current_version: '1.0.0', target_version: '1.1.0' } as const;

/** The spec that follows, as `state version`; undefined = it waits. */
export const TRANSITIONS: readonly (readonly [says: string, parts: Parts, next: string | undefined])[] = [
  ['no status: wanted at rest', { spec: { state: 'StagedAndPerformedUpdate' }, status: null }, 'Idle -'],
  ['idle and current != target: stage', { status: AT_VERSION }, 'StagedAndPerformedUpdate 1.1.0'],
  ['idle and current == target: stay', { status: { target_version: '1.0.0' } }, undefined],
  [
    'idle, current == target, and spec still names a version: at rest',
    { ...AT_TARGET, spec: { version: '1.1.0' } },
    'Idle -',
  ],
  ['status not yet at its reboot', behind('RebootedIntoUpdate', 'StagedAndPerformedUpdate'), undefined],
  ['status not yet at monitoring', behind('MonitoringUpdate', 'RebootedIntoUpdate'), undefined],
  ['status not yet at rest', behind('Idle', 'MonitoringUpdate'), undefined],
  ['status not yet at staging', { spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' } }, undefined],
  ['staged', inState('StagedAndPerformedUpdate'), 'RebootedIntoUpdate 1.1.0'],
  ['rebooted', inState('RebootedIntoUpdate', '1.1.0'), 'MonitoringUpdate 1.1.0'],
  ['monitored', inState('MonitoringUpdate', '1.1.0'), 'Idle 1.1.0'],
  ['failed in staging', failedIn('StagedAndPerformedUpdate'), 'Idle 1.1.0'],
  ['failed in the reboot', failedIn('RebootedIntoUpdate'), 'Idle 1.1.0'],
  ['failed in monitoring', failedIn('MonitoringUpdate'), 'Idle 1.1.0'],
  ['failed and told to rest: waits for the agent', failedIn('Idle'), undefined],
];

/** Who starts first, of nodes by their failures in a row; `own` is the node of the controller. */
export const ORDER: readonly (readonly [says: string, crashes: Readonly<Record<string, number>>, order: string])[] = [
  ['the fewest crashes first', { a: 2, b: 0, c: 1 }, 'b c a'],
  ['the node of the controller last of all', { own: 0, b: 3, c: 1 }, 'c b own'],
];

/** Whether updates may start by the schedule at noon on Monday, 5 January 2026, UTC, for a node that was offered one at eight. */
export const SCHEDULES: readonly (readonly [says: string, expression: string, starts: boolean])[] = [
  ['the default: always', '* * * * * * *', true],
  ['six fields: any year', '* * * * * *', true],
  ['consecutive seconds are a window: within it', '* * 10-12 * * * *', true],
  ['after it', '* * 9-11 * * * *', false],
  ['over midnight in two ranges: outside', '* * 18-23,0-5 * * * *', false],
  ['on a named day: Monday', '* * * * * Mon *', true],
  ['on another', '* * * * * Tue-Sat,Sun *', false],
  ['the second day of the week is Monday', '* * * * * 2 *', true],
  ['anything else is a trigger that runs until all are done: after it', '0 0 9 * * * *', true],
  ['before the update was offered it was no trigger for it', '0 0 7 * * * *', false],
  ['nor is one to come', '0 0 13 * * * *', false],
  ['two seconds apart are no window', '0,2 0 7 * * * *', false],
  ['a year that is over', '* * * * * * 2025', false],
];

type Wanted = 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate';

function behind(wanted: Wanted | 'Idle', current_state: Wanted): Parts {
  return { spec: { state: wanted, version: '1.1.0' }, status: { current_state } };
}

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
