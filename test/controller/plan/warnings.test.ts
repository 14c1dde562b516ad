import { expect, test } from '@jest/globals';
import {
  fleet,
  MARKS,
  minutes,
  monitoring,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  type Rules,
  staging,
  updated,
  type World,
} from './fleet.ts';
import { after } from './worlds.ts';

const ONLY = /; the only schedulable node of the cluster will be drained/;
const ALL = /; every schedulable node may be excluded from load balancers at once/;
const ALL_AT_ONCE: Partial<Rules> = { maxConcurrent: { kind: 'unlimited' }, excludesFromLb: true };

const messages = (world: World, policy: Partial<Rules> = {}): Record<string, string> =>
  Object.fromEntries(
    plan(world, { ...POLICY, ...policy }, NOW).verdicts.map(({ node: name, message }) => [name, message]),
  );

test.each<[string, Parts]>([
  ['before its update', {}],
  ['while it is staged', staging],
  ['while it reboots', rebooting],
  ['while it is watched', monitoring()],
])('the verdict on the only node warns %s', (_when, parts) => {
  expect(messages(fleet({ a: parts })).a).toMatch(ONLY);
});

test('the verdicts on nodes that may all leave their load balancers at once warn, those of nodes that are done do not', () => {
  const said = messages(fleet({ a: {}, b: staging, c: updated }), ALL_AT_ONCE);
  expect(said).toMatchObject({ a: expect.stringMatching(ALL), b: expect.stringMatching(ALL) });
  expect(said.c).toBe('the node runs the newest version that it is offered');
});

test.each<[string, World, Partial<Rules>]>([
  ['a node that is not managed serves on', fleet({ a: {} }, { nodes: [node('a'), node('x', { managed: false })] }), {}],
  ['agents leave load balancers alone', fleet({ a: {}, b: {} }), { ...ALL_AT_ONCE, excludesFromLb: false }],
  [
    'the concurrency spares one',
    fleet({ a: {}, b: {} }),
    { ...ALL_AT_ONCE, maxConcurrent: { kind: 'count', count: 1 } },
  ],
  [
    'another node is out because it is being updated',
    fleet({ a: {}, b: rebooting }, { nodes: [node('a'), node('b', { unschedulable: true })] }),
    {},
  ],
  [
    'another node is out because it was drained',
    fleet({ a: {}, b: updated }, { nodes: [node('a'), node('b', { unschedulable: true, marks: MARKS })] }),
    {},
  ],
  ['everybody is done', fleet({ a: updated }), ALL_AT_ONCE],
])('no verdict warns where %s', (_where, world, policy) => {
  const { verdicts, warnings } = plan(world, { ...POLICY, ...policy }, NOW);
  expect(warnings).toEqual([]);
  expect(verdicts.filter(({ message }) => message.includes(';'))).toEqual([]);
});

test('a node that is down serves nobody', () => {
  const nodes = [node('a'), node('b', { ready: false, readyChangedAt: minutes(-10_000) })];
  expect(messages(fleet({ a: {}, b: {} }, { nodes })).a).toMatch(ONLY);
});

test('the warning itself is not written once more in the course of an update', () => {
  const rules = { ...POLICY, ...ALL_AT_ONCE, maxFailed: { kind: 'unlimited' }, conditionWrites: 600 } as const;
  let world = fleet({ a: {}, b: {} });
  const written: string[] = [];
  for (const parts of [{}, staging, rebooting, monitoring(), updated]) {
    const { conditions } = world.shadows[0]!.status!;
    world = fleet({ a: { ...parts, status: { ...parts.status, conditions: conditions ?? null } }, b: parts });
    for (let look = 0; look < 3; look++) {
      const { commands } = plan(world, rules, NOW);
      written.push(
        ...commands
          .flatMap((one) => (one.kind === 'set-condition' && one.shadow === 'brs-a' ? one.conditions : []))
          .map(({ reason, message }) => `${reason}${ALL.test(message) ? ', warned' : ''}`),
      );
      world = after(
        world,
        commands.filter(({ kind }) => kind === 'set-condition' || kind === 'start'),
      );
    }
  }
  expect(written).toEqual(['Updating, warned', 'UpToDate']);
});
