import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { ARRIVING_KEY } from '../../../runtime/api/marks/taints.ts';
import {
  fleet,
  MARKS,
  minutes,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  rebooting,
  ruling,
  staging,
  started,
  updated,
  type World,
} from './fleet.ts';
import { ZONE } from './members.ts';

/** Machines that have just joined with the taint `arriving`. */

const JOINED: Partial<NodeView> = { createdAt: minutes(-2), signs: [`taint ${ARRIVING_KEY}`] };
const SETTLED: Parts = { stateSeenAt: minutes(-1) };
const given = (name: string) => ({ ...permit(name), arriving: true as const });
const under = (says: Parameters<typeof ruling>[1] = {}): Partial<World> => ({
  policies: [ruling('p', { selector: {}, ...says })],
});

/** `a` runs 1.1.0 and has proven it; `x` and `y` have joined, and others are as they are said to be. */
function joining(
  others: Readonly<Record<string, Parts>> = {},
  more: Partial<World> = {},
  on: Partial<NodeView> = {},
): World {
  const parts = { a: updated, x: SETTLED, y: SETTLED, ...others };
  const nodes = Object.keys(parts).map((name) => node(name, name >= 'x' ? { ...JOINED, ...on } : {}));
  return fleet(parts, { nodes, ...more });
}

const over = (world: World, now = NOW): readonly string[] => plan(world, POLICY, now).arrivals;

describe('they start', () => {
  test('all at once, beside budgets, zones and pauses between updates, and their permits say so', () => {
    const rules = under({
      zones: { key: ZONE, atOnce: 1 },
      pauseBetweenMs: 600_000,
      maxConcurrent: { kind: 'count', count: 1 },
    });
    const world = joining({ a: { ...updated, endedAt: NOW }, b: staging, c: {} }, { ...rules, permits: [permit('b')] });
    const starts = plan(world, POLICY, NOW).commands.flatMap((one) => (one.kind === 'start' ? one : []));
    expect(starts.map((one) => [one.node, one.arriving])).toEqual([
      ['x', true],
      ['y', true],
    ]);
  });

  test.each([{}, { marks: MARKS }])(
    'and take no place of others: one that waits starts beside them, under way or disturbed (%j)',
    (on) => {
      const world = joining({ c: {}, x: staging, y: rebooting }, { permits: [given('x'), given('y')] }, on);
      expect(started(world)).toEqual(['c']);
    },
  );

  test('nor where a release widens step by step, until pods may have come', () => {
    const rules = under({ proof: { nodes: { kind: 'count', count: 1 }, soakMs: 0, widen: 1 } });
    const starting = (on: Partial<NodeView>) => {
      const permits = [given('x'), given('y')];
      const world = joining({ c: {}, x: rebooting, y: rebooting }, { permits, ...rules }, on);
      return started(world, { maxConcurrent: { kind: 'unlimited' } });
    };
    expect([starting({}), starting({ signs: [] })]).toEqual([['c'], []]);
    const last = joining({ c: { status: { crash_count: 1 } } }, rules);
    expect(started(last, { maxConcurrent: { kind: 'unlimited' } })).toEqual(['x', 'y', 'c']);
  });

  test.each([{}, { marks: MARKS }])(
    'and count as any other once pods may have come to them, which a drain may move by now (%j)',
    (on) => {
      const permits = [given('x'), given('y')];
      expect(started(joining({ c: {}, x: staging, y: rebooting }, { permits }, { signs: [], ...on }))).toEqual([]);
    },
  );

  const calledOff = (world: World, rules: Partial<typeof POLICY> = {}) =>
    plan(world, { ...POLICY, ...rules }, NOW).commands.flatMap((one) => (one.kind === 'call-off' ? one.node : []));

  test('and are called off by a pause between updates once pods may have come: it may last for days, and their place is for others', () => {
    const rules = under({ pauseBetweenMs: 600_000, maxConcurrent: { kind: 'unlimited' } });
    const staged = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } as const;
    const paused = (on: Partial<NodeView>, ended: number) => {
      const parts = { a: { ...updated, endedAt: minutes(-ended) }, x: staged };
      return calledOff(joining(parts, { permits: [given('x')], ...rules }, on));
    };
    expect([paused({}, 5), paused({ signs: [] }, 5), paused({ signs: [] }, 10)]).toEqual([[], ['x'], []]);
  });

  test('and are called off where pods have come, their drain has not begun, and others take all places', () => {
    const beside = (on: Partial<NodeView>, c: Parts) =>
      calledOff(joining({ c, x: rebooting }, { permits: [permit('c'), given('x')] }, on));
    expect([beside({}, rebooting), beside({ signs: [] }, updated), beside({ signs: [] }, rebooting)]).toEqual([
      [],
      [],
      ['x'],
    ]);
  });

  test('and of several that are told to drain as pods come the youngest are called off: what they leave may be enough for the others', () => {
    const permits = [{ ...given('x'), since: minutes(-3) }, given('y'), { ...given('z'), since: minutes(-5) }];
    const told = { x: rebooting, y: rebooting, z: rebooting };
    const off = (count: number, c = updated) =>
      calledOff(joining({ ...told, c }, { permits: [...permits, permit('c')] }, { signs: [] }), {
        maxConcurrent: { kind: 'count', count },
      });
    expect([off(3), off(2), off(1), off(2, rebooting)]).toEqual([[], ['x'], ['x', 'z'], ['x', 'z']]);
    expect(off(1, rebooting)).toEqual(['x', 'y', 'z']);
    const unlimited = { maxConcurrent: { kind: 'unlimited' } } as const;
    const proof = { nodes: { kind: 'count', count: 1 }, soakMs: 0, widen: 2 } as const;
    const world = joining(told, { permits, ...under({ ...unlimited, proof }) }, { signs: [] });
    expect(calledOff(world, unlimited)).toEqual(['x']);
  });

  test('but two of one zone leave it no more than one does, and who is left its place is still asked to pause', () => {
    const told = { a: updated, x: rebooting, y: rebooting, z: rebooting };
    const permits = [given('z'), { ...given('x'), since: minutes(-6) }, { ...given('y'), since: minutes(-5) }];
    const nodes = Object.entries({ a: 'one', x: 'two', y: 'two', z: 'one' }).map(([name, zone]) =>
      node(name, { ...JOINED, signs: [], labels: { [ZONE]: zone } }),
    );
    const unlimited = { maxConcurrent: { kind: 'unlimited' } } as const;
    const zoned = under({ ...unlimited, zones: { key: ZONE, atOnce: 1 } });
    expect(calledOff(fleet(told, { nodes, permits, ...zoned }), unlimited)).toEqual(['x', 'y']);
    const pausing = under({ pauseBetweenMs: 600_000, maxConcurrent: { kind: 'count', count: 1 } });
    const two = { a: { ...updated, endedAt: NOW }, x: rebooting, y: rebooting };
    expect(calledOff(joining(two, { permits: permits.slice(1), ...pausing }, { signs: [] }))).toEqual(['x', 'y']);
  });

  test.each<[string, Partial<World>, Partial<NodeView>]>([
    ['it is not Ready', {}, { ready: false }],
    ['it has a new ruler', { ruledSince: new Map([['uid-x', NOW]]) }, {}],
    ['the control plane is away', { controlPlaneAway: 'nobody replaces pods' }, {}],
    ['there is another operator', { otherOperators: 'another one' }, {}],
  ])('and stay told to drain, as any other, where %s', (_why, more, on) => {
    expect(calledOff(joining({ x: rebooting }, { permits: [given('x')], ...more }, { signs: [], ...on }))).toEqual([]);
  });

  test('on no release that is yet to be proven: they take pods instead', () => {
    const world = joining({ a: {} });
    expect([started(world), over(world)]).toEqual([['a'], ['x', 'y']]);
    expect(started(joining({ a: { status: null } }))).toEqual([]);
  });
});

describe('they take pods', () => {
  const window = { open: false, triggeredAt: undefined, changesAt: undefined };
  test.each<[string, Partial<World>, Partial<NodeView>]>([
    ['the fleet is paused', { paused: true }, {}],
    ['their policy is paused', under({ paused: true }), {}],
    ['it is frozen', under({ freezes: [{ from: NOW, to: minutes(1), reason: 'quarter' }] }), {}],
    ['its window is closed', under({ window }), {}],
    ['they are held', {}, { held: true }],
    ['there is another operator', { otherOperators: 'another one' }, {}],
    ['nobody manages them', {}, { managed: false }],
  ])('as soon as %s', (_why, more, on) => {
    expect(over(joining({}, more, on))).toEqual(['x', 'y']);
  });

  test('as soon as one of these is so while they have staged the update', () => {
    const staged = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } as const;
    const permits = [given('x'), given('y')];
    expect(over(joining({ x: staged, y: staged }, { permits, paused: true }))).toEqual(['x', 'y']);
    expect(over(joining({ x: staged, y: staged }, { permits }))).toEqual([]);
    const soon = under({ freezes: [{ from: minutes(1), to: minutes(9), reason: 'quarter' }] });
    const world = joining({ x: staging, y: staging }, { permits, ...soon });
    expect([over(world), over(world, minutes(1))]).toEqual([[], ['x', 'y']]);
    expect(plan(world, POLICY, NOW).requeueAt).toBe(minutes(1));
  });

  test('ten seconds after their agent has reported, where nothing is offered, and once they are updated', () => {
    const none: Parts = { status: { target_version: '1.0.0' }, stateSeenAt: NOW };
    const done: Parts = { ...updated, stateSeenAt: NOW };
    const world = joining({ x: none, y: done });
    expect([over(world), over(world, NOW + 9999), over(world, NOW + 10_000)]).toEqual([[], [], ['x', 'y']]);
    expect(plan(world, POLICY, NOW).requeueAt).toBe(NOW + 10_000);
  });

  test.each<[string, Partial<World>, Parts]>([
    ['nothing is known any more', { notCurrent: 'nothing is heard' }, {}],
    ['their agent has never reported', {}, { status: null }],
    ['they have staged the update', { permits: [given('x'), given('y')] }, staging],
  ])('ten minutes after they were made, though %s', (_why, more, parts) => {
    const world = joining({ x: { ...SETTLED, ...parts }, y: { ...SETTLED, ...parts } }, more);
    expect([over(world), over(world, minutes(8) - 1), over(world, minutes(8))]).toEqual([[], [], ['x', 'y']]);
    expect(plan(world, POLICY, minutes(8) - 1).requeueAt).toBe(minutes(8));
  });

  test('not yet while what keeps them is soon over: their readiness, or a new ruler', () => {
    const ruledSince = new Map([
      ['uid-x', NOW],
      ['uid-y', NOW],
    ]);
    expect(over(joining({}, { ruledSince }))).toEqual([]);
    expect(over(joining({}, {}, { ready: false }))).toEqual([]);
  });
});
