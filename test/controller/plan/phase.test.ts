import { describe, expect, test } from '@jest/globals';
import {
  isLetThrough,
  isStepOver,
  isUndisturbed,
  type Phase,
  phaseOf,
} from '../../../runtime/controller/plan/facts/phase.ts';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { DRAINED, MARKS, moment, node, type Parts, shadow } from './fleet.ts';

type State = 'Idle' | 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate';
const at = (state: State, status: Parts['status'] = {}): Parts => ({ spec: { state, version: '1.1.0' }, status });
const STAGED = { current_state: 'StagedAndPerformedUpdate' } as const;
const REQUEST = { boot_id: 'boot-1', version: '1.1.0', requested_at: moment(0) };
const refused = { started_at: moment(0), pods_left: 1, blocked_by: ['shop/web'] };
const phase = (parts: Parts, more: Partial<NodeView> = {}): Phase =>
  phaseOf(shadow('a', parts), node('a', { bootId: 'boot-1', ...more }));

describe('the phase of a node', () => {
  test.each<[string, Phase, object]>([
    ['without a shadow', phaseOf(undefined, node('a')), { kind: 'unknown' }],
    ['that has not reported', phase({ status: null }), { kind: 'unknown' }],
    ['at rest', phase({}), { kind: 'resting', spent: false }],
    ['that is told a version', phase(at('StagedAndPerformedUpdate')), { kind: 'staging' }],
    ['that has staged it', phase(at('StagedAndPerformedUpdate', STAGED)), { kind: 'staged' }],
    ['that may be drained', phase(at('RebootedIntoUpdate', STAGED)), { kind: 'asked', refusedBy: [] }],
    [
      'whose drain is refused, though somebody has cordoned it',
      phase(at('RebootedIntoUpdate', { ...STAGED, drain: refused }), { unschedulable: true }),
      { kind: 'asked', refusedBy: ['shop/web'] },
    ],
    ['that is drained', phase(at('RebootedIntoUpdate', STAGED), { marks: MARKS }), { kind: 'draining' }],
    [
      'whose record is a probe',
      phase(at('RebootedIntoUpdate', { ...STAGED, reboot: { ...REQUEST, requested_at: null } }), { marks: DRAINED }),
      { kind: 'draining' },
    ],
    [
      'that was asked to reboot',
      phase(at('RebootedIntoUpdate', { ...STAGED, reboot: REQUEST }), { marks: DRAINED }),
      { kind: 'rebooting', request: 'boot-1', goesDown: true, isBackUnreported: false },
    ],
    [
      'that is back, and whose agent is not',
      phase(at('RebootedIntoUpdate', { ...STAGED, reboot: REQUEST }), { marks: DRAINED, bootId: 'boot-2' }),
      { kind: 'rebooting', goesDown: false, isBackUnreported: true, isBackOnRecord: true },
    ],
    [
      'that is back',
      phase(at('RebootedIntoUpdate', { current_state: 'RebootedIntoUpdate' })),
      { kind: 'monitoring', at: 'reported' },
    ],
    ['that is told to monitor', phase(at('MonitoringUpdate', STAGED)), { kind: 'monitoring', at: 'told' }],
    [
      'that soaks',
      phase(at('MonitoringUpdate', { current_state: 'MonitoringUpdate' })),
      { kind: 'monitoring', at: 'soaking' },
    ],
    [
      'that has failed',
      phase(at('RebootedIntoUpdate', { current_state: 'ErrorReset' })),
      { kind: 'failed', step: 'RebootedIntoUpdate' },
    ],
    ['that is called off', phase(at('Idle', STAGED)), { kind: 'returning', calledOff: true }],
    [
      'whose update was ended after it was asked to reboot',
      phase(at('Idle', { ...STAGED, reboot: REQUEST })),
      { kind: 'returning', goesDown: true },
    ],
    [
      'whose spec names what is over',
      phase(at('Idle', { current_version: '1.1.0' })),
      { kind: 'resting', spent: true },
    ],
  ])('%s', (_what, found, expected) => {
    expect(found).toMatchObject(expected);
  });
});

test('one that failed in staging was never let through, and one that failed later was', () => {
  const failed = (state: State): Phase => phase(at(state, { current_state: 'ErrorReset' }));
  expect(isLetThrough(failed('StagedAndPerformedUpdate'))).toBe(false);
  expect(isLetThrough(failed('RebootedIntoUpdate'))).toBe(true);
  expect(isStepOver(failed('StagedAndPerformedUpdate'))).toBe(true);
});

test('only what has disturbed nothing may be called off', () => {
  expect(isUndisturbed(phase(at('StagedAndPerformedUpdate', STAGED)))).toBe(true);
  expect(isUndisturbed(phase(at('RebootedIntoUpdate', { ...STAGED, drain: refused })))).toBe(true);
  expect(isUndisturbed(phase(at('RebootedIntoUpdate', STAGED)))).toBe(false);
  expect(isUndisturbed(phase(at('RebootedIntoUpdate', { ...STAGED, drain: refused }), { marks: MARKS }))).toBe(false);
});
