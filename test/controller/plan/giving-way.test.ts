import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { ARRIVING_KEY } from '../../../runtime/api/marks/taints.ts';
import { ASKED_FOR_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import {
  fleet,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  type Rules,
  ruling,
  staging,
  started,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { ZONE } from './members.ts';

/** A node whose pods no eviction can move gives its place to one whose pods can all go, before it is disturbed. */

const WEB = 'PodDisruptionBudget shop/web (pod shop/web-1)';
const looked = (blocked_by: readonly string[], at = -1) => ({
  preflight: { looked_at: moment(at), blocked_by: [...blocked_by] },
});
const PREPARED = { version: '1.1.0', boot_id: 'boot-1' };

/** In service with its permit, its version staged. */
const staged = (found: object = looked([WEB]), more: Parts = {}): Parts => ({
  ...staging,
  stateSeenAt: minutes(-1),
  ...more,
  status: { current_state: 'StagedAndPerformedUpdate', ...found },
});
/** At rest, with its update prepared ahead. */
const ahead = (found: object = looked([]), more: Parts['status'] = {}): Parts => ({
  hint: { version: '1.1.0', since: minutes(-3) },
  status: { staged: PREPARED, ...found, ...more },
});
const preparing = (said: object = {}): Parts => ({
  hint: { version: '1.1.0', since: minutes(-3) },
  status: { staged: said },
});

/** `a` has the one permit. */
const beside = (a: Parts, b: Parts, more: Partial<World> = {}): World =>
  fleet({ a, b }, { permits: [permit('a')], ...more });

/** What becomes of each node that has staged its version: `call-off a`, or `goes on a`. */
function becomes(world: World, rules: Partial<Rules> = {}, now = NOW): readonly string[] {
  const { commands } = plan(world, { ...POLICY, ...rules }, now);
  return commands.flatMap((one) => {
    if (one.kind === 'call-off') return [`call-off ${one.node}`];
    return one.kind === 'set-spec' ? [`${one.spec.state} ${one.shadow.replace('brs-', '')}`] : [];
  });
}
const GOES_ON = ['RebootedIntoUpdate a'];
const atOnce = (count: number): Partial<Rules> => ({ ...UNPROVEN_TOO, maxConcurrent: { kind: 'count', count } });

describe('gives its place', () => {
  test.each<[string, Partial<Rules>]>([
    ['of the budget', UNPROVEN_TOO],
    ['as the one that is to prove the release', { maxConcurrent: { kind: 'count', count: 9 } }],
  ])('%s to one that waits, was looked at and can be drained', (_what, rules) => {
    const world = beside(staged(), ahead());
    expect(becomes(world, rules)).toEqual(['call-off a']);
    expect(plan(world, { ...POLICY, ...rules }, NOW).verdicts[0]).toMatchObject({
      reason: 'DrainBlocked',
      message: `its drain would wait for ${WEB}`,
    });
  });

  test('and comes after it, though its permit is on the list still', () => {
    const off: Parts = { spec: { state: 'Idle', version: '1.1.0' }, status: { staged: {} } };
    expect(started(beside(off, ahead()))).toEqual([]);
    expect(started(fleet({ a: off, b: ahead() }))).toEqual(['b']);
  });

  test('to as many as there are, one each', () => {
    const permits = ['a', 'b'].map((name) => permit(name));
    const world = (d: Parts): World => fleet({ a: staged(), b: staged(), c: ahead(), d }, { permits });
    expect(becomes(world({}), atOnce(2))).toEqual(['call-off a', 'RebootedIntoUpdate b']);
    expect(becomes(world(ahead()), atOnce(2))).toEqual(['call-off a', 'call-off b']);
  });
});

describe('goes on, and is drained', () => {
  test.each<[string, Parts, Parts]>([
    ['nothing is known of the other', staged(), ahead({})],
    ['the other has prepared nothing', staged(), {}],
    ['the other cannot be drained either', staged(), ahead(looked([WEB]))],
    ['the last drain of the other has failed, and it comes later', staged(), ahead(looked([]), { crash_count: 1 })],
    ['nobody has looked', staged({}), ahead()],
    ['its own pods can go', staged(looked([])), ahead()],
    ['it was looked at too long ago', staged(looked([WEB], -10)), ahead()],
    ['somebody has asked for it', staged(looked([WEB]), { isAskedFor: true }), ahead()],
    [
      'the other was prepared in another boot',
      staged(),
      ahead(looked([]), { staged: { ...PREPARED, boot_id: 'boot-0' } }),
    ],
  ])('where %s', (_where, a, b) => {
    expect(becomes(beside(a, b))).toEqual(GOES_ON);
  });

  const on = (its: Partial<NodeView>, more: Partial<NodeView> = {}) => ({ nodes: [node('a', more), node('b', its)] });
  const PROVES_FIRST: Partial<Rules> = { maxConcurrent: { kind: 'count', count: 9 } };
  const pools = (name: 'a' | 'b') => ({ labels: { pool: name } });
  const policies = ['a', 'b'].map((pool) => ruling(pool, { selector: { matchLabels: { pool } } }));
  test.each<[string, Partial<World>, Partial<Rules>]>([
    ['is held', on({ held: true }), {}],
    ['proves another release', on({ family: 'other' }), PROVES_FIRST],
    ['is of another policy, whose turn is another', { ...on(pools('b'), pools('a')), policies }, {}],
    [
      'waits for its zone, which others of that zone may keep busy',
      on({ labels: { [ZONE]: 'y' } }, { labels: { [ZONE]: 'x' } }),
      { ...atOnce(9), zones: { key: ZONE, atOnce: 1 } },
    ],
    ['is the node that the controller runs on', {}, { ownNode: 'b' }],
    [
      'has just joined, and takes no place of others',
      on({ createdAt: minutes(-2), signs: [`taint ${ARRIVING_KEY}`] }),
      PROVES_FIRST,
    ],
  ])('where the other %s', (_where, more, rules) => {
    expect(becomes(beside(staged(), ahead(), more), rules)).toEqual(GOES_ON);
  });

  test('where its policy pauses, so that the other would not start', () => {
    const done = { ...updated, endedAt: minutes(-2) };
    const world = fleet({ a: staged(), b: ahead(), c: done }, { permits: [permit('a')] });
    const rules = { ...PROVES_FIRST, proof: { nodes: { kind: 'count', count: 2 }, soakMs: 0 } } as const;
    expect(becomes(world, rules)).toEqual(['call-off a']);
    expect(becomes(world, { ...rules, pauseBetweenMs: 1_800_000 })).toEqual(GOES_ON);
  });

  test('where a place is free for the other anyway', () => {
    expect(becomes(beside(staged(), ahead()), atOnce(2))).toEqual(GOES_ON);
  });
});

test('that somebody has asked for an update is said by its start, kept for a newer offer, and taken back by the next', () => {
  const said = (its: Partial<NodeView>, parts: Parts = {}) =>
    plan(fleet({ a: parts }, { nodes: [node('a', its)] }), POLICY, NOW).commands.map((one) =>
      one.kind === 'start' ? one.annotations?.[ASKED_FOR_ANNOTATION] : one.kind,
    );
  expect(said({ askedBy: 'ann' })).toEqual(['ann']);
  expect(said({}, { isAskedFor: true })).toEqual([null]);
  const spec = { state: 'StagedAndPerformedUpdate', version: '1.0.5' } as const;
  expect(said({}, { isAskedFor: true, spec })).toEqual([undefined]);
  expect(said({})).toEqual([undefined]);
});

describe('waits while one that may take its place prepares its update', () => {
  const waits = (b: Parts, a = staged()): boolean => becomes(beside(a, b)).length === 0;

  test('for two minutes at most, and the plan wakes up for their end', () => {
    const world = beside(staged(), preparing());
    expect([becomes(world), plan(world, POLICY, NOW).requeueAt]).toEqual([[], minutes(1)]);
    expect(becomes(world, {}, minutes(1))).toEqual(GOES_ON);
  });

  test.each<[string, Parts, boolean]>([
    ['prepares', preparing(), true],
    ['could not be prepared', preparing({ error: '1.1.0: no' }), false],
    ['is named nothing', { status: { staged: {} } }, false],
    ['was named it too long ago', { ...preparing(), hint: { version: '1.1.0', since: minutes(-181) } }, false],
  ])('where the other %s: %p', (_what, b, expected) => {
    expect(waits(b)).toBe(expected);
  });

  test('and prefers one that is ready', () => {
    const world = (names: Record<string, Parts>): World => fleet({ a: staged(), ...names }, { permits: [permit('a')] });
    expect(becomes(world({ b: preparing(), c: ahead() }))).toEqual(['call-off a']);
  });
});

describe('in the order of starts a node that was found blocked', () => {
  const order = (a: Parts, now = NOW) =>
    plan(fleet({ a, b: ahead() }), POLICY, now).commands.flatMap((one) => (one.kind === 'start' ? [one.node] : []));

  test('comes after the others for ten minutes, and the plan wakes up for their end', () => {
    const a = ahead(looked([WEB], -1));
    expect([order(a), order(a, minutes(9))]).toEqual([['b'], ['a']]);
    const world = fleet({ a, b: ahead(), c: staging }, { permits: [permit('c')] });
    expect(plan(world, { ...POLICY, readAhead: { kind: 'count', count: 0 } }, NOW).requeueAt).toBe(minutes(9));
  });

  test('does not once a later look has found its pods free, whatever its last drain has named', () => {
    const drain = { started_at: moment(-60), pods_left: 1, blocked_by: [WEB] };
    expect(order(ahead({ drain }))).toEqual(['b']);
    expect(order(ahead({ ...looked([]), drain }))).toEqual(['a']);
  });
});

test('one that was found blocked is named nothing to prepare; once it has, it keeps that, and takes no place of those that prepare', () => {
  const able = (found: object = {}): Parts => ({ status: { staged: {}, ...found } });
  const named = (b: Parts, count = 1): readonly string[] => {
    const world = fleet({ a: staging, b, c: able() }, { permits: [permit('a')] });
    const { commands } = plan(world, { ...POLICY, readAhead: { kind: 'count', count } }, NOW);
    return commands.flatMap((one) => (one.kind === 'set-hint' ? [`${one.shadow} ${one.version}`] : []));
  };
  expect(named(ahead())).toEqual([]);
  expect(named(ahead(looked([WEB])))).toEqual(['brs-c 1.1.0']);
  expect(named(ahead(looked([WEB], -60)))).toEqual(['brs-c 1.1.0']);
  expect(named({ ...preparing(), ...able(looked([WEB], -60)) })).toEqual([]);
  expect(named(able(looked([WEB])), 2)).toEqual(['brs-c 1.1.0']);
  expect(named(able(looked([])), 2)).toEqual(['brs-b 1.1.0', 'brs-c 1.1.0']);
});
