import { describe, expect, test } from '@jest/globals';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  plan,
  POLICY,
  type Rules,
  permit,
  staging,
  updated,
  type World,
} from './fleet.ts';

const requeueAt = (world: World, policy: Partial<Rules> = {}): number | undefined =>
  plan(world, { ...POLICY, ...policy }, NOW).requeueAt;
const down = (name: string, since: number): World['nodes'][number] =>
  node(name, { ready: false, readyChangedAt: minutes(since) });

describe('nobody is woken', () => {
  test.each<[string, World, Partial<Rules>?]>([
    [
      'by a node that is not managed',
      fleet({ a: updated }, { nodes: [node('a', { ...down('a', -1), managed: false })] }),
    ],
    [
      'by an outage while nobody waits for its place',
      fleet({ a: updated, b: updated }, { nodes: [down('a', -1), node('b')] }),
    ],
    [
      'by an outage on a node that has a permit besides',
      fleet({ a: {}, b: {} }, { nodes: [down('a', -1), node('b')], permits: [permit('a')] }),
    ],
    ['by a soak that is over while the view of it is out of date', fleet({ a: { ...monitoring(), stale: true } })],
    [
      'by the next trigger where the last one was in time',
      fleet(
        { a: {} },
        { permits: [permit('x')], window: { open: false, triggeredAt: minutes(-5), changesAt: minutes(9) } },
      ),
    ],
  ])('%s', (_what, world) => {
    expect(requeueAt(world, { soakMs: 300_000 })).toBeUndefined();
  });
});

test('an agent that does not come is missed at once when its time is over, though its node is not Ready', () => {
  const world = fleet({}, { nodes: [down('a', -1)], silentSince: new Map([['a', minutes(-10)]]) });
  expect(requeueAt(world)).toBe(minutes(5));
  expect(plan(world, POLICY, minutes(5)).verdicts).not.toEqual(plan(world, POLICY, NOW).verdicts);
});

test('of several outages, the one whose end makes a place free wakes', () => {
  const nodes = [down('a', -10), down('b', -30), down('c', -20), node('d')];
  const world = fleet({ a: {}, b: {}, c: {}, d: {} }, { nodes });
  expect(requeueAt(world, { maxConcurrent: { kind: 'count', count: 2 } })).toBe(minutes(40));
  expect(requeueAt(world, { maxConcurrent: { kind: 'count', count: 1 } })).toBe(minutes(50));
});

test('what keeps a node from going straight for a newer version is said with its update', () => {
  const status = { target_version: '1.2.0', crash_count: 1, state_transition_failure_timestamp: moment(-1) };
  const world = fleet({ a: { ...staging, status } }, { permits: [permit('a')] });
  const [verdict] = plan(world, POLICY, NOW).verdicts;
  expect(verdict).toMatchObject({ reason: 'Updating', newer: { reason: 'BackingOff', until: requeueAt(world) } });
});

describe('a node that may not start yet is told what keeps it besides', () => {
  const held = node('a', { held: true });
  test.each<[string, World, string]>([
    [
      'a person, while its permit is in doubt',
      fleet({ a: {} }, { nodes: [held], permits: [permit('a', 'unknown')] }),
      'Held',
    ],
    [
      'a pause, while its permit is in doubt',
      fleet({ a: {} }, { paused: true, permits: [permit('a', 'unknown')] }),
      'Paused',
    ],
    ['a person, while it is being cleaned up', fleet({ a: {} }, { nodes: [{ ...held, marks: MARKS }] }), 'Held'],
    ['a pause, while the view of it is out of date', fleet({ a: { stale: true } }, { paused: true }), 'Paused'],
    ['nothing but its permit', fleet({ a: {} }, { permits: [permit('a', 'unknown')] }), 'WaitingForSlot'],
  ])('%s', (_what, world, reason) => {
    const { commands, verdicts } = plan(world, POLICY, NOW);
    expect(verdicts).toMatchObject([{ node: 'a', reason }]);
    expect(commands.filter(({ kind }) => kind === 'start')).toEqual([]);
  });
});

describe('a time that JavaScript cannot read, like a leap second, is no time', () => {
  const LEAP = '2016-12-31T23:59:60Z';
  test.each<[string, World, string]>([
    [
      'for a failed node, which may try again',
      fleet({ a: { status: { crash_count: 1, failed_versions: [], state_transition_failure_timestamp: LEAP } } }),
      'start',
    ],
    [
      'for a node that has been seen Ready since its update',
      fleet({
        a: {
          ...monitoring(),
          stateSeenAt: minutes(-5),
          spec: { ...monitoring().spec, state_transition_timestamp: LEAP },
        },
      }),
      'set-spec',
    ],
  ])('%s', (_what, world, kind) => {
    const { commands, requeueAt: next } = plan(world, { ...POLICY, soakMs: 300_000 }, NOW);
    expect([commands.map((command) => command.kind), next]).toEqual([[kind], undefined]);
  });
});
