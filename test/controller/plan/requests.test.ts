import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  reasons,
  ruling,
  permit,
  staging,
  started,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';

/** What people ask for on a node: its update next and at once, or an end of its pause (rule P9). */

const ASKED = { askedBy: 'ann' } as const;
const CLOSED = { open: false, triggeredAt: undefined, changesAt: minutes(60) };

/** Nodes a, which somebody asks for, and b, which is older. */
const asking = (more: Partial<World> = {}, a: Parts = {}, on: Partial<NodeView> = ASKED): World =>
  fleet({ a, b: {} }, { nodes: [node('a', on), node('b', { createdAt: minutes(-90_000) })], ...more });

const forgotten = (world: World): readonly string[] =>
  plan(world, POLICY, NOW).commands.flatMap((command) => (command.kind === 'forget' ? [command.node] : []));

describe('a node that somebody asks for', () => {
  test('comes before older ones and those that failed less, and its start says who asked', () => {
    const failed = { crash_count: 2, failed_versions: [], state_transition_failure_timestamp: moment(-2000) };
    const world = asking({}, { status: failed });
    expect(started(world, UNPROVEN_TOO)).toEqual(['a']);
    expect(plan(world, { ...POLICY, ...UNPROVEN_TOO }, NOW).commands).toContainEqual(expect.objectContaining(ASKED));
  });

  test('starts outside of the windows, alone, and where its update would not fit any more', () => {
    const roomy = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
    expect(started(asking({ window: CLOSED }), roomy)).toEqual(['a']);
    expect(reasons(asking({ window: CLOSED }), roomy)).toEqual({ a: 'Updating', b: 'OutsideWindow' });
    const closing = { open: true, triggeredAt: undefined, changesAt: minutes(1) };
    const slow = { lastUpdateMs: 600_000 };
    expect(started(asking({ window: closing }, slow), { ...roomy, mustFit: true })).toEqual(['a']);
  });

  test('comes first where the controller itself runs on it', () => {
    expect(started(asking(), { ...UNPROVEN_TOO, ownNode: 'a' })).toEqual(['a']);
  });

  test.each<[string, World]>([
    ['above a budget', asking({ permits: [permit('x')] })],
    ['against a hold', asking({}, {}, { ...ASKED, held: true })],
    ['against a pause of the fleet', asking({ paused: true })],
    ['against a pause of its policy', asking({ policies: [ruling('all', { selector: {}, paused: true })] })],
    [
      'in a freeze',
      asking({
        policies: [ruling('all', { selector: {}, freezes: [{ from: 0, to: minutes(9), reason: 'no' }] })],
      }),
    ],
    [
      'in the pause after another update',
      asking({ policies: [ruling('all', { selector: {}, pauseBetweenMs: 600_000 })] }, { endedAt: minutes(-1) }),
    ],
    ['where it is not Ready', asking({}, {}, { ...ASKED, ready: false })],
    [
      'before its pause after a failure',
      asking({}, { status: { crash_count: 3, failed_versions: [], state_transition_failure_timestamp: moment(-1) } }),
    ],
  ])('does not start %s', (_, world) => {
    expect(started(world, UNPROVEN_TOO)).not.toContain('a');
    expect(forgotten(world)).toEqual([]);
  });

  test('does not start on a release that is halted', () => {
    const failed = { status: { failed_versions: ['1.1.0'], crash_count: 5 } };
    const world = fleet({ a: {}, b: failed, c: failed }, { nodes: [node('a', ASKED), node('b'), node('c')] });
    expect(reasons(world)).toMatchObject({ a: 'RolloutHalted' });
  });
});

describe('the pause after a failure', () => {
  const at = moment(-1);
  const failed = { crash_count: 3, failed_versions: [], state_transition_failure_timestamp: at };
  const retried = (retryOf: string): World => fleet({ a: { status: failed } }, { nodes: [node('a', { retryOf })] });

  test('ends where somebody names that failure', () => {
    expect(started(retried(at), UNPROVEN_TOO)).toEqual(['a']);
  });

  test('of a drain lasts until its pods that were ending are due, says so, and ends where somebody names the failure', () => {
    const drain_failed = { left: [], due: moment(120) };
    const failure = { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: 'no', time: at } as const;
    const drained: Parts = { status: { ...failed, drain_failed, last_failure: failure } };
    const verdicts = plan(fleet({ a: drained }), { ...POLICY, ...UNPROVEN_TOO }, NOW).verdicts;
    expect(verdicts).toMatchObject([{ reason: 'BackingOff', until: minutes(120) }]);
    expect(verdicts[0]!.message).toContain('the last drain failed, and a pod may take that long');
    expect(started(fleet({ a: drained }, { nodes: [node('a', { retryOf: at })] }), UNPROVEN_TOO)).toEqual(['a']);
    const other: Parts = { status: { ...failed, drain_failed, last_failure: { ...failure, reason: 'HostFailed' } } };
    expect(plan(fleet({ a: other }), { ...POLICY, ...UNPROVEN_TOO }, NOW).verdicts).toMatchObject([
      { until: minutes(7) + 1 },
    ]);
  });

  test('of another failure does not end by it', () => {
    expect(started(retried(moment(-2)), UNPROVEN_TOO)).toEqual([]);
    expect(reasons(retried(moment(-2)), UNPROVEN_TOO)).toEqual({ a: 'BackingOff' });
  });
});

describe('what was asked for is taken away', () => {
  test.each<[string, Parts, Partial<NodeView>]>([
    ['once the update has begun', staging, ASKED],
    ['where there is none to begin', updated, ASKED],
    ['with what ended a pause', staging, { retryOf: moment(-1) }],
  ])('%s', (_, a, on) => {
    expect(forgotten(asking({}, a, on))).toEqual(['a']);
  });

  test.each<[string, Parts, Partial<NodeView>]>([
    [
      'while its agent returns from a failure',
      { spec: { state: 'Idle', version: '1.1.0' }, status: { current_state: 'ErrorReset', crash_count: 1 } },
      ASKED,
    ],
    [
      'while its agent returns from an update that was called off',
      { spec: { state: 'Idle', version: '1.1.0' }, status: { current_state: 'StagedAndPerformedUpdate' } },
      ASKED,
    ],
    ['while it waits', {}, ASKED],
    ['on what is known to be out of date', { ...staging, stale: true }, ASKED],
    ['beside a write of the marks', updated, { ...ASKED, marks: MARKS }],
    // The apiserver lets its drain be tried again.
    [
      'before the drain that may be tried again',
      { ...staging, status: { ...staging.status, crash_count: 1, state_transition_failure_timestamp: moment(-1) } },
      { retryOf: moment(-1) },
    ],
    ['where nobody asked', staging, {}],
  ])('but not %s', (_, a, on) => {
    expect(forgotten(asking({ permits: [permit('x')] }, a, on))).toEqual([]);
  });
});
