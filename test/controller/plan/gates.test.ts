import { describe, expect, test } from '@jest/globals';
import { GATES } from '../../../runtime/controller/plan/gates/gates.ts';
import { keepersOf } from '../../../runtime/controller/plan/plan.ts';
import { fleet, minutes, node, NOW, POLICY, reasons, ruling, underRules, type World } from './fleet.ts';

/** The list of gates as a list: its order, and what of it people are told. */

const shut = { open: false, triggeredAt: undefined, changesAt: minutes(60) };
const kept = (world: World, name = 'a'): readonly string[] =>
  keepersOf(underRules(world, POLICY), POLICY, { now: NOW })(name).map(({ reason }) => reason);

test('no gate that lets a node prepare its update stands before one that does not: the first finding tells of both', () => {
  const forbids = GATES.map(({ forbidsHint }) => forbidsHint);
  expect(forbids).toEqual(forbids.toSorted((a, b) => Number(b) - Number(a)));
});

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
