import { describe, expect, test } from '@jest/globals';
import {
  fleet,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  rebooting,
  type Rules,
  ruling,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { drained, halted, held, onHold, onLeave, rules } from './in-service.ts';

/** A node that was told to drain and is not disturbed yet is in service still: what may not go on is called off. */

const verdictOnA = (world: World): string | undefined => plan(world, rules, NOW).verdicts[0]?.reason;

describe('a node that was told to drain', () => {
  const blocked: Parts = {
    ...rebooting,
    status: { ...rebooting.status, drain: { started_at: moment(-1), pods_left: 1, blocked_by: ['a budget'] } },
  };
  const paused = [ruling('p', { selector: {}, paused: true })];
  const down = ['w', 'x', 'y', 'z'].map((name) => node(name, { ready: false, readyChangedAt: minutes(-5) }));
  const calledOff = (world: World, more: Partial<Rules> = {}): readonly string[] =>
    plan(world, { ...rules, ...more }, NOW).commands.flatMap((command) =>
      command.kind === 'call-off' ? [`${command.node} ${command.because.reason}`] : [],
    );

  describe.each<[string, Parts]>([
    ['and is not answered yet', rebooting],
    ['and is refused its drain', blocked],
  ])('%s', (_state, a) => {
    test.each<[string, World, string]>([
      ['the namespace is paused', fleet({ a }, { ...held, paused: true }), 'Paused'],
      ['it is held', fleet({ a }, { ...held, ...onHold }), 'Held'],
      ['it is about to be removed', fleet({ a }, { ...held, ...onLeave }), 'Leaving'],
      ['its policy is paused', fleet({ a }, { ...held, policies: paused }), 'Paused'],
      ['its release is halted', halted(a), 'RolloutHalted'],
      [
        'too many nodes are not Ready',
        fleet({ a, w: {}, x: {}, y: {}, z: {} }, { ...held, nodes: [node('a'), ...down] }),
        'TooManyUnhealthy',
      ],
      [
        'another node takes its place in the proof',
        fleet(
          { a, b: rebooting },
          {
            permits: [permit('a'), permit('b')],
            nodes: [node('a'), { ...drained, name: 'b', uid: 'uid-b', shadowName: 'brs-b' }],
          },
        ),
        'Unproven',
      ],
    ])('is called off where %s', (_where, world, reason) => {
      expect(calledOff(world)).toEqual([`a ${reason}`]);
      expect(verdictOnA(world)).toBe(reason);
    });

    test.each<[string, World]>([
      ['it is not Ready', fleet({ a }, { ...held, nodes: [node('a', { ready: false, readyChangedAt: NOW })] })],
      ['it is one of those that prove its release', fleet({ a }, held)],
      ['other nodes take all places', fleet({ a, b: rebooting }, { permits: [permit('a'), permit('b')] })],
      ['what is known may be old', fleet({ a, b: updated }, { ...held, notCurrent: 'nothing is heard' })],
      ['its view is out of date', fleet({ a: { ...a, stale: true } }, { ...held, paused: true })],
    ])('is not called off where %s', (_where, world) => {
      expect(calledOff(world, UNPROVEN_TOO)).toEqual([]);
    });
  });

  test.each<[string, Parts, Partial<World>]>([
    ['its drain has begun', rebooting, { nodes: [{ ...drained, held: false }, node('b')] }],
    ['it is held by then', rebooting, { nodes: [drained, node('b')] }],
  ])('is called off by nobody once %s', (_state, parts, more) => {
    const world = halted(parts, { paused: true, ...more });
    expect([plan(world, rules, NOW).commands, verdictOnA(world)]).toEqual([[], 'Updating']);
  });
});
