import { describe, expect, test } from '@jest/globals';
import type { Command } from '../../../runtime/controller/plan/facts/commands.ts';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  permit,
  snapshot,
  staging,
  updated,
  type World,
} from './fleet.ts';

const PAUSED = { paused: true };
const commands = (world: Partial<World>): readonly Command[] =>
  plan(snapshot({ ...world, ...PAUSED }), POLICY, NOW).commands;
const silentFor = (count: number): Pick<World, 'silentSince'> => ({
  silentSince: new Map([['a', minutes(-count)]]),
});
const marked = { nodes: [node('a', { marks: MARKS, unschedulable: true })] };
const rebooted = (bootId: string | null): Parts => ({
  spec: rebooting.spec!,
  status: {
    current_state: 'StagedAndPerformedUpdate',
    reboot: bootId === null ? null : { boot_id: bootId, version: '1.1.0', requested_at: moment(-30) },
  },
});

describe('a permit', () => {
  const held = { permits: [permit('a')] };
  const requested = rebooted('boot-1');
  const noted = { permits: [{ ...permit('a'), rebootAskedAt: minutes(-9) }] };
  const note = { kind: 'note-reboot', shadow: 'brs-a', nodeUid: 'uid-a' };

  test.each<[string, Partial<World>, readonly object[]]>([
    [
      'remembers when a reboot was first seen to be requested',
      fleet({ a: requested }, held),
      [{ ...note, rebootAskedAt: minutes(-30) }],
    ],
    ['that remembers it is left as it is', fleet({ a: requested }, noted), []],
    ['is not written to on an old view', fleet({ a: { ...requested, stale: true } }, held), []],
    [
      'whose writes are in doubt is settled first',
      fleet({ a: requested }, { permits: [permit('a', 'unknown')] }),
      [{ kind: 'bump', shadow: 'brs-a', nodeUid: 'uid-a' }],
    ],
    [
      'forgets a request after which its node is drained again',
      fleet({ a: rebooting }, { ...noted, nodes: [node('a', { marks: MARKS, unschedulable: true })] }),
      [note],
    ],
  ])('%s', (_name, world, expected) => {
    expect(commands(world)).toEqual(expected);
  });

  test.each<[string, Partial<World>, string]>([
    ['of a node at rest', fleet({ a: updated }, held), 'idle'],
    ['of a node that is gone', held, 'node-gone'],
    ['of a shadow that is gone and has no agent', { nodes: [node('a')], ...held, ...silentFor(0) }, 'shadow-gone'],
    [
      'of a node whose update was ended without its agent',
      fleet({ a: { status: { current_state: 'ErrorReset' } } }, { ...held, ...silentFor(15) }),
      'rescued',
    ],
    [
      'of a node that is back from its reboot without its agent',
      fleet({ a: rebooted('boot-0') }, { ...held, ...silentFor(15) }),
      'rescued',
    ],
  ])('%s is freed', (_name, world, because) => {
    expect(commands(world)).toEqual([{ kind: 'free', shadow: 'brs-a', nodeUid: 'uid-a', because }]);
  });

  test.each<[string, Partial<World>]>([
    ['whose shadow is out of date', fleet({ a: { ...updated, stale: true } }, held)],
    ['whose shadow is gone while its agent runs', { nodes: [node('a')], ...held }],
    ['whose node is being updated', fleet({ a: staging }, held)],
    [
      'whose agent has been gone for a while only',
      fleet({ a: { status: { current_state: 'ErrorReset' } } }, { ...held, ...silentFor(14) }),
    ],
  ])('%s is kept', (_name, world) => {
    expect(commands(world)).toEqual([]);
  });

  test('of which nothing is known is bumped, not freed', () => {
    expect(commands(fleet({ a: updated }, { permits: [permit('a', 'unknown')] }))).toEqual([
      { kind: 'bump', shadow: 'brs-a', nodeUid: 'uid-a' },
    ]);
  });

  test('of which nothing is known is bumped while marks on its node are released', () => {
    const world = fleet({ a: updated }, { permits: [permit('a', 'unknown')] });
    expect(commands({ ...world, ...marked })).toEqual([
      { kind: 'release', node: 'a', shadow: 'brs-a' },
      { kind: 'bump', shadow: 'brs-a', nodeUid: 'uid-a' },
    ]);
  });

  test('whose node bears marks is freed after their release', () => {
    expect(commands({ ...fleet({ a: updated }, held), ...marked })).toEqual([
      { kind: 'release', node: 'a', shadow: 'brs-a' },
    ]);
  });
});

describe('marks', () => {
  test.each<[string, Partial<World>, Command['kind'][]]>([
    ['at rest are released', fleet({ a: updated }), ['release']],
    ['without shadow and agent are released', silentFor(0), ['release']],
    ['without a shadow wait for the agent to go', {}, []],
    ['of an update that runs stay', fleet({ a: rebooted(null) }), []],
    ['of an update whose agent is gone for long are rescued', fleet({ a: rebooted(null) }, silentFor(15)), ['rescue']],
    ['of an update whose agent is gone for a while stay', fleet({ a: rebooted(null) }, silentFor(14)), []],
    ['on a view that is out of date stay', fleet({ a: { ...updated, stale: true } }), []],
  ])('%s', (_name, world, kinds) => {
    expect(commands({ ...world, ...marked }).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('of a former node of the same name go by the new one', () => {
    const world = fleet({ a: { ...staging, owners: ['uid-former'] } }, { ...marked, ...silentFor(0) });
    expect(commands(world).map(({ kind }) => kind)).toEqual(['release']);
  });

  test('that own a cordon which somebody lifted no longer own it', () => {
    const lifted = { nodes: [node('a', { marks: MARKS })] };
    expect(commands({ ...fleet({ a: rebooted(null) }), ...lifted })).toEqual([{ kind: 'disown', node: 'a' }]);
  });
});

describe('an agent that is gone', () => {
  test('counts as silent only while its node is Ready', () => {
    const back = { nodes: [node('a', { readyChangedAt: minutes(-14) })], ...silentFor(30) };
    expect(commands({ ...fleet({ a: staging }), ...back })).toEqual([]);
    const down = { nodes: [node('a', { ready: false, readyChangedAt: minutes(-30) })], ...silentFor(30) };
    expect(commands({ ...fleet({ a: staging }), ...down })).toEqual([]);
  });

  test('has its update ended also right after the start', () => {
    expect(commands(fleet({ a: staging }, silentFor(15))).map(({ kind }) => kind)).toEqual(['rescue']);
  });

  test('has its update ended between the record of a reboot and the reboot', () => {
    expect(commands(fleet({ a: rebooted('boot-1') }, silentFor(15))).map(({ kind }) => kind)).toEqual(['rescue']);
  });

  test('has its update ended where the record is of a boot that nobody requested', () => {
    const probe = { boot_id: 'boot-0', version: '1.1.0', requested_at: null };
    const world = fleet({ a: { ...rebooted(null), status: { current_state: 'Idle', reboot: probe } } }, silentFor(15));
    expect(commands(world).map(({ kind }) => kind)).toEqual(['rescue']);
  });

  test('finds its spec as it was also where its last word was a failure of the boot before', () => {
    const failed = { ...rebooted('boot-0').status, current_state: 'ErrorReset' } as const;
    expect(commands(fleet({ a: { ...rebooted('boot-0'), status: failed } }, silentFor(15)))).toEqual([]);
  });

  test('finds its spec as it was after a reboot that came', () => {
    expect(commands(fleet({ a: rebooted('boot-0') }, silentFor(15)))).toEqual([]);
  });
});

describe('a node that lost its label when a reboot had been asked for', () => {
  const world = (bootId: string, minutesAgo: number, spec = rebooting.spec!): World => {
    const reboot = { boot_id: 'boot-1', version: '1.1.0', requested_at: moment(-minutesAgo) };
    const status = { current_state: 'StagedAndPerformedUpdate', reboot } as const;
    const drained = { ...MARKS, drained: moment(-minutesAgo) };
    const nodes = [node('a', { managed: false, marks: drained, unschedulable: true, bootId })];
    return fleet({ a: { spec, status } }, { nodes, permits: [permit('a')], ...silentFor(1) });
  };
  const asked = (bootId: string, minutesAgo: number): readonly Command[] =>
    commands(world(bootId, minutesAgo)).filter(({ kind }) => kind !== 'note-reboot');
  const deletion = { kind: 'delete-shadow', shadow: 'brs-a', uid: 'shadow-a', resourceVersion: '100' };

  test('keeps its shadow, its marks and its permit until it is back', () => {
    expect(asked('boot-1', 1)).toEqual([]);
    expect(asked('boot-2', 1)).toEqual([deletion]);
  });

  test('keeps them also where somebody has ended its update since', () => {
    const ended = (bootId: string): readonly Command[] =>
      commands(world(bootId, 1, { state: 'Idle', version: '1.1.0' }));
    expect(ended('boot-1')).toEqual([]);
    expect(ended('boot-2')).toEqual([deletion]);
  });

  test('keeps them no longer than that by the clock of its machine, which may be years ahead', () => {
    const endedFor = (minutesAgo: number): readonly Command[] => {
      const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(-minutesAgo) } as const;
      return commands(world('boot-1', -1_000_000, spec));
    };
    expect(endedFor(14)).toEqual([]);
    expect(endedFor(15)).toEqual([deletion]);
  });

  test('loses them once it has not gone down for as long as one may take to return', () => {
    expect(asked('boot-1', 14)).toEqual([]);
    expect(asked('boot-1', 15)).toEqual([deletion]);
    expect(plan(world('boot-1', 14), POLICY, NOW).requeueAt).toBe(minutes(1));
  });
});

test('a node that lost its label loses its shadow', () => {
  const world = { ...fleet({ a: staging }), nodes: [node('a', { managed: false })] };
  expect(commands(world)).toEqual([
    { kind: 'delete-shadow', shadow: 'brs-a', uid: 'shadow-a', resourceVersion: '100' },
  ]);
});
