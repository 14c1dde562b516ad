import { describe, expect, test } from '@jest/globals';
import {
  fleet,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  reasons,
  rebooting,
  ruling,
  staging,
  started,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';

const MANY = { kind: 'count', count: 10 } as const;

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

  test('until a release is proven, only what the budget can bear is in flight, however many are to prove it', () => {
    const rules = { ...UNPROVEN_TOO, maxFailed: { kind: 'count', count: 2 }, maxConcurrent: MANY } as const;
    expect(started(fleet({ a: {}, b: {}, c: {}, d: {} }), rules)).toEqual(['a', 'b']);
    expect(started(fleet({ a: rebooting, b: {}, c: {}, d: {} }), rules)).toEqual(['b']);
    expect(started(fleet({ a: failed, b: {}, c: {}, d: {} }), rules)).toEqual(['b', 'a']);
  });

  test('a start that may have been written without having been seen is in flight', () => {
    const world = (parts: Parts, writes: 'settled' | 'unknown'): World =>
      fleet({ a: parts, b: {}, c: {} }, { permits: [permit('a', writes)] });
    const rules = { maxFailed: once, maxConcurrent: MANY };
    expect(started(world({}, 'unknown'), rules)).toEqual([]);
    expect(started(world({ stale: true }, 'settled'), rules)).toEqual([]);
    expect(started(world({}, 'settled'), rules)).toEqual(['a']);
  });

  test('a start that has not been seen may lead to a newer version than the node is known to be offered', () => {
    const behind: Parts = { stale: true, status: { target_version: '1.0.5' } };
    const world = (parts: Parts): World => fleet({ a: parts, b: {}, c: {} }, { permits: [permit('a')] });
    const rules = { maxFailed: once, maxConcurrent: MANY };
    expect(started(world(behind), rules)).toEqual([]);
    expect(started(world({ ...behind, status: { ...behind.status, failed_versions: ['1.1.0'] } }), rules)).toEqual([]);
    expect(reasons(world(behind), rules)).toMatchObject({ b: 'Unproven', c: 'Unproven' });
    const two = { ...UNPROVEN_TOO, maxFailed: { kind: 'count', count: 2 }, maxConcurrent: MANY } as const;
    expect(started(world(behind), two)).toEqual(['b']);
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
    const world = (parts: object): World => {
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
    const two = { ...UNPROVEN_TOO, maxFailed: { kind: 'count', count: 2 }, maxConcurrent: MANY } as const;
    expect(started(next, two)).toEqual(['b']);
  });

  test('a node that failed on one version and then on the next blames both', () => {
    const twice = { ...failed.status, crash_count: 2, failed_versions: ['1.1.0', '1.2.0'], target_version: '1.2.0' };
    const world = fleet({ a: { status: twice }, b: {}, c: { status: { target_version: '1.2.0' } } });
    expect(reasons(world, { maxFailed: once, maxConcurrent: MANY })).toMatchObject({
      b: 'RolloutHalted',
      c: 'RolloutHalted',
    });
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

  test('a node that is not Ready after its update for too long counts', () => {
    const nodes = [node('a', { ready: false, readyChangedAt: minutes(-15) }), node('b')];
    const world = fleet({ a: monitoring(-20), b: {} }, { nodes });
    expect(reasons(world, { maxFailed: once, maxConcurrent: MANY })).toEqual({ a: 'SoakFailed', b: 'RolloutHalted' });
  });

  test('a node that runs the version and is not yet at rest proves nothing', () => {
    const world = fleet({ a: monitoring(), b: {} });
    expect(started(world, { maxFailed: once, maxConcurrent: MANY, soakMs: 600_000 })).toEqual([]);
  });

  test('a percentage is never below two nodes', () => {
    expect(started(fleet({ a: failed, b: {}, c: {} }), { maxConcurrent: MANY })).toEqual(['b', 'a']);
  });

  describe('of several policies together', () => {
    const pool = (name: string) => ({
      selector: { matchLabels: { pool: name } },
      maxFailed: MANY,
      maxConcurrent: MANY,
    });
    const inPools = (shadows: Readonly<Record<string, Parts>>): World => {
      const nodes = Object.keys(shadows).map((name) => node(name, { labels: { pool: name.slice(0, 1) } }));
      return fleet(shadows, { nodes, policies: [ruling('a', pool('a')), ruling('b', pool('b'))] });
    };
    const spent = { a1: failed, a2: failed, b1: failed };
    const said = (world: World) => plan(world, { ...POLICY, maxConcurrent: MANY }, NOW);

    test('where they have used up what may fail, the release is halted for people, whom these failures are named', () => {
      const { verdicts, halted, policies } = said(inPools({ ...spent, a3: {}, b2: {} }));
      const message = 'too many nodes of all policies together failed on 1.1.0';
      expect(verdicts).toContainEqual(expect.objectContaining({ node: 'a3', reason: 'RolloutHalted', message }));
      expect(verdicts).toContainEqual(expect.objectContaining({ node: 'b2', reason: 'RolloutHalted', message }));
      const failures = ['a1', 'a2', 'b1'].map((name) => expect.objectContaining({ node: name }));
      expect(halted).toMatchObject([
        { policy: 'a', because: 'NodesOfAllPolicies', failed: failures, mayFail: 3 },
        { policy: 'b', because: 'NodesOfAllPolicies', failed: failures, mayFail: 3 },
      ]);
      expect(policies.map((one) => one.halted)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
    });

    test('those that may still prove it are waited for, by their policy alone', () => {
      const proving = said(inPools({ ...spent, a3: rebooting, a4: {}, b2: {} }));
      expect(proving.verdicts).toContainEqual(expect.objectContaining({ node: 'a4', reason: 'Unproven' }));
      expect(proving.halted.map(({ policy }) => policy)).toEqual(['b']);
    });

    test('a node that is called off for that says so', () => {
      const staged = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } as const;
      const { commands } = said(inPools({ ...spent, a3: staged }));
      expect(commands).toContainEqual(
        expect.objectContaining({ kind: 'call-off', because: expect.objectContaining({ reason: 'RolloutHalted' }) }),
      );
    });
  });
});
