import { describe, expect, test } from '@jest/globals';
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
  reasons,
  rebooting,
  permit,
  staging,
  started,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';

const two = fleet({ a: {}, b: {} });
const atRest = (current_state: 'MonitoringUpdate' | 'ErrorReset'): Parts => ({
  spec: { version: '1.1.0' },
  status: { current_state, crash_count: 1, failed_versions: [] },
});

describe('order', () => {
  const ALL = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
  const failed = (crash_count: number): Parts => ({
    status: { crash_count, failed_versions: [], state_transition_failure_timestamp: moment(-2000) },
  });

  test('the fewest failures first, then by name', () => {
    expect(started(fleet({ a: failed(2), c: {}, b: failed(1), d: {} }), ALL)).toEqual(['c', 'd', 'b', 'a']);
  });

  test('the node of the controller last of all', () => {
    expect(started(fleet({ a: {}, b: failed(3), c: failed(1) }), { ...ALL, ownNode: 'a' })).toEqual(['c', 'b', 'a']);
  });
});

describe('concurrency', () => {
  test.each([
    [{ kind: 'count', count: 2 } as const, 2],
    [{ kind: 'percent', percent: 50 } as const, 2],
    [{ kind: 'percent', percent: 10 } as const, 1],
    [{ kind: 'unlimited' } as const, 5],
  ])('%j of 5 nodes', (maxConcurrent, count) => {
    const five = fleet({ a: {}, b: {}, c: {}, d: {}, e: {} });
    expect(started(five, { ...UNPROVEN_TOO, maxConcurrent })).toHaveLength(count);
  });

  test('whatever the policy, no more than 600 at once', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    const thousand = fleet(Object.fromEntries(names.map((name) => [name, {}])));
    const rules = { ...POLICY, ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
    const { verdicts, budget } = plan(thousand, rules, NOW);
    expect([budget.capacity, budget.holders.length]).toEqual([600, 600]);
    expect(verdicts.filter(({ position }) => position !== undefined)).toHaveLength(400);
    expect(started(thousand, { ...rules, maxConcurrent: { kind: 'percent', percent: 61 } })).toHaveLength(600);
  });

  test('of more permits than that, which another version has left, each is given back, and only then another taken', () => {
    const names = Array.from({ length: 602 }, (_, index) => `n${index}`);
    const parts = (name: string): Parts => (name === 'n0' ? {} : name === 'n1' ? updated : staging);
    const world = fleet(Object.fromEntries(names.map((name) => [name, parts(name)])), {
      permits: names.slice(1).map((name) => permit(name)),
    });
    const rules = { ...POLICY, maxConcurrent: { kind: 'unlimited' } } as const;
    expect(plan(world, rules, NOW).commands).toMatchObject([{ kind: 'free', shadow: 'brs-n1' }]);
    const fewer = {
      ...world,
      permits: world.permits.slice(2),
      shadows: world.shadows.filter(({ name }) => name !== 'brs-n2'),
    };
    expect(started(fewer, rules)).toEqual(['n0']);
  });

  test.each<[string, Partial<World>]>([
    ['a permit, though the shadow looks idle', { permits: [permit('x')], nodes: [...two.nodes, node('x')] }],
    ['a permit of a node that is gone', { permits: [permit('gone')] }],
    ['an active shadow without a permit', { ...fleet({ a: {}, b: {}, x: staging }) }],
    ['a monitored one that is wanted at rest', { ...fleet({ a: {}, b: {}, x: atRest('MonitoringUpdate') }) }],
    ['a failed one that is wanted at rest', { ...fleet({ a: {}, b: {}, x: atRest('ErrorReset') }) }],
    ['an active shadow whose node is not known', { shadows: [...two.shadows, ...fleet({ x: staging }).shadows] }],
    ['marks on a node that is not managed', { nodes: [...two.nodes, node('x', { managed: false, marks: MARKS })] }],
    [
      'a node that is not Ready for another reason',
      { nodes: [...two.nodes, node('x', { ready: false, readyChangedAt: minutes(-59), wasReady: true })] },
    ],
    [
      'a node that somebody else has out',
      { nodes: [...two.nodes, node('x', { unschedulable: true, outAt: minutes(-59) })] },
    ],
  ])('%s takes a place', (_name, more) => {
    expect(started({ ...two, ...more }, UNPROVEN_TOO)).toEqual([]);
    expect(reasons({ ...two, ...more }, UNPROVEN_TOO)).toMatchObject({ a: 'WaitingForSlot' });
  });

  test('a shadow without a status takes none, nor does one at rest whose node is not known', () => {
    expect(started(fleet({ a: {}, x: { ...staging, status: null } }))).toEqual(['a']);
    expect(started({ ...two, shadows: [...two.shadows, ...fleet({ x: {} }).shadows] })).toEqual(['a']);
  });

  test('a machine that died an hour ago does not stop the fleet', () => {
    const down = { ready: false, wasReady: true, readyChangedAt: minutes(-60) };
    expect(started({ ...two, nodes: [...two.nodes, node('x', down)] })).toEqual(['a']);
    const fresh = node('x', { ...down, readyChangedAt: minutes(-1) });
    expect(started({ ...two, nodes: [...two.nodes, fresh] }, { notReadyHoldMs: 0 })).toEqual(['a']);
  });

  test('who takes a place is told with the reason, and when it comes back by itself', () => {
    const dead = node('x', { ready: false, readyChangedAt: minutes(-59), wasReady: true });
    const world = fleet({ a: {}, b: staging }, { nodes: [...two.nodes, dead] });
    expect(plan(world, { ...POLICY, maxConcurrent: { kind: 'count', count: 2 } }, NOW).budget.holders).toEqual([
      { node: 'b', because: 'Update' },
      { node: 'x', because: 'NodeNotReady', until: minutes(1) },
    ]);
    expect(plan({ ...two, nodes: [...two.nodes, dead] }, POLICY, NOW).verdicts[0]).toMatchObject({
      message: 'nodes that are not Ready, or that others have out, take the permits',
    });
    const over = fleet({ a: {}, b: atRest('ErrorReset') }, { silentSince: new Map([['b', minutes(-5)]]) });
    expect(plan(over, POLICY, NOW).budget.holders).toEqual([{ node: 'b', because: 'AgentSilent', until: minutes(10) }]);
  });

  test('where nodes that are updated and nodes that are down take the places, updates are waited for', () => {
    const dead = node('x', { ready: false, readyChangedAt: minutes(-59), wasReady: true });
    const world = fleet({ a: {}, b: staging }, { nodes: [...two.nodes, dead] });
    expect(
      plan(world, { ...POLICY, ...UNPROVEN_TOO, maxConcurrent: { kind: 'count', count: 2 } }, NOW).verdicts[0],
    ).toMatchObject({
      reason: 'WaitingForSlot',
      message: 'other nodes are being updated',
    });
  });

  test('holders of places are listed by name, unknown nodes last, and marks that are left as such', () => {
    const nodes = [node('e', { marks: MARKS }), node('d', { managed: false, marks: MARKS }), node('c'), node('b')];
    const world = fleet(
      { e: updated, c: staging, b: staging },
      { nodes, permits: [permit('z'), permit('y'), permit('e')] },
    );
    expect(plan(world, { ...POLICY, maxConcurrent: { kind: 'unlimited' } }, NOW).budget.holders).toEqual([
      { node: 'b', because: 'Update' },
      { node: 'c', because: 'Update' },
      { node: 'd', because: 'Marks' },
      { node: 'e', because: 'Update' },
      { node: 'uid-y', because: 'NodeGone' },
      { node: 'uid-z', because: 'NodeGone' },
    ]);
  });

  test('a node that still has its permit starts again without another place', () => {
    expect(started({ ...two, permits: [permit('b')] })).toEqual(['b']);
  });

  test('positions are those of the order', () => {
    const { verdicts } = plan(fleet({ a: {}, b: {}, c: {} }), { ...POLICY, ...UNPROVEN_TOO }, NOW);
    expect(verdicts.map(({ position }) => position)).toEqual([undefined, 1, 2]);
  });
});

describe('gates', () => {
  test.each<[string, Partial<World>, string]>([
    ['hold', { nodes: [node('a', { held: true })] }, 'Held'],
    ['removal', { nodes: [node('a', { leaving: true })] }, 'Leaving'],
    ['pause', { paused: true }, 'Paused'],
    ['a node that is not Ready', { nodes: [node('a', { ready: false })] }, 'NodeNotReady'],
    ['a silent agent', { silentSince: new Map([['a', minutes(-15)]]) }, 'AgentSilent'],
    ['a closed window', { window: { open: false, triggeredAt: undefined, changesAt: minutes(60) } }, 'OutsideWindow'],
    ['a last start in doubt', { permits: [permit('a', 'unknown')] }, 'WaitingForSlot'],
    ['a view from before an own write', fleet({ a: { stale: true } }), 'WaitingForSlot'],
    ['marks that are still to be released', { nodes: [node('a', { marks: MARKS })] }, 'WaitingForSlot'],
  ])('%s keeps a node from starting', (_name, more, reason) => {
    const world = { ...fleet({ a: {} }), ...more };
    expect(started(world)).toEqual([]);
    expect(reasons(world)).toEqual({ a: reason });
  });

  test.each<[string, Partial<World>]>([
    ['a pause', { paused: true }],
    ['a closed window', { window: { open: false, triggeredAt: undefined, changesAt: minutes(60) } }],
  ])('%s lets reboots finish, and starts no newer version for what is staged', (_name, more) => {
    const rebooted = {
      ...rebooting,
      status: { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' },
    } as const;
    expect(plan(fleet({ a: rebooted }, more), POLICY, NOW).commands).toMatchObject([
      { kind: 'set-spec', spec: { state: 'MonitoringUpdate' } },
    ]);
    expect(started(fleet({ a: { ...staging, status: { target_version: '1.2.0' } } }, more))).toEqual([]);
  });

  test('a trigger lets those start who were offered their update before it', () => {
    const window = { open: false, triggeredAt: minutes(-30), changesAt: minutes(60) };
    expect(started(fleet({ a: { offeredAt: minutes(-31) } }, { window }))).toEqual(['a']);
    expect(reasons(fleet({ a: { offeredAt: minutes(-29) } }, { window }))).toEqual({ a: 'OutsideWindow' });
  });

  test.each([
    [1, 2],
    [2, 4],
    [3, 8],
    [10, 1024],
    [11, 1440],
    [4294967295, 1440],
  ])('a failure, the %ith in a row, is retried once more than %i minutes passed', (crash_count, ago) => {
    const world = fleet({ a: { status: { crash_count, state_transition_failure_timestamp: moment(-ago) } } });
    expect(reasons(world)).toEqual({ a: 'BackingOff' });
    expect(plan(world, POLICY, NOW)).toMatchObject({ commands: [], requeueAt: NOW + 1 });
    expect(plan(world, POLICY, NOW + 1).commands).toHaveLength(1);
  });

  describe('a failure is paused after', () => {
    const at = moment(-1);
    const failure = { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: '', time: at } as const;
    const failed = {
      crash_count: 1,
      state_transition_failure_timestamp: at,
      last_failure: failure,
      failed_versions: [],
    };
    const of = (version: string, more: NonNullable<Parts['status']> = {}) => ({
      ...failed,
      last_failure: { ...failure, version },
      ...more,
    });
    const named = { spec: { version: '1.0.9' } };

    test.each<[string, Parts]>([
      ['of the version that it failed on', { status: of('1.1.0') }],
      ['of one that it has failed on before', { status: of('1.0.9', { failed_versions: ['1.1.0', '1.0.9'] }) }],
      ['where the version is not known', { status: failed }],
      [
        'where what is on record is another end',
        { ...named, status: of('1.0.9', { last_failure: { ...failure, version: '1.0.9', time: moment(0) } }) },
      ],
    ])('before another try %s', (_, parts) => {
      expect(reasons(fleet({ a: parts }))).toEqual({ a: 'BackingOff' });
    });

    test.each<[string, Parts]>([
      ['by its record', { status: of('1.0.9') }],
      ['by the spec of an agent that keeps no record', { ...named, status: { ...failed, last_failure: null } }],
    ])('and not before the first try of a newer release, %s', (_, parts) => {
      expect(started(fleet({ a: parts }))).toEqual(['a']);
    });
  });
});
