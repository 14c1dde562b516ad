import { describe, expect, test } from '@jest/globals';
import {
  fleet,
  minutes,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  reasons,
  type Rules,
  permit,
  staging,
  started,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';

/** Where many nodes are not Ready, something else is wrong, and an update would take away what is left. */

const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
const MANY = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const satisfies Partial<Rules>;

interface Waiting {
  readonly of?: number;
  readonly a?: Parts;
  readonly more?: Partial<World>;
}

/** `a` waits for its update; the others run the newest release, and the first `down` of them are not Ready, for longer than they take a place. */
function waiting(down: number, { of = 10, a = {}, more = {} }: Waiting = {}): World {
  const others = Array.from({ length: of - 1 }, (_, at) => `n${at}`);
  const nodes = others.map((name, at) => node(name, { ready: at >= down, readyChangedAt: minutes(-100) }));
  return fleet(
    { a, ...Object.fromEntries(others.map((name) => [name, updated])) },
    { nodes: [node('a'), ...nodes], ...more },
  );
}

/** The same world with the first of those that are not Ready as said here. */
const but = (world: World, more: Partial<World['nodes'][number]>): World => ({
  ...world,
  nodes: world.nodes.map((one) => (one.name === 'n0' ? { ...one, ...more } : one)),
});

describe('nothing new is disturbed', () => {
  test('where more than three managed nodes are not Ready, or more than a tenth, however long they have been', () => {
    expect([started(waiting(3), MANY), started(waiting(4), MANY)]).toEqual([['a'], []]);
    expect([started(waiting(5, { of: 50 }), MANY), started(waiting(6, { of: 50 }), MANY)]).toEqual([['a'], []]);
  });

  test('and what has staged its version is called off', () => {
    const world = waiting(4, { a: staged, more: { permits: [permit('a')] } });
    expect(plan(world, { ...POLICY, ...MANY }, NOW).commands).toMatchObject([
      { kind: 'call-off', node: 'a', because: { reason: 'TooManyUnhealthy' } },
    ]);
  });

  test('and why names the nodes and the setting', () => {
    const { verdicts } = plan(waiting(4), { ...POLICY, ...MANY }, NOW);
    expect(verdicts[0]).toMatchObject({
      reason: 'TooManyUnhealthy',
      message: '4 of 10 nodes are not Ready, and MAX_UNHEALTHY lets 3 be: n0, n1, n2, n3',
    });
  });

  test('until they are back, are held by a person, are gone, or never were Ready', () => {
    const world = waiting(4);
    const gone = { ...world, nodes: world.nodes.filter(({ name }) => name !== 'n0') };
    const bare = { ...world, shadows: world.shadows.filter(({ name }) => name !== 'brs-n0') };
    const ended = [but(world, { ready: true }), but(world, { held: true }), gone, bare, but(world, { managed: false })];
    expect(ended.map((one) => started(one, MANY))).toEqual(ended.map(() => ['a']));
    expect(started({ ...bare, nodes: but(world, { wasReady: true }).nodes }, MANY)).toEqual([]);
  });

  test('but for nodes that are being updated, which are not Ready for that', () => {
    const world = waiting(4);
    expect(
      started({ ...world, permits: [permit('n0')] }, { ...MANY, maxConcurrent: { kind: 'count', count: 9 } }),
    ).toEqual(['a']);
  });

  test('as far as the setting says: a number, a share, or 100% for never', () => {
    const maxUnhealthy = (kind: Rules['maxUnhealthy']) => ({ ...MANY, maxUnhealthy: kind });
    const down = waiting(7);
    expect(started(down, maxUnhealthy({ kind: 'count', count: 6 }))).toEqual([]);
    expect(started(down, maxUnhealthy({ kind: 'count', count: 7 }))).toEqual(['a']);
    expect(started(down, maxUnhealthy({ kind: 'percent', percent: 75 }))).toEqual(['a']);
    expect(started(waiting(9), maxUnhealthy({ kind: 'percent', percent: 100 }))).toEqual(['a']);
  });
});

test('a node that is not Ready itself, or whose time has not come, says that first', () => {
  const shut = { open: false, triggeredAt: undefined, changesAt: minutes(60) };
  expect(reasons({ ...waiting(4), window: shut }, MANY)).toMatchObject({ a: 'OutsideWindow' });
  const down = waiting(4);
  const nodes = down.nodes.map((one) => (one.name === 'a' ? { ...one, ready: false } : one));
  expect(reasons({ ...down, nodes }, MANY)).toMatchObject({ a: 'NodeNotReady' });
});
