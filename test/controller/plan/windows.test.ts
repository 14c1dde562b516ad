import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { fleet, minutes, node, NOW, type Parts, plan, POLICY, updated, type World } from './fleet.ts';

describe('where an update must fit into the window', () => {
  const rules = { ...POLICY, mustFit: true };
  const closingIn = (count: number) => ({ open: true, triggeredAt: undefined, changesAt: minutes(count) });
  const start = (world: World): unknown => plan(world, rules, NOW).commands.some(({ kind }) => kind === 'start');
  const took = (count: number): Parts => ({ lastUpdateMs: count * 60_000 });

  test('a node starts that would be done in time, as its last update went', () => {
    expect(start(fleet({ a: took(10) }, { window: closingIn(10) }))).toBe(true);
  });

  test('a node that would not be done says so, and why', () => {
    const { commands, verdicts } = plan(fleet({ a: took(10), b: updated }, { window: closingIn(9) }), rules, NOW);
    expect(commands).toEqual([]);
    expect(verdicts).toMatchObject([
      {
        node: 'a',
        reason: 'OutsideWindow',
        message: 'the window closes before an update of about 10 min would be done',
      },
      { node: 'b', reason: 'UpToDate' },
    ]);
  });

  test('a node that fits into no window ahead says that, whether one is open or not, and starts when it is asked for', () => {
    const reason = (longestMinutes: number, window: World['window'], on: Partial<NodeView> = {}): string => {
      const world = fleet({ a: took(10) }, { window, longestWindowMs: longestMinutes * 60_000 });
      return plan({ ...world, nodes: [node('a', on)] }, rules, NOW).verdicts[0]!.reason;
    };
    const closed = { ...closingIn(60), open: false };
    expect([reason(9, closingIn(9)), reason(9, closed)]).toEqual(['FitsNoWindow', 'FitsNoWindow']);
    expect([reason(10, closingIn(9)), reason(10, closed)]).toEqual(['OutsideWindow', 'OutsideWindow']);
    expect(reason(9, closed, { askedBy: 'me' })).toBe('Updating');
    const wakes = (window: World['window']) =>
      plan(fleet({ a: took(10) }, { window, longestWindowMs: 9 * 60_000 }), rules, NOW).requeueAt;
    // A longer one may have come into sight by then.
    expect([wakes(closingIn(9)), wakes(closed)]).toEqual([minutes(9), minutes(60)]);
  });

  test('a node that was never updated is taken for the slowest of its kind', () => {
    const world = fleet({ a: {}, b: { ...updated, ...took(10) } });
    expect(start({ ...world, window: closingIn(9) })).toBe(false);
    expect(start({ ...world, window: closingIn(11) })).toBe(true);
  });

  test('nobody is kept where no update is known, the window does not end, or it was not asked for', () => {
    expect(start(fleet({ a: {} }, { window: closingIn(1) }))).toBe(true);
    expect(start(fleet({ a: took(10) }))).toBe(true);
    const { commands } = plan(fleet({ a: took(10) }, { window: closingIn(9) }), POLICY, NOW);
    expect(commands).toMatchObject([{ kind: 'start' }]);
  });
});
