import { expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import {
  fleet,
  minutes,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  staging,
  started,
  UNPROVEN_TOO,
  updated,
} from './fleet.ts';
import { ZONE } from './members.ts';

/** In which zone nodes start, and what the others are told. The same is tried at random in `policies.test.ts`. */

const inZone = (name: string, zone: string, more: Partial<NodeView> = {}): NodeView =>
  node(name, { labels: { [ZONE]: zone }, ...more });
/** Not Ready, and waited for so many minutes yet. */
const outFor = (count: number): Partial<NodeView> => ({ ready: false, readyChangedAt: minutes(count - 60) });
const rules = (atOnce: number, most?: number) => ({
  ...UNPROVEN_TOO,
  maxConcurrent: most === undefined ? ({ kind: 'unlimited' } as const) : ({ kind: 'count', count: most } as const),
  zones: { key: ZONE, atOnce },
});

test('the zone comes first where nodes run the release already, then the first by name', () => {
  const offered = (version: string): Parts => ({ status: { target_version: version } });
  const nodes = [inZone('a', 'z1'), inZone('b', 'z0'), inZone('c', 'z1'), inZone('d', 'z1')];
  const parts = { a: {}, b: {}, d: offered('1.2.0') };
  expect(started(fleet({ ...parts, c: updated }, { nodes }), rules(1))).toEqual(['a', 'd']);
  expect(started(fleet(parts, { nodes: nodes.filter(({ name }) => name !== 'c') }), rules(1))).toEqual(['b']);
});

test('a zone that is being worked on is finished before another is begun, however many of its nodes are busy', () => {
  const nodes = [inZone('a', 'z0'), inZone('b', 'z2'), inZone('x', 'z2'), inZone('y', 'z2')];
  const world = fleet({ a: {}, b: {}, x: staging, y: staging }, { nodes });
  expect(started(world, rules(2, 3))).toEqual(['b']);
  expect(started(world, rules(2))).toEqual(['b', 'a']);
});

test('where zones are not limited, the one comes next with the fewest updates, those that wait counted, then the oldest node', () => {
  const queue = (older: Partial<NodeView>, x: Partial<NodeView> = {}): readonly string[] => {
    const nodes = [
      inZone('a', 'z0'),
      inZone('b', 'z0'),
      inZone('c', 'z1', older),
      inZone('d', 'z1', older),
      inZone('x', 'z0', x),
    ];
    const world = fleet({ a: {}, b: {}, c: {}, d: {}, x: x.ready === false ? {} : staging }, { nodes });
    const waiting = plan(world, { ...POLICY, ...rules(Infinity, 1) }, NOW).verdicts.filter(({ position }) => position);
    return waiting.toSorted((a, b) => a.position! - b.position!).map((one) => one.node);
  };
  expect(queue({})).toEqual(['c', 'a', 'd', 'b']);
  expect(queue({ createdAt: minutes(-30_000) })).toEqual(['c', 'd', 'a', 'b']);
  expect(queue({}, outFor(10))).toEqual(['a', 'c', 'b', 'd']);
});

test('a node that waits for other zones names the one that stays busy for longest, and is planned again when enough are free', () => {
  const nodes = [
    inZone('a', 'z2'),
    inZone('w', 'z2', outFor(50)),
    inZone('x', 'z0', outFor(10)),
    inZone('y', 'z1', outFor(30)),
  ];
  const world = fleet({ a: {}, w: {}, x: {}, y: {} }, { nodes });
  const told = (atOnce: number): readonly unknown[] => {
    const { verdicts, requeueAt } = plan(world, { ...POLICY, ...rules(atOnce) }, NOW);
    return [verdicts[0]!.reason, verdicts[0]!.message, requeueAt];
  };
  const message = expect.stringContaining('of zone z1');
  expect(told(1)).toEqual(['ZoneBusy', message, minutes(30)]);
  expect(told(2)).toEqual(['ZoneBusy', message, minutes(10)]);
});

test('a zone that an outage alone kept busy is so until the end of the update that starts there meanwhile', () => {
  const nodes = [inZone('a', 'z0'), inZone('b', 'z1'), inZone('x', 'z0', outFor(10))];
  const { commands, requeueAt } = plan(fleet({ a: {}, b: {}, x: {} }, { nodes }), { ...POLICY, ...rules(1) }, NOW);
  expect(commands).toMatchObject([{ kind: 'start', node: 'a' }]);
  expect(requeueAt).toBeUndefined();
});
