import { describe, expect, test } from '@jest/globals';
import type { CoveredPods } from '../../../runtime/api/shadow/displaced.ts';
import type { Crossed } from '../../../runtime/api/shadow/crossed.ts';
import { type Blocked, cordoned, drains, evicted, off, permitSince, planned, PROBE, told } from './crossing.ts';
import { fleet, MARKS, minutes, moment, NOW, type Parts, permit, type World } from './fleet.ts';

/** Drains that block each other, each by the pods that it has evicted: the younger is called off. */

const A: Blocked = { waits: ['x'], holds: ['y'], since: -20 };
const B: Blocked = { waits: ['y'], holds: ['x'], since: -10 };
const crossing = (a: Partial<Blocked> = {}, b: Partial<Blocked> = {}): World =>
  drains({ a: { ...A, ...a }, b: { ...B, ...b } });

const text = (node_: string, ...budgets: readonly string[]): string =>
  `its drain and that of ${node_} block each other (PodDisruptionBudget ${budgets.join(', ')})`;
const OF_A = `${text('b', 'shop/x', 'shop/y')}; b, the younger, is called off`;
const OF_B = `${text('a', 'shop/y', 'shop/x')}; it is the younger, and starts anew once a is done`;

describe('the younger of two drains that block each other', () => {
  test('is called off once neither has come further for five minutes, names the other, and keeps its version', () => {
    const { commands, verdicts } = planned(crossing());
    const budgets = ['shop/y', 'shop/x'] as const;
    const crossed: Crossed = { node: 'a', attempt: 'attempt-a', budgets, times: 1, at: moment(0) };
    const because = { reason: 'BudgetsCrossed', message: OF_B };
    const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(0) };
    expect(commands).toEqual([{ kind: 'call-off', node: 'b', shadow: 'brs-b', spec, because, crossed }]);
    expect(verdicts.map(({ message }) => message)).toEqual([OF_A, OF_B]);
  });

  test('is named before that, and wakes the plan when it is due, which the one that stalled last decides', () => {
    const world = crossing({ stalled: -4.5 });
    const until = minutes(0.5);
    expect(planned(world)).toMatchObject({
      commands: [],
      verdicts: [
        { node: 'a', reason: 'BudgetsCrossed', message: OF_A, until },
        { node: 'b', reason: 'BudgetsCrossed', message: OF_B, until },
      ],
    });
    expect(planned(world).requeueAt).toBe(until);
  });

  test('is the younger by its permit, and by name where they are as old; one without a time is the oldest', () => {
    expect(off(crossing({ since: -5 }))).toEqual(['a']);
    expect(off(crossing({ since: -10 }))).toEqual(['b']);
    const permits = [permitSince('a', minutes(-20)), permitSince('b', undefined)];
    expect(off({ ...crossing(), permits })).toEqual(['a']);
  });

  test('has a quarter of the time of a drain, where that is less, and five minutes where drains never end', () => {
    const world = crossing({ stalled: -2 });
    expect(off(world, { drainTimeoutMs: 480_000 })).toEqual(['b']);
    expect([off(world, { drainTimeoutMs: 0 }), off(crossing(), { drainTimeoutMs: 0 })]).toEqual([[], ['b']]);
  });

  test('counts how often it was so', () => {
    const crossed: Crossed = { node: 'z', attempt: 'gone', budgets: ['shop/y', 'shop/x'], times: 3 };
    expect(planned(told(crossing(), 'b', { crossed })).commands).toMatchObject([{ crossed: { times: 4 } }]);
  });

  test.each<[string, Partial<Blocked>]>([
    ['is blocked by something else too', { waits: ['y', 'z'] }],
    ['waits for the same budget as the other', { waits: ['y', 'x'] }],
    [
      'has pods of the other budget left',
      { holds: [], covers: [], status: displaced({ ...evicted('x'), pods: 2, left: ['u'] }) },
    ],
  ])('is called off also where it %s', (_, b) => {
    expect(off(crossing({}, b))).toEqual(['b']);
  });

  test.each<[string, Partial<World>]>([
    ['a pause', { paused: true }],
    ['another pause of a node', { nodes: [cordoned('a', { held: true }), cordoned('b')] }],
  ])('is called off under %s', (_, more) => {
    expect(off({ ...crossing(), ...more })).toEqual(['b']);
  });
});

function displaced(...budgets: readonly CoveredPods[]): Parts['status'] {
  return { displaced: { owners: [], looked_at: null, missing: [], budgets: [...budgets] } };
}
const said = (drain: object): Parts['status'] => ({
  drain: { started_at: moment(-9), pods_left: 1, blocked_by: ['PodDisruptionBudget shop/y (pod shop/y-0)'], ...drain },
});

describe('the older is called off where the younger', () => {
  test.each<[string, Partial<Blocked>]>([
    ['is held: it would stay cordoned', { node: { held: true } }],
    ['was cordoned by somebody else first', { node: { marks: { ...MARKS, owns: [] } } }],
    ['is not Ready', { node: { ready: false } }],
    ['is about to be removed', { node: { leaving: true } }],
    ['has an agent that keeps no record of reboots', { status: { reboot: null } }],
  ])('%s', (_, b) => {
    expect(off(crossing({}, b))).toEqual(['a']);
  });
});

describe('nobody is called off where', () => {
  test.each<[string, World]>([
    ['one has made progress since', crossing({ stalled: -2 })],
    ['one of them is told to reboot', crossing({}, { status: { reboot: { ...PROBE, requested_at: moment(-1) } } })],
    ['one has evicted nobody: both wait for somebody else', crossing({}, { holds: [], covers: ['x'] })],
    ['one is of an apiserver that does not say whom it has evicted', crossing({ status: { displaced: null } })],
    [
      'nulls are said of that',
      crossing({ status: displaced() }, { status: { displaced: { owners: [], missing: [], budgets: null } } }),
    ],
    ['one is not blocked', crossing({}, { waits: [] })],
    ['nobody has said for a minute how one of them goes', crossing({}, { status: said({ reported_at: moment(-2) }) })],
    [
      'a pod has two budgets',
      crossing({}, { status: said({ blocked_by: ['2 PodDisruptionBudgets at once: shop/y, shop/z (pod shop/y-0)'] }) }),
    ],
    ['another node has pods of the budget too, and comes back', withReturning(['x'])],
    ['what is known may be old', { ...crossing(), notCurrent: 'nodes are not known' }],
    ['a view is out of date', told(crossing(), 'a', { stale: true })],
    ['neither can be', crossing({ node: { held: true } }, { node: { held: true } })],
    ['an operator before this one has begun both', { ...crossing(), permits: [] }],
  ])('%s', (_, world) => {
    expect(off(world)).toEqual([]);
  });

  test('a node that lets work finish has evicted nobody', () => {
    const marks = { ...MARKS, waitsUntil: moment(60) };
    expect(off(drains({ a: A, b: B, c: { covers: ['x'], node: { marks } } }))).toEqual(['b']);
  });
});

describe('once a third that blocked the oldest as well was called off', () => {
  const C: Blocked = { waits: ['y'], holds: ['x'], since: -5 };
  const crossed: Crossed = { node: 'a', attempt: 'attempt-a', budgets: ['shop/y', 'shop/x'], times: 1 };
  const spec = { state: 'Idle', version: '1.1.0' } as const;
  const calledOff = (c: Partial<Blocked>, more: Parameters<typeof told>[2]): World =>
    told(drains({ a: A, b: B, c: { ...C, ...c } }), 'c', { spec, crossed, ...more });

  test('nobody else is while it is on its way back, nor before its pods have had time to run again', () => {
    expect(off(calledOff({}, { stepBeganAt: minutes(-6) }))).toEqual([]);
    const status = { current_state: 'Idle' } as const;
    const back = (since: number): World =>
      calledOff({ status, node: { marks: undefined, unschedulable: false } }, { stepBeganAt: minutes(since) });
    expect(off(back(-1))).toEqual([]);
    expect(planned(back(-1)).requeueAt).toBeLessThanOrEqual(minutes(4));
    expect(off(back(-6))).toEqual(['b']);
  });
});

/** A third node that has evicted pods of these, and reboots. */
function withReturning(budgets: readonly string[]): World {
  const status = { reboot: { ...PROBE, requested_at: moment(-1) } };
  const marks = { ...MARKS, drained: moment(-1) };
  return drains({ a: A, b: B, c: { holds: budgets, status, node: { marks } } });
}

test('of three that wait for each other in a circle the youngest is called off, and none of those behind it', () => {
  const world = drains({
    a: { waits: ['y'], holds: ['x'], since: -30 },
    b: { waits: ['z'], holds: ['y'], since: -20 },
    c: { waits: ['x'], holds: ['z'], since: -10 },
    d: { waits: ['x'], since: -5 },
  });
  expect(planned(world).commands).toMatchObject([{ kind: 'call-off', node: 'c', crossed: { node: 'a' } }]);
  expect(
    planned(world)
      .verdicts.map(({ reason }) => reason)
      .slice(0, 3),
  ).toEqual(Array(3).fill('BudgetsCrossed'));
});

test('of two circles one each is called off', () => {
  const other = (one: Blocked): Blocked => ({
    waits: one.waits?.map((name) => `${name}2`) ?? [],
    holds: one.holds?.map((name) => `${name}2`) ?? [],
  });
  expect(off(drains({ a: A, b: B, c: other(A), d: other(B) }))).toEqual(['b', 'd']);
});

describe('a node that was called off for another', () => {
  const crossed: Crossed = { node: 'a', attempt: 'attempt-a', budgets: ['shop/y', 'shop/x'], times: 2 };
  /** @param since when it was called off, in minutes */
  const waiting = (since: number, permits: World['permits']): World => {
    const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(since) } as const;
    return fleet({ a: A_UPDATED, b: { spec, crossed } }, { permits });
  };
  const A_UPDATED: Parts = { status: { current_version: '1.1.0' } };
  const verdict = (world: World) => planned(world).verdicts.find(({ node: name }) => name === 'b');

  test('waits for as long as the attempt of that has its permit, and says so', () => {
    const world = waiting(-30, [permit('a')]);
    expect(verdict(world)).toMatchObject({ reason: 'BudgetsCrossed', message: OF_B });
    expect(verdict(world)?.until).toBeUndefined();
    expect(planned(world).commands.filter(({ kind }) => kind === 'start')).toEqual([]);
  });

  test('waits no longer than a drain and a reboot may take for one that does not come back, and as long as a drain may that has no end', () => {
    const until = (since: number, more: Partial<World['permits'][number]> = {}, drainTimeoutMs = 1_800_000) => {
      const { commands, requeueAt } = planned(waiting(since, [{ ...permit('a'), ...more }]), { drainTimeoutMs });
      return commands.some(({ kind }) => kind === 'start') ? 'starts' : requeueAt;
    };
    expect([until(-44), until(-45)]).toEqual([minutes(1), 'starts']);
    const asked = (at: number) => until(-9000, { rebootAskedAt: minutes(at) }, 0);
    expect([until(-9000, {}, 0), asked(-14), asked(-15)]).toEqual([undefined, minutes(1), 'starts']);
  });

  test('waits after that for a pause which doubles each time, an hour at most', () => {
    expect(verdict(waiting(-3, []))).toMatchObject({ reason: 'BudgetsCrossed', until: minutes(1) });
    expect(planned(waiting(-3, [])).requeueAt).toBe(minutes(1));
    expect(planned(waiting(-5, [])).commands).toMatchObject([{ kind: 'start', node: 'b' }]);
  });

  test('waits no longer because of what came after: its offer was withdrawn, and another leader sees that for the first time', () => {
    const b = { crossed: { ...crossed, at: moment(-9) }, stepBeganAt: NOW };
    expect(planned(fleet({ a: A_UPDATED, b })).commands).toMatchObject([{ kind: 'start', node: 'b' }]);
    const ahead = { crossed: { ...crossed, at: moment(9000) }, stepBeganAt: minutes(-5) };
    expect(planned(fleet({ a: A_UPDATED, b: ahead })).commands).toMatchObject([{ kind: 'start', node: 'b' }]);
  });

  test('waits for no later attempt of the other node', () => {
    expect(planned(waiting(-5, [{ ...permit('a'), id: 'another' }])).commands).toContainEqual(
      expect.objectContaining({ kind: 'start', node: 'b' }),
    );
  });
});
