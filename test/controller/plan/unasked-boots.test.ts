import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import {
  entered,
  fleet,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  reasons,
  started,
  UNPROVEN_TOO,
  type World,
} from './fleet.ts';

const FAILED_AT = moment(-2000);
/** What the agent of a node says that has finished 1.1.0 and has booted since. */
const said = (reason: 'Reverted' | 'Unstable', more: Parts['status'] = {}): Parts => ({
  status: {
    crash_count: 1,
    failed_versions: ['1.1.0'],
    state_transition_failure_timestamp: FAILED_AT,
    last_failure: { state: 'Idle', reason, message: 'nobody had asked for it', version: '1.1.0', time: FAILED_AT },
    ...more,
  },
});
const reverted = (more?: Parts['status']): Parts => said('Reverted', more);
const unstable = (more?: Parts['status']): Parts =>
  said('Unstable', {
    current_version: '1.1.0',
    finished: { version: '1.1.0', at: moment(-2010), boot_id: 'b', unasked_boots: 2 },
    ...more,
  });
const on = (a: Parts, its: Partial<NodeView> = {}): World => fleet({ a }, { nodes: [node('a', its)] });
const ONE_FAILURE = { ...UNPROVEN_TOO, maxFailed: { kind: 'count', count: 1 } } as const;

describe('a node that has left, unasked, a release that it had finished', () => {
  test('is not updated to it again, however long ago it was', () => {
    expect(started(on(reverted()), UNPROVEN_TOO)).toEqual([]);
    expect(plan(on(reverted()), POLICY, NOW).verdicts[0]).toMatchObject({
      reason: 'Reverted',
      message: 'nobody had asked for it',
    });
  });

  test('is where somebody asks for another try, by that failure, or where it is offered another release', () => {
    expect(started(on(reverted(), { retryOf: FAILED_AT }), UNPROVEN_TOO)).toEqual(['a']);
    expect(started(on(reverted(), { retryOf: moment(-1) }), UNPROVEN_TOO)).toEqual([]);
    expect(started(on(reverted(), { askedBy: 'ann' }), UNPROVEN_TOO)).toEqual([]);
    expect(started(on(reverted({ target_version: '1.2.0' })), UNPROVEN_TOO)).toEqual(['a']);
  });

  test('says no more of it once it is not offered the release, and while somebody holds it', () => {
    expect(reasons(on(reverted({ target_version: '1.0.0' })))).toEqual({ a: 'UpToDate' });
    expect(reasons(on(reverted(), { held: true }))).toEqual({ a: 'Held' });
  });

  test('counts as failed on the release, for others', () => {
    expect(reasons(fleet({ a: reverted(), b: {} }), ONE_FAILURE)).toEqual({ a: 'Reverted', b: 'RolloutHalted' });
  });
});

describe('a node that boots again and again on the release that it has finished', () => {
  test('says so, counts as failed on it, and proves nothing', () => {
    expect(reasons(fleet({ a: unstable(), b: {} }), ONE_FAILURE)).toEqual({ a: 'Unstable', b: 'RolloutHalted' });
    const calm = unstable({ finished: { version: '1.1.0', at: moment(-2010), boot_id: 'b', unasked_boots: 1 } });
    const { last_failure: _, ...none } = calm.status!;
    expect(reasons(fleet({ a: { status: none }, b: {} }), ONE_FAILURE)).toEqual({ a: 'UpToDate', b: 'Updating' });
  });

  test('is updated to the next one, and says nothing while somebody holds it or takes it away', () => {
    expect(started(on(unstable({ target_version: '1.2.0' })), UNPROVEN_TOO)).toEqual(['a']);
    expect(reasons(on(unstable(), { held: true }))).toEqual({ a: 'UpToDate' });
    expect(reasons(on(unstable(), { leaving: true }))).toEqual({ a: 'UpToDate' });
  });

  test.each([
    ['holds it', { held: true }],
    ['takes it away', { leaving: true }],
  ])('has failed on it all the same where somebody %s later', (_, its) => {
    const calm = { ...unstable(), finishedAt: minutes(-2010) };
    const before = fleet({ a: calm, b: {} });
    const known = entered(before, { ...POLICY, ...ONE_FAILURE }, NOW);
    const world = { ...known, nodes: [node('a', its), node('b')] };
    expect(reasons(world, ONE_FAILURE)).toMatchObject({ b: 'RolloutHalted' });
  });
});
