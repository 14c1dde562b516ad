import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../runtime/controller/plan/plan.ts';
import type { Policy } from '../../../runtime/controller/plan/policy.ts';
import type { Snapshot } from '../../../runtime/controller/plan/snapshot.ts';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  POLICY,
  rebooting,
  slot,
  staging,
  updated,
} from './fleet.ts';

const started = (snapshot: Snapshot, policy: Partial<Policy> = {}): readonly string[] =>
  plan(snapshot, { ...POLICY, ...policy }, NOW).commands.flatMap((command) =>
    command.kind === 'start' ? [command.node] : [],
  );
const reasons = (snapshot: Snapshot, policy: Partial<Policy> = {}): Record<string, string> =>
  Object.fromEntries(
    plan(snapshot, { ...POLICY, ...policy }, NOW).verdicts.map(({ node: name, reason }) => [name, reason]),
  );

const MANY = { kind: 'count', count: 10 } as const;
const two = fleet({ a: {}, b: {} });

describe('order', () => {
  test('the fewest failures first, then by name', () => {
    expect(started(fleet({ c: {}, b: { status: { crash_count: 1 } }, d: {} }))).toEqual(['c']);
  });

  test('the node of the controller last of all', () => {
    const failed = { status: { crash_count: 3, state_transition_failure_timestamp: moment(-9) } };
    expect(started(fleet({ a: {}, b: failed }), { ownNode: 'a' })).toEqual(['b']);
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
    expect(started(five, { maxConcurrent, maxFailed: { kind: 'unlimited' } })).toHaveLength(count);
  });

  test.each<[string, Partial<Snapshot>]>([
    ['a slot, though the shadow looks idle', { slots: [slot('x')], nodes: [...two.nodes, node('x')] }],
    ['a slot of a node that is gone', { slots: [slot('gone')] }],
    ['an active shadow without a slot', { ...fleet({ a: {}, b: {}, x: staging }) }],
    ['an active shadow whose node is not known', { shadows: [...two.shadows, ...fleet({ x: staging }).shadows] }],
    ['marks on a node that is not managed', { nodes: [...two.nodes, node('x', { managed: false, marks: MARKS })] }],
    [
      'a node that is not Ready for another reason',
      { nodes: [...two.nodes, node('x', { ready: false, readyChangedAt: minutes(-59) })] },
    ],
  ])('%s takes a place', (_name, more) => {
    expect(started({ ...two, ...more })).toEqual([]);
    expect(reasons({ ...two, ...more })).toMatchObject({ a: 'WaitingForSlot' });
  });

  test('a machine that died an hour ago does not stop the fleet', () => {
    const dead = node('x', { ready: false, readyChangedAt: minutes(-60) });
    expect(started({ ...two, nodes: [...two.nodes, dead] })).toEqual(['a']);
    expect(started({ ...two, nodes: [...two.nodes, node('x', { ready: false })] }, { notReadyHoldMs: 0 })).toEqual([
      'a',
    ]);
  });

  test('a node that still has its slot starts again without another place', () => {
    expect(started({ ...two, slots: [slot('b')] })).toEqual(['b']);
  });

  test('positions are those of the order', () => {
    const { verdicts } = plan(fleet({ a: {}, b: {}, c: {} }), POLICY, NOW);
    expect(verdicts.map(({ position }) => position)).toEqual([undefined, 1, 2]);
  });
});

describe('gates', () => {
  test.each<[string, Partial<Snapshot>, string]>([
    ['hold', { nodes: [node('a', { held: true })] }, 'Held'],
    ['pause', { paused: true }, 'Paused'],
    ['a node that is not Ready', { nodes: [node('a', { ready: false })] }, 'NodeNotReady'],
    ['a silent agent', { silentSince: new Map([['a', minutes(-15)]]) }, 'AgentSilent'],
    ['a closed window', { window: { open: false, triggeredAt: undefined, changesAt: minutes(60) } }, 'OutsideWindow'],
    ['a last start in doubt', { slots: [slot('a', 'unknown')] }, 'WaitingForSlot'],
    ['marks that are still to be released', { nodes: [node('a', { marks: MARKS })] }, 'WaitingForSlot'],
  ])('%s keeps a node from starting', (_name, more, reason) => {
    const world = { ...fleet({ a: {} }), ...more };
    expect(started(world)).toEqual([]);
    expect(reasons(world)).toEqual({ a: reason });
  });

  test.each<[string, Partial<Snapshot>]>([
    ['a pause', { paused: true }],
    ['a closed window', { window: { open: false, triggeredAt: undefined, changesAt: minutes(60) } }],
  ])('%s lets updates finish, and starts no newer version for them', (_name, more) => {
    const staged = fleet({ a: { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } }, more);
    expect(plan(staged, POLICY, NOW).commands).toMatchObject([
      { kind: 'set-spec', spec: { state: 'RebootedIntoUpdate' } },
    ]);
    expect(started(fleet({ a: { ...staging, status: { target_version: '1.2.0' } } }, more))).toEqual([]);
  });

  test('a trigger lets those start who were offered their update before it', () => {
    const window = { open: false, triggeredAt: minutes(-30), changesAt: minutes(60) };
    expect(started(fleet({ a: { offeredAt: minutes(-31) } }, { window }))).toEqual(['a']);
    expect(reasons(fleet({ a: { offeredAt: minutes(-29) } }, { window }))).toEqual({ a: 'OutsideWindow' });
  });

  test('a failure is retried once more than 2^n minutes passed', () => {
    const failed = (crash_count: number, ago: number): Snapshot =>
      fleet({ a: { status: { crash_count, state_transition_failure_timestamp: moment(-ago) } } });
    expect(started(failed(3, 8))).toEqual([]);
    expect(plan(failed(3, 8), POLICY, NOW).wakeAt).toBe(NOW + 1);
    expect(plan(failed(3, 8), POLICY, NOW + 1).commands).toHaveLength(1);
    expect(reasons(failed(30, 1439))).toEqual({ a: 'BackingOff' });
    expect(plan(failed(4294967295, 1440), POLICY, NOW + 1).commands).toHaveLength(1);
  });
});

describe('the failure budget', () => {
  const once = { kind: 'count', count: 1 } as const;
  const failed = {
    status: { crash_count: 1, failed_versions: ['1.1.0'], state_transition_failure_timestamp: moment(-3) },
  };

  test('a release that fails reaches no further node, and those that failed try again', () => {
    const world = fleet({ a: failed, b: {}, c: {} });
    expect(started(world, { maxFailed: once, maxConcurrent: MANY })).toEqual(['a']);
    expect(reasons(world, { maxFailed: once, maxConcurrent: MANY })).toEqual({
      a: 'Updating',
      b: 'RolloutHalted',
      c: 'RolloutHalted',
    });
  });

  test('until a node has completed it, only what the budget can bear is in flight', () => {
    const world = fleet({ a: {}, b: {}, c: {}, d: {} });
    expect(started(world, { maxFailed: { kind: 'count', count: 2 }, maxConcurrent: MANY })).toEqual(['a', 'b']);
    expect(started(fleet({ a: rebooting, b: {}, c: {}, d: {} }), { maxConcurrent: MANY })).toEqual(['b']);
    expect(started(fleet({ a: failed, b: {}, c: {}, d: {} }), { maxConcurrent: MANY })).toEqual(['b', 'a']);
  });

  test('a proven release is bound by concurrency alone', () => {
    expect(started(fleet({ a: updated, b: {}, c: {}, d: {} }), { maxFailed: once, maxConcurrent: MANY })).toEqual([
      'b',
      'c',
      'd',
    ]);
  });

  test('a node of another variant neither proves nor blames', () => {
    const other = node('a', { family: 'aws-k8s-1.33-nvidia/amd64' });
    const world = (parts: object): Snapshot => {
      const base = fleet({ a: parts, b: {}, c: {} });
      return { ...base, nodes: [other, ...base.nodes.slice(1)] };
    };
    expect(started(world(updated), { maxFailed: once, maxConcurrent: MANY })).toEqual(['b']);
    expect(started(world(failed), { maxFailed: once, maxConcurrent: MANY })).toEqual(['b', 'a']);
  });

  test('what was blamed for a failed boot stays so when the retry fails in its drain', () => {
    const drainFailed = {
      ...failed.status,
      crash_count: 2,
      last_failure: { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: '', time: moment(-3) },
    } as const;
    expect(reasons(fleet({ a: { status: drainFailed }, b: {} }), { maxFailed: once })).toMatchObject({
      b: 'RolloutHalted',
    });
  });

  test('a node that failed on one version and starts on the next blames the first', () => {
    const onNext = {
      spec: { state: 'StagedAndPerformedUpdate', version: '1.2.0' },
      status: { ...failed.status, target_version: '1.2.0' },
    } as const;
    expect(reasons(fleet({ a: onNext, b: {} }), { maxFailed: once, maxConcurrent: MANY })).toMatchObject({
      b: 'RolloutHalted',
    });
    const next = fleet({ a: onNext, b: { status: { target_version: '1.2.0' } } });
    expect(started(next, { maxFailed: { kind: 'count', count: 2 }, maxConcurrent: MANY })).toEqual(['b']);
  });

  test('a node that failed and tries again takes nothing of what the others may', () => {
    const world = fleet({ a: { ...staging, ...failed }, b: {}, c: {} });
    expect(started(world, { maxFailed: { kind: 'count', count: 2 }, maxConcurrent: MANY })).toEqual(['b']);
  });

  test('a node that runs the version after all no longer blames it', () => {
    const recovered = { status: { current_version: '1.1.0', failed_versions: ['1.1.0'] } };
    const world = fleet({ a: recovered, b: {} });
    expect(started(world, { maxFailed: { kind: 'count', count: 1 } })).toEqual(['b']);
  });

  test('a failure of the cluster blames no release', () => {
    const drainFailed = { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: '', time: moment(-1) } as const;
    const parts = {
      spec: { version: '1.1.0' },
      status: {
        crash_count: 1,
        failed_versions: null,
        last_failure: drainFailed,
        state_transition_failure_timestamp: moment(-1),
      },
    };
    expect(started(fleet({ a: parts, b: {} }), { maxFailed: once })).toEqual(['b']);
  });

  test('where the newer fields are dropped every failure counts', () => {
    const parts = {
      spec: { version: '1.1.0' },
      status: { crash_count: 1, state_transition_failure_timestamp: moment(-1) },
    };
    expect(reasons(fleet({ a: parts, b: {} }), { maxFailed: once })).toMatchObject({ b: 'RolloutHalted' });
  });

  test('a node that does not return, or is not Ready after its update, counts', () => {
    const gone = {
      ...rebooting,
      status: {
        current_state: 'StagedAndPerformedUpdate',
        reboot: { boot_id: 'boot-1', version: '1.1.0', requested_at: moment(-15) },
      },
    } as const;
    const world = fleet(
      { a: gone, b: {} },
      { nodes: [node('a', { ready: false, readyChangedAt: minutes(-14) }), node('b')] },
    );
    expect(reasons(world, { maxFailed: once, maxConcurrent: MANY })).toEqual({ a: 'NotReturned', b: 'RolloutHalted' });
  });

  test('a percentage is never below two nodes', () => {
    expect(started(fleet({ a: failed, b: {}, c: {} }), { maxConcurrent: MANY })).toEqual(['b', 'a']);
  });
});

describe('where an update must fit into the window', () => {
  const rules = { ...POLICY, mustFit: true };
  const closingIn = (count: number) => ({ open: true, triggeredAt: undefined, changesAt: minutes(count) });
  const start = (world: Snapshot): unknown => plan(world, rules, NOW).commands.some(({ kind }) => kind === 'start');
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
