import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { WindowState } from '../../../runtime/controller/plan/facts/policies.ts';
import {
  DRAINED,
  entered,
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
  type Rules,
  permit,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { SMOKE, withLedger } from './kept.ts';
import { anyWorld } from './policies.ts';
import { policy } from './worlds.ts';
import { runs } from '../../random.ts';

/** Far beyond everything that a world of the generator waits for. */
const NEVER = minutes(100_000);

/** The same world at another time: nothing has happened in it but what its schedule does by itself. */
function later(snapshot: World, now: number): World {
  const turned = (window: WindowState): WindowState =>
    window.changesAt === undefined || now < window.changesAt ? window : changed(window, window.changesAt);
  const policies = snapshot.policies.map((one) =>
    one.kind === 'valid' ? Object.assign({}, one, { window: turned(one.window) }) : one,
  );
  return { ...snapshot, policies, window: turned(snapshot.window) };
}

function changed({ open, triggeredAt }: WindowState, at: number): WindowState {
  const next = { changesAt: at + 3_600_000 };
  if (open || triggeredAt === undefined) return { ...next, open: !open, triggeredAt: undefined };
  return { ...next, open: false, triggeredAt: at };
}

/**
 * Everything that a plan says, but for the time at which it says so, for who takes budget, for what ledgers note, for the place in the queue, and
 * for how late a release will be to the millisecond: nobody is woken to be told of that.
 */
function said(snapshot: World, rules: Rules, now: number): string {
  const { requeueAt: _, budget: __, ledger: ___, ...rest } = plan(later(snapshot, now), rules, now);
  return JSON.stringify(rest).replaceAll(
    /"(state_transition_timestamp|compare_until|lastTransitionTime|position|ms)":("[^"]*"|\d+)/g,
    '',
  );
}

/** It is carried out by then, and others may come first once its place is free: nobody is woken for that. */
const starts = ({ commands }: ReturnType<typeof plan>): boolean => commands.some(({ kind }) => kind === 'start');

describe('requeueAt', () => {
  test('is not too late: until then a plan stays as it is, at every moment', () => {
    fc.assert(
      fc.property(anyWorld, policy, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, rules, part) => {
        const snapshot = entered(drawn, rules, NOW);
        const first = plan(snapshot, rules, NOW);
        fc.pre(!starts(first));
        const { requeueAt = NEVER } = first;
        const between = Math.floor(NOW + part * (requeueAt - 1 - NOW));
        const now = said(snapshot, rules, NOW);
        expect(said(snapshot, rules, between)).toBe(now);
        expect(said(snapshot, rules, requeueAt - 1)).toBe(now);
      }),
      runs(200),
    );
  });

  test('is not too early: at that moment the plan is another', () => {
    fc.assert(
      fc.property(anyWorld, policy, (drawn, rules) => {
        const snapshot = entered(drawn, rules, NOW);
        const first = plan(snapshot, rules, NOW);
        fc.pre(!starts(first));
        const { requeueAt } = first;
        if (requeueAt !== undefined) expect(said(snapshot, rules, requeueAt)).not.toBe(said(snapshot, rules, NOW));
      }),
      runs(200),
    );
  });

  test('is left out for a node without its label whose host goes down, while the view of its shadow is stale', () => {
    const reboot = { boot_id: 'boot-1', version: '1.1.0', requested_at: new Date(NOW).toISOString() };
    const leaving: Parts = { ...rebooting, status: { ...rebooting.status, reboot } };
    const wakes = (stale: boolean): number | undefined => {
      const world = fleet({ a: { ...leaving, stale } }, { nodes: [node('a', { managed: false })] });
      return plan(world, POLICY, NOW).requeueAt;
    };
    expect(wakes(false)).toBe(NOW + POLICY.returnTimeoutMs);
    expect(wakes(true)).toBeUndefined();
  });

  const STAGED = { current_state: 'StagedAndPerformedUpdate' } as const;
  const cordoned = (name: string, minute: number) => node(name, { unschedulable: true, outAt: minutes(minute - 60) });
  const atOnce = (count: number): Rules => ({ ...POLICY, ...UNPROVEN_TOO, maxConcurrent: { kind: 'count', count } });
  test.each<readonly [why: string, wakes: number | undefined, world: World, rules: Rules]>([
    [
      'one that was called off and has no permit, where nobody waits for its place',
      minutes(30),
      fleet({ a: { status: { ...STAGED, target_version: '1.0.0' } } }),
      POLICY,
    ],
    [
      'its new ruler, where its agent is silent, so that nothing goes on with its update',
      undefined,
      fleet(
        { a: { ...staging, status: STAGED } },
        { silentSince: new Map([['a', NOW - POLICY.agentTimeoutMs]]), ruledSince: new Map([['uid-a', NOW - 15_000]]) },
      ),
      POLICY,
    ],
    [
      'its new ruler, where it is told to drain, and waits for nothing any more',
      minutes(90),
      fleet({ a: rebooting }, { ruledSince: new Map([['uid-a', NOW - 15_000]]) }),
      POLICY,
    ],
    [
      'a place under its policy, where none is left over all policies',
      minutes(180),
      fleet(
        { a: {}, b: updated, c: staging },
        { nodes: [node('a'), cordoned('b', 20), node('c')], permits: [permit('c'), permit('ghost')] },
      ),
      atOnce(2),
    ],
    [
      'its own place, which it would need again',
      minutes(180),
      fleet({ a: {}, b: staging }, { nodes: [cordoned('a', 20), node('b')], permits: [permit('b')] }),
      atOnce(1),
    ],
  ])('leaves out %s', (_why, wakes, world, rules) => {
    expect(plan(world, rules, NOW).requeueAt).toBe(wakes);
  });
});

test('requeueAt is the moment at which a check is tried again', () => {
  const rules: Rules = { ...POLICY, checks: { ...POLICY.checks, proof: [SMOKE] } };
  const smoke = { says: SMOKE.says, attempt: '', since: moment(0.25), tries: 2 };
  const world = withLedger(fleet({ a: {}, b: updated }), { policies: { '': { checks: { smoke } } } });
  const { tries, requeueAt } = plan(world, rules, NOW);
  expect([tries, requeueAt]).toEqual([[], minutes(0.25)]);
  expect(plan(world, rules, minutes(0.25)).tries).toHaveLength(1);
});

/** One fleet for each thing that time alone ends, `left` milliseconds from now. */
const TIMED: Readonly<Record<string, (left: number) => World>> = {
  backoff: (left) => {
    const failedAt = new Date(NOW + left - 120_001).toISOString();
    const status = { crash_count: 1, failed_versions: [], state_transition_failure_timestamp: failedAt };
    return fleet({ a: { status } });
  },
  'a window that becomes too short': (left) =>
    fleet(
      { a: { lastUpdateMs: 600_000 }, b: staging },
      { window: { open: true, triggeredAt: undefined, changesAt: NOW + left + 599_999 } },
    ),
  'a policy that rules only since a moment ago': (left) =>
    fleet({ a: {} }, { ruledSince: new Map([['uid-a', NOW + left - 30_000]]) }),
  'an agent that is silent': (left) => fleet({ a: updated }, { silentSince: new Map([['a', NOW + left - 900_000]]) }),
  'a reboot that takes too long': (left) =>
    fleet(
      { a: rebooting },
      { nodes: [node('a', { ready: false, readyChangedAt: NOW + left - 900_000, marks: DRAINED })] },
    ),
  'a soak that passes': (left) =>
    fleet({ a: monitoring(-600) }, { nodes: [node('a', { readyChangedAt: NOW + left - 300_000 })] }),
  'a soak that fails': (left) =>
    fleet({ a: monitoring(-600) }, { nodes: [node('a', { ready: false, readyChangedAt: NOW + left - 900_000 })] }),
  'a release that waits for nobody any more': (left) =>
    fleet(
      { a: {}, b: updated },
      {
        nodes: [node('a', { ready: false, readyChangedAt: NOW + left - 900_000 }), node('b')],
        permits: [permit('a', 'unknown')],
      },
    ),
  'an outage that is no longer waited for': (left) =>
    fleet(
      { a: {}, b: {} },
      { nodes: [node('a', { ready: false, readyChangedAt: NOW + left - 3_600_000 }), node('b')] },
    ),
};

test.each(Object.entries(TIMED))(
  'requeueAt is exact for %s: the same until then, and another at it',
  (_name, timed) => {
    const rules = { ...POLICY, soakMs: 300_000, mustFit: true };
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 100 }), (seconds) => {
        const snapshot = timed(seconds * 1000);
        const { requeueAt } = plan(snapshot, rules, NOW);
        expect(requeueAt).toBe(NOW + seconds * 1000);
        expect(said(snapshot, rules, requeueAt! - 1)).toBe(said(snapshot, rules, NOW));
        expect(said(snapshot, rules, requeueAt!)).not.toBe(said(snapshot, rules, NOW));
      }),
    );
  },
);
