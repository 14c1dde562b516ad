import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { UP_TO_DATE } from '../../../runtime/api/shadow/names.ts';
import {
  DRAINED,
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
  ruling,
  type Rules,
  permit,
  staging,
  started,
  updated,
  type World,
} from './fleet.ts';

/** Who proves a release, and what waits for that. */

const many: Partial<Rules> = { maxConcurrent: { kind: 'unlimited' }, maxFailed: { kind: 'unlimited' } };
const proving = (nodes: Rules['proof']['nodes'], soakMs = 0): Partial<Rules> => ({ ...many, proof: { nodes, soakMs } });
const count = (nodes: number) => ({ kind: 'count', count: nodes }) as const;
const six = { a: {}, b: {}, c: {}, d: {}, e: {}, f: {} };
const failed: Parts = {
  status: { crash_count: 1, failed_versions: ['1.1.0'], state_transition_failure_timestamp: moment(-3) },
};
const returned: Parts = {
  spec: { state: 'RebootedIntoUpdate', version: '1.1.0' },
  status: { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' },
};
const heldBack: Parts = { ...failed, status: { ...failed.status, state_transition_failure_timestamp: moment(0) } };

test.each<[string, Rules['proof']['nodes'], number]>([
  ['as many nodes start as prove a release', count(2), 2],
  ['a share of the nodes is rounded up', { kind: 'percent', percent: 20 }, 2],
  ['it is at least one', { kind: 'percent', percent: 1 }, 1],
  ['it is no more than there are', count(9), 6],
])('%s', (_what, nodes, most) => {
  expect(started(fleet(six), proving(nodes))).toHaveLength(most);
});

test('a node at rest whose last start is in doubt counts once for the release that it runs', () => {
  const world = fleet({ a: updated, b: {}, c: {} }, { permits: [permit('a', 'unknown')] });
  expect(started(world, proving(count(2)))).toEqual(['b']);
});

test('a bad release reaches three nodes, one after the other, and is halted by a failure budget that allows more', () => {
  const after = (failures: readonly string[]): readonly string[] =>
    started(fleet({ ...six, ...Object.fromEntries(failures.map((name) => [name, heldBack])) }), many);
  expect([after([]), after(['a']), after(['a', 'b']), after(['a', 'b', 'c'])]).toEqual([['a'], ['b'], ['c'], []]);
  expect(reasons(fleet({ a: heldBack, b: heldBack, c: heldBack, d: {} }), many)).toMatchObject({ d: 'RolloutHalted' });
  // A proof ends no halt: three of four have failed.
  expect(started(fleet({ a: heldBack, b: heldBack, c: heldBack, d: {}, e: updated }), many)).toEqual([]);
});

test('a node that waits says which nodes have to prove the release, and until when', () => {
  const verdictOn = (world: World, rules: Partial<Rules>): object =>
    plan(world, { ...POLICY, ...rules }, NOW).verdicts.find((one) => one.node === 'f')!;
  expect(verdictOn(fleet(six), proving(count(4)))).toMatchObject({
    reason: 'Unproven',
    message: '1.1.0 is yet to be proven by a, b, c and more',
  });
  const soaking = { ...updated, upToDateSince: minutes(-2) };
  expect(verdictOn(fleet({ ...six, a: soaking }), proving(count(1), 300_000))).toMatchObject({
    message: '1.1.0 is yet to be proven by a',
    until: minutes(3),
  });
});

test('nobody follows while a node soaks that is to prove the release, and all do once it has', () => {
  const rules = { ...POLICY, ...proving(count(1), 300_000) };
  const starts = (on: Partial<NodeView>, parts: Parts, minute: number): number => {
    const world = fleet(
      { a: { ...updated, ...parts }, b: {}, c: {} },
      { nodes: [node('a', on), node('b'), node('c')] },
    );
    return plan(world, rules, minutes(minute)).commands.filter(({ kind }) => kind === 'start').length;
  };
  expect([starts({}, { upToDateSince: minutes(0) }, 4), starts({}, { upToDateSince: minutes(0) }, 5)]).toEqual([0, 2]);
  expect([starts({}, { upToDateSince: minutes(-9), finishedAt: minutes(0) }, 4)]).toEqual([0]);
  expect([starts({ readyChangedAt: minutes(0) }, { upToDateSince: minutes(-9) }, 4)]).toEqual([0]);
});

describe('a node that is to prove a release and is away without having been asked to reboot', () => {
  const away = (ready: boolean, since: number): World =>
    fleet(
      { a: staging, b: {}, c: {} },
      {
        nodes: [node('a', { ready, readyChangedAt: minutes(ready ? -99 : -since) }), node('b'), node('c')],
        silentSince: new Map(ready ? [['a', minutes(-since)]] : []),
        permits: [permit('a')],
      },
    );

  test.each([true, false])(
    'is counted on for as long as a reboot may take (Ready: %s), which wakes the plan',
    (ready) => {
      expect([started(away(ready, 14), many), started(away(ready, 15), many)]).toEqual([[], ['b']]);
      expect(plan(away(ready, 14), { ...POLICY, ...many }, NOW).requeueAt).toBe(minutes(1));
    },
  );

  test('is waited for where it was asked', () => {
    const nodes = [
      node('a', { ready: false, readyChangedAt: minutes(-14), unschedulable: true, marks: DRAINED }),
      node('b'),
    ];
    expect(plan(fleet({ a: rebooting, b: {} }, { nodes }), { ...POLICY, ...many }, NOW)).toMatchObject({
      commands: [],
      verdicts: [{ node: 'a' }, { node: 'b', reason: 'Unproven' }],
    });
  });

  test('is on trial once its agent has said that it is back, however long it has not been Ready', () => {
    const nodes = [node('a', { ready: false, readyChangedAt: minutes(-99) }), node('b')];
    const world = fleet({ a: returned, b: {} }, { nodes, permits: [permit('a')] });
    expect(plan(world, { ...POLICY, ...many }, NOW)).toMatchObject({
      commands: [{ kind: 'set-spec', spec: { state: 'MonitoringUpdate' } }],
      verdicts: [{ node: 'a' }, { node: 'b', reason: 'Unproven' }],
    });
  });
});

describe('a node that is to prove a release, and whose drain lets no pod go', () => {
  const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name, name < 'c' ? { marks: MARKS, unschedulable: true } : {}));
  const stuck = (since: number, ...blocked_by: readonly string[]): Parts => {
    const drain = { started_at: moment(-30), pods_left: 1, blocked_by: [...blocked_by] };
    return { ...rebooting, status: { ...rebooting.status, drain }, stalledSince: minutes(-since) };
  };
  const worlds = (a: Parts, b: Parts = {}): World => fleet({ a, b, c: {}, d: {} }, { nodes });

  test('is waited for two minutes, which wakes the plan; then another one proves it', () => {
    const rest = nodes.map((one) => (one.name === 'b' ? node('b') : one));
    const world = (since: number): World => ({ ...worlds(stuck(since, 'shop/web')), nodes: rest });
    expect([started(world(1), many), started(world(2), many)]).toEqual([[], ['b']]);
    expect(plan(world(1), { ...POLICY, ...many }, NOW).requeueAt).toBe(minutes(1));
  });

  test('is waited for where its last report is old, or where the Node says that it is drained', () => {
    const said = (reportedAt: number): Parts => {
      const { status, ...rest } = stuck(9, 'web');
      return { ...rest, status: { ...status, drain: { ...status!.drain!, reported_at: moment(reportedAt) } } };
    };
    const [a, ...others] = nodes;
    const world = (reportedAt: number, drained?: string): World => ({
      ...worlds(said(reportedAt), stuck(9, 'web')),
      nodes: [{ ...a!, marks: { ...MARKS, ...(drained !== undefined && { drained }) } }, ...others],
    });
    expect(started(world(0), many)).toEqual(['c']);
    expect(started(world(-1), many)).toEqual([]);
    expect(started(world(0, moment(0)), many)).toEqual([]);
  });

  test('counts among those that may fail all the same', () => {
    const two = { ...many, maxFailed: count(2) } as const;
    expect(started(worlds(stuck(9, 'web'), rebooting), many)).toEqual([]);
    expect(started(worlds(stuck(9, 'web'), stuck(9)), many)).toEqual([]);
    expect(started(worlds(stuck(9, 'web'), stuck(9, 'web')), two)).toEqual([]);
    expect(started(worlds(stuck(9, 'web'), stuck(9, 'web')), many)).toEqual(['c']);
  });
});

describe('before a node is disturbed, those are counted once more that are disturbed or run the release', () => {
  const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
  const kinds = (
    shadows: Readonly<Record<string, Parts>>,
    world: Partial<World> = {},
  ): Readonly<Record<string, string>> =>
    Object.fromEntries(
      plan(fleet(shadows, world), { ...POLICY, ...many }, NOW).commands.flatMap((command) =>
        'shadow' in command ? [[command.shadow, command.kind]] : [],
      ),
    );

  test('a node that came back once another had taken its place is called off, and says why', () => {
    expect(kinds({ a: staged, b: rebooting })).toEqual({ 'brs-a': 'call-off' });
    expect(reasons(fleet({ a: staged, b: rebooting }), many)).toMatchObject({ a: 'Unproven' });
  });

  test('one that runs the release already and has staged it again does not count against itself', () => {
    expect(kinds({ a: { ...staged, status: { ...staged.status, ...updated.status } } })).toEqual({
      'brs-a': 'set-spec',
    });
  });

  test('who is called off is not named among those that are to prove the release', () => {
    const { commands } = plan(fleet({ a: staged, b: rebooting }), { ...POLICY, ...many }, NOW);
    const because = expect.objectContaining({ message: '1.1.0 is yet to be proven by b' });
    expect(commands).toEqual([expect.objectContaining({ kind: 'call-off', node: 'a', because })]);
  });

  test('of several the first goes on', () => {
    expect(kinds({ a: staged, b: staged })).toEqual({ 'brs-a': 'set-spec', 'brs-b': 'call-off' });
  });

  test('one that waits until it is Ready comes after those that go on, and is called off with them', () => {
    const nodes = [node('a', { ready: false, readyChangedAt: minutes(-1) }), node('b')];
    expect(kinds({ a: staged, b: staged }, { nodes })).toEqual({ 'brs-a': 'call-off', 'brs-b': 'set-spec' });
    expect(kinds({ a: staged }, { nodes: nodes.slice(0, 1) })).toEqual({});
  });

  test('a node that may have been let through by a write that is not seen yet counts among them, in any order of names', () => {
    const written: Parts = { ...staged, stale: true };
    expect([kinds({ a: staged, b: written }), kinds({ a: written, b: staged })]).toEqual([
      { 'brs-a': 'call-off' },
      { 'brs-b': 'call-off' },
    ]);
    expect(reasons(fleet({ a: staged, b: written }), many)).toEqual({ a: 'Unproven', b: 'Updating' });
  });

  test('one that failed on it, and all once it is proven, go on', () => {
    const again = { ...staged, status: { ...staged.status, ...failed.status } };
    expect(kinds({ a: again, b: rebooting })).toEqual({ 'brs-a': 'set-spec' });
    expect(kinds({ a: staged, b: staged, c: updated })).toEqual({ 'brs-a': 'set-spec', 'brs-b': 'set-spec' });
  });
});

test('each policy has a release proven by nodes of its own', () => {
  const labels = { pool: 'test' };
  const nodes = [node('a', { labels }), node('b', { labels }), node('c'), node('d')];
  const policies = [ruling('test', { ...many, selector: { matchLabels: labels } })];
  expect(started(fleet({ a: updated, b: {}, c: {}, d: {} }, { nodes, policies }), many)).toEqual(['b', 'c']);
});

test('nodes of a policy that has proven a release keep no other policy from trying it, and those of one that has not do', () => {
  const labels = { pool: 'test' };
  const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name, { labels }));
  const policies = [ruling('test', { ...many, selector: { matchLabels: labels } })];
  const onTheirWay = { b: rebooting, c: rebooting, d: rebooting };
  const world = (a: Parts): World => fleet({ a, ...onTheirWay, e: {} }, { nodes: [...nodes, node('e')], policies });
  expect(started(world(updated), many)).toEqual(['e']);
  expect(started(world(rebooting), many)).toEqual([]);
});

describe('a soak of an hour', () => {
  const rules = proving(count(1), 3_600_000);

  test('is not over for an agent that has just come back, before its condition says that it is there', () => {
    const silent = { type: UP_TO_DATE, status: 'Unknown', reason: 'AgentSilent', message: 'x' } as const;
    const conditions = [{ ...silent, lastTransitionTime: moment(-30) }];
    const since = { stateSeenAt: minutes(-120), finishedAt: minutes(-120) };
    const a: Parts = { status: { ...updated.status, conditions }, ...since };
    expect(started(fleet({ a, b: {}, c: {} }), rules)).toEqual([]);
    expect(started(fleet({ a: { ...updated, ...since }, b: {}, c: {} }), rules)).toEqual(['b', 'c']);
  });

  test('counts from when this process has seen the node become Ready, whatever its kubelet says', () => {
    const a: Parts = { ...updated, upToDateSince: minutes(-61), finishedAt: minutes(-61) };
    const ready = (readyFrom: number): World => {
      const nodes = [node('a', { readyChangedAt: minutes(-180), readyFrom }), node('b'), node('c')];
      return fleet({ a, b: {}, c: {} }, { nodes });
    };
    expect(started(ready(minutes(-1)), rules)).toEqual([]);
    expect(started(ready(minutes(-60)), rules)).toEqual(['b', 'c']);
  });
});
