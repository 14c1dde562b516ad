import { describe, expect, test } from '@jest/globals';
import { keepersOf } from '../../../runtime/controller/plan/plan.ts';
import { NO_CHECKS } from '../../../runtime/api/policy/checks.ts';
import { EMPTY, under } from '../../../runtime/api/release/ledger.ts';
import { shadowName } from '../../../runtime/api/shadow/names.ts';
import {
  fleet,
  ledgerObject,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  POLICY,
  reasons,
  type Rules,
  ruling,
  underRules,
  UNPROVEN_TOO,
  type World,
} from './fleet.ts';

/** The list of gates as a list: its order, and what of it people are told. */

const shut = { open: false, triggeredAt: undefined, changesAt: minutes(60) };
const kept = (world: World, name = 'a'): readonly string[] =>
  keepersOf(underRules(world, POLICY), POLICY, { now: NOW })(name).map(({ reason }) => reason);

test('a node that waits for another policy says so, and not that its own policy pauses', () => {
  const policies = [
    ruling('first', { selector: { matchLabels: { pool: 'p0' } } }),
    ruling('second', { selector: {}, priority: -1, after: ['first'], pauseBetweenMs: 600_000 }),
  ];
  const nodes = [node('a', { labels: { pool: 'p0' } }), node('b')];
  const world = fleet({ a: {}, b: { endedAt: minutes(-1) } }, { nodes, policies });
  expect(reasons(world)).toMatchObject({ b: 'WaitingForPolicy' });
});

describe('all that keeps a node from its update', () => {
  const world = fleet({ a: {}, b: {} }, { nodes: [node('a', { held: true, ready: false }), node('b')], window: shut });

  test('is told in the order of the gates, the reason of its verdict first', () => {
    expect(kept(world)).toEqual(['Held', 'NodeNotReady', 'OutsideWindow']);
    expect(kept({ ...world, paused: true }, 'b')).toEqual(['Paused', 'OutsideWindow']);
    expect(reasons(world)).toMatchObject({ a: 'Held', b: 'OutsideWindow' });
  });

  test('is nothing for one that starts, one that is up to date, and one that there is not', () => {
    const open = fleet({ a: {}, b: { status: { target_version: '1.0.0' } } });
    expect([kept(open), kept(open, 'b'), kept(open, 'c')]).toEqual([[], [], []]);
  });
});

describe('of nodes that wait for the same release, a gate keeps the one alone that it is about', () => {
  interface Case {
    readonly one?: Parts;
    readonly other?: Parts;
    readonly rules?: Partial<Rules>;
    readonly world?: (one: string) => Partial<World>;
  }
  const freely = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
  const above: Parts = { status: { current_version: '1.2.0' } };
  const crossed = { node: 'x', attempt: 'x', budgets: ['x', 'y'], times: 1, at: moment(-1) } as const;
  const check = { kind: 'job', cronJob: 'c', name: 'c', timeoutMs: 1, retries: 0, unknown: 'Wait', says: 'c' } as const;
  const failed = { says: 'c', attempt: 'none', since: moment(-1), tries: 1, result: 'Failed', at: moment(-1) } as const;
  const ledger = (one: string) => under(EMPTY, '', { checks: { [`uid-${one} before c`]: failed } });
  const release = (one: string) => ledgerObject({ family: node(one).family, version: '1.1.0' }, ledger(one));
  const failure = { crash_count: 1, state_transition_failure_timestamp: moment(-1) };

  const CASES: Readonly<Record<string, Case>> = {
    TooYoung: { other: above, rules: { version: { ...POLICY.version, minAgeMs: 600_000 } } },
    BackingOff: { one: { status: failure } },
    DrainBlocked: {
      world: (one) => ({ drainRefusals: new Map([[shadowName(one), { kind: 'called-off', retryAt: minutes(5) }]]) }),
    },
    BudgetsCrossed: { one: { crossed } },
    CheckFailed: {
      rules: { checks: { ...NO_CHECKS, before: [check] } },
      world: (one) => ({ releases: { objects: [release(one)], refused: new Map(), seeds: false } }),
    },
    RecentlyUpdated: { one: { finishedAt: minutes(-1) }, rules: { minIntervalMs: 600_000 } },
    OutsideWindow: { one: { offeredAt: NOW }, world: () => ({ window: { ...shut, triggeredAt: minutes(-1) } }) },
    FitsNoWindow: {
      one: { lastUpdateMs: 600_000 },
      other: { lastUpdateMs: 60_000 },
      rules: { mustFit: true },
      world: () => ({ longestWindowMs: 300_000 }),
    },
    NewlyRuled: { world: (one) => ({ ruledSince: new Map([[`uid-${one}`, NOW - 1000]]) }) },
    AwaitingApproval: { other: above, world: () => ({ policies: [ruling('p', { ...freely, needsApproval: true })] }) },
  };

  test.each(Object.entries(CASES).flatMap((entry) => [[...entry, 'a', 'b'] as const, [...entry, 'b', 'a'] as const]))(
    '%s',
    (reason, { one: parts = {}, other: others = {}, rules, world }, one, other) => {
      const all = fleet({ [one]: parts, [other]: others }, world?.(one));
      expect(reasons(all, { ...freely, ...rules })).toEqual({ [one]: reason, [other]: 'Updating' });
    },
  );
});
