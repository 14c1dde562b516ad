import { describe, expect, test } from '@jest/globals';
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
  ruling,
  staging,
  started,
  updated,
  type World,
} from './fleet.ts';

/** Which nodes new pods are to avoid while they wait. */

type Says = Parameters<typeof ruling>[1];

const under = (says: Says = {}): Partial<World> => ({
  policies: [ruling('p', { selector: {}, prefersUpdated: true, ...says })],
});

/** `a` runs 1.1.0 and has proven it, `b` is on its way, `c` waits. @param bears whether `c` does */
function world(bears: boolean, more: Partial<World> = {}, c: Parts = {}, on: object = {}): World {
  const nodes = [node('a'), node('b'), node('c', { ...on, ...(bears && { bearsWaiting: true }) })];
  const b = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } as const;
  return fleet({ a: updated, b, c }, { nodes, permits: [permit('b')], ...under(), ...more });
}

const changes = (of: World): readonly string[] =>
  plan(of, POLICY, NOW).preferences.map(({ node: name, isAvoided }) => `${isAvoided ? '+' : '-'}${name}`);

describe('new pods avoid', () => {
  test('nodes that wait for a proven release, and those that have staged it, until each is done', () => {
    expect(changes(world(false))).toEqual(['+b', '+c']);
    expect(changes(world(true, {}, updated))).toEqual(['+b', '-c']);
  });

  test('nobody where no policy says so', () => {
    expect(changes(world(false, { policies: [] }))).toEqual([]);
    expect(changes(world(true, { policies: [] }))).toEqual(['-c']);
  });

  test('nobody while the release is unproven', () => {
    const proof = { nodes: { kind: 'count', count: 2 }, soakMs: 0 } as const;
    expect(changes(world(true, under({ proof })))).toEqual(['-c']);
  });

  test('a node that starts at this very moment', () => {
    const of = fleet({ a: updated, c: {} }, under());
    expect([started(of), changes(of)]).toEqual([['c'], ['+c']]);
  });

  test.each<[string, Partial<World>, readonly string[]]>([
    ['the namespace is paused', { paused: true }, ['-c']],
    ['its policy is paused', under({ paused: true }), ['-c']],
    ['its policy is frozen', under({ freezes: [{ from: NOW, to: minutes(1), reason: 'quarter' }] }), ['-c']],
    [
      'its window is closed',
      under({ window: { open: false, triggeredAt: undefined, changesAt: undefined } }),
      ['+b', '-c'],
    ],
    ['its policy waits for another', under({ after: ['unknown'] }), ['+b', '-c']],
    ['its agent is silent', { silentSince: new Map([['c', minutes(-60)]]) }, ['+b', '-c']],
  ])('no node that waits while %s', (_why, more, expected) => {
    expect(changes(world(true, more))).toEqual(expected);
  });

  test.each<[string, Parts, object]>([
    ['is held', {}, { held: true }],
    ['is about to be removed', {}, { leaving: true }],
    ['is managed no more', {}, { managed: false }],
    ['is offered nothing any more', { status: { target_version: '1.0.0' } }, {}],
  ])('no node that %s', (_why, parts, on) => {
    expect(changes(world(true, {}, parts, on))).toEqual(['+b', '-c']);
  });

  test('whom they did while that is not known any more, and no others', () => {
    expect(changes(world(true, { notCurrent: 'nothing is heard of the nodes' }))).toEqual([]);
    expect(changes(world(false, { notCurrent: 'nothing is heard of the nodes' }))).toEqual([]);
  });

  test('a node with marks as they did: it is cordoned', () => {
    expect(changes(world(true, { paused: true }, {}, { marks: MARKS }))).toEqual([]);
  });
});

test('a freeze that begins takes the taint away at that moment, also from nodes under way', () => {
  const freezes = [{ from: minutes(3), to: minutes(9), reason: 'quarter' }];
  const nodes = [node('a'), node('b', { bearsWaiting: true })];
  const of = fleet({ a: updated, b: staging }, { nodes, permits: [permit('b')], ...under({ freezes }) });
  expect(plan(of, POLICY, NOW).requeueAt).toBe(minutes(3));
  expect(plan(of, POLICY, minutes(3)).preferences).toEqual([{ node: 'b', isAvoided: false }]);
});

test('of nodes alike, one whose last drain or preflight has named what blocks it starts last', () => {
  const blocked: Parts = {
    status: { drain: { started_at: '2026-01-09T00:00:00Z', pods_left: 1, blocked_by: ['a budget'] } },
  };
  const one = (parts: Record<string, Parts>) => started(fleet(parts, { policies: [] }));
  expect(one({ a: blocked, b: {} })).toEqual(['b']);
  expect(one({ a: blocked, b: { status: { crash_count: 1, failed_versions: ['1.1.0'] } } })).toEqual(['a']);
});
