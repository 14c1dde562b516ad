import { describe, expect, test } from '@jest/globals';
import type { PolicyView } from '../../../runtime/controller/plan/facts/policies.ts';
import {
  DRAINED,
  fleet,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  ruling,
  permit,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { ZONE } from './members.ts';

/** What policies say of nodes, and what is said of that. */

const pool = (name: string) => ({ matchLabels: { pool: name } });
const inPool = (name: string, zone = 'z0') => ({ labels: { pool: name, [ZONE]: zone } });
const broken = (selector: PolicyView['policy']['selector']): PolicyView => ({
  kind: 'broken',
  policy: {
    name: 'broken',
    faults: ['spec.maxFailed: expected a number, got "x"'],
    selector,
    priority: 9,
    checksAfter: false,
  },
  resource: { uid: 'u', generation: 1, resourceVersion: '1', status: undefined },
});
const verdicts = (world: World): readonly object[] => plan(world, POLICY, NOW).verdicts;
const two = (policies: readonly PolicyView[], parts: Parts = {}): World =>
  fleet({ a: parts, b: {} }, { nodes: [node('a', inPool('p0')), node('b', inPool('p1'))], policies });

describe('a node is ruled', () => {
  test('by the policy of the highest priority that selects it, whole, and else by the variables', () => {
    const policies = [
      ruling('low', { selector: {}, priority: -1, paused: true }),
      ruling('high', { selector: pool('p0'), ...UNPROVEN_TOO }),
    ];
    expect(verdicts(two(policies))).toMatchObject([
      { node: 'a', policy: 'high', reason: 'Updating' },
      { node: 'b', policy: 'low', reason: 'Paused', message: 'policy low is paused' },
    ]);
    expect(verdicts(two(policies.slice(1)))[1]).not.toHaveProperty('policy');
  });

  test('by nobody where several of the same priority select it, and they are named', () => {
    const [onA, onB] = verdicts(two([ruling('y', { selector: {} }), ruling('x', { selector: pool('p0') })]));
    expect(onA).toMatchObject({ reason: 'PolicyConflict', message: 'policies of the same priority select it: x, y' });
    expect(onB).toMatchObject({ policy: 'y', reason: 'Updating' });
  });

  test('by nobody where its policy cannot be obeyed, and the fault is named', () => {
    const [onA, onB] = verdicts(two([ruling('low', { selector: {} }), broken(pool('p0'))]));
    const message = 'policy broken cannot be obeyed: spec.maxFailed: expected a number, got "x"';
    expect([onA, onB]).toMatchObject([
      { policy: 'broken', reason: 'PolicyInvalid', message },
      { policy: 'low', reason: 'Updating' },
    ]);
  });

  test('by nobody where it is not known what a policy selects', () => {
    const lost = verdicts(two([broken(undefined)]));
    expect(lost).toMatchObject(['a', 'b'].map((name) => ({ node: name, reason: 'PolicyInvalid' })));
  });
});

describe('a staged node', () => {
  const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
  const commandFor = (policies: readonly PolicyView[], more: Partial<World> = {}): string | undefined =>
    plan({ ...two(policies, staged), ...more }, POLICY, NOW).commands.find(
      (one) => 'shadow' in one && one.shadow === 'brs-a',
    )?.kind;
  const freeze = { from: minutes(-1), to: minutes(9), reason: 'the end of the year' };

  test.each<[string, readonly PolicyView[]]>([
    ['paused', [ruling('p', { selector: {}, paused: true })]],
    ['frozen', [ruling('p', { selector: {}, freezes: [freeze] })]],
    ['invalid', [broken({})]],
    ['one of several', [ruling('p', { selector: {} }), ruling('q', { selector: {} })]],
  ])('is called off where its policy is %s', (_what, policies) => {
    expect(commandFor(policies)).toBe('call-off');
  });

  test('waits where what is known may be old, and goes on where only starts are kept', () => {
    expect(commandFor([], { notCurrent: 'nothing is heard of the nodes' })).toBeUndefined();
    const closed = { open: false, triggeredAt: undefined, changesAt: minutes(9) };
    const policy = ruling('p', { selector: {}, window: closed, pauseBetweenMs: 3_600_000, after: ['nobody'] });
    expect(commandFor([policy])).toBe('set-spec');
  });
});

describe('what keeps a node from starting is said with its end', () => {
  const onB = (says: Parameters<typeof ruling>[1], a: Parts = {}): object | undefined =>
    verdicts(
      two([ruling('p', { selector: {}, ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' }, ...says })], a),
    )[1];

  test('a freeze, with its reason: the one that began first, and none that is to come or over', () => {
    const over = { from: minutes(-9), to: NOW, reason: 'over' };
    const first = { from: minutes(-2), to: minutes(5), reason: 'first' };
    const second = { from: minutes(-1), to: minutes(9), reason: 'second' };
    const next = { from: minutes(1), to: minutes(99), reason: 'next' };
    const said = { reason: 'Frozen', message: `first, until ${moment(5)}`, until: minutes(5) };
    for (const freezes of [
      [over, first, second, next],
      [second, next, over, first],
    ]) {
      expect(onB({ freezes })).toMatchObject(said);
    }
    expect(onB({ freezes: [over, next] }, updated)).toMatchObject({ reason: 'Updating' });
    expect(onB({ freezes: [{ ...next, from: NOW }] })).toMatchObject({ reason: 'Frozen' });
  });

  test('the pause after the last update under the policy', () => {
    const ended: Parts = { ...updated, endedAt: minutes(-1) };
    expect(onB({ pauseBetweenMs: 600_000 }, ended)).toMatchObject({ reason: 'Pausing', until: minutes(9) });
    expect(onB({ pauseBetweenMs: 60_000 }, ended)).toMatchObject({ reason: 'Updating' });
  });
});

test('of several zones, one is worked on at a time, and the others are told which', () => {
  const nodes = [node('a', inPool('p0', 'z1')), node('b', inPool('p0', 'z0')), node('c', inPool('p0', 'z1'))];
  const policies = [
    ruling('p', { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' }, zones: { key: ZONE, atOnce: 1 } }),
  ];
  const message = 'nodes of zone z1 are being updated, or are not Ready';
  expect(verdicts(fleet({ a: staging, b: {}, c: {} }, { nodes, policies }))).toMatchObject([
    { reason: 'Updating' },
    { reason: 'ZoneBusy', message },
    { reason: 'WaitingForSlot' },
  ]);
});

test('a node in mid-update that several policies claim by now is busy for each of them', () => {
  const nodes = [
    node('a', { labels: { pool: 'p0', tier: 'x', [ZONE]: 'z1' }, unschedulable: true, marks: DRAINED }),
    node('b', inPool('p0', 'z0')),
    node('c', { labels: { tier: 'x' } }),
    node('d'),
  ];
  const says = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
  const policies = [
    ruling('zoned', { ...says, selector: pool('p0'), zones: { key: ZONE, atOnce: 1 } }),
    ruling('counted', {
      ...says,
      selector: { matchLabels: { tier: 'x' } },
      maxConcurrent: { kind: 'count', count: 1 },
    }),
  ];
  const world = fleet({ a: rebooting, b: {}, c: {}, d: {} }, { nodes, policies });
  expect(plan(world, { ...POLICY, ...says }, NOW).verdicts).toMatchObject([
    { node: 'a', reason: 'Updating' },
    { node: 'b', reason: 'ZoneBusy', message: 'nodes of zone z1 are being updated, or are not Ready' },
    { node: 'c', reason: 'WaitingForSlot', message: 'other nodes of the policy are being updated' },
    { node: 'd', reason: 'Updating' },
  ]);
});

test('under the budget over all, the policy of the highest priority comes first, and the other says what binds', () => {
  const says = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
  const policies = [
    ruling('first', { ...says, selector: pool('p1'), priority: 5 }),
    ruling('next', { ...says, selector: pool('p0') }),
  ];
  const planned = plan(two(policies), POLICY, NOW);
  const message = 'nodes of all policies together are being updated up to MAX_CONCURRENT_UPDATE';
  expect(planned.verdicts).toMatchObject([{ reason: 'WaitingForSlot', message, position: 1 }, { reason: 'Updating' }]);
  expect(planned.policies).toMatchObject([
    { name: 'first', progressing: { status: 'True', reason: 'Updating' } },
    { name: 'next', progressing: { status: 'False', reason: 'WaitingForSlot', message } },
  ]);
});

test('a report counts the nodes that a policy rules, and says how releases do there', () => {
  const failed: Parts = {
    status: { crash_count: 1, failed_versions: ['1.1.0'], state_transition_failure_timestamp: moment(0) },
  };
  const nodes = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => node(name, inPool('p0')));
  const policies = [ruling('p', { maxFailed: { kind: 'count', count: 1 } })];
  const earlier: Parts = { status: { crash_count: 1 } };
  const onOffer: Parts = { status: { failed_versions: ['1.1.0'] } };
  const world = fleet(
    { a: updated, b: staging, c: {}, d: failed, e: { status: null }, g: earlier, h: onOffer },
    { nodes, policies },
  );
  expect(plan(world, POLICY, NOW).policies).toEqual([
    expect.objectContaining({
      name: 'p',
      uid: 'policy-p',
      nodes: { selected: 8, upToDate: 1, updating: 1, waiting: 1, failed: 3 },
      releases: [
        {
          family: 'aws-k8s-1.33/amd64',
          version: '1.1.0',
          offered: true,
          underWay: true,
          proven: false,
          complete: false,
          failed: 2,
          checked: [],
        },
        {
          family: 'aws-k8s-1.33/amd64',
          version: '1.0.0',
          offered: false,
          underWay: false,
          proven: true,
          complete: true,
          failed: 0,
          checked: [],
        },
      ],
      accepted: { status: 'True', reason: 'Accepted', message: 'the policy is obeyed' },
      halted: {
        status: 'True',
        reason: 'RolloutHalted',
        message: 'too many nodes failed on 1.1.0 (aws-k8s-1.33/amd64, 2 failed)',
      },
    }),
  ]);
});

test.each<[string, Readonly<Record<string, Parts>>, Partial<World>, object]>([
  ['rules no node', {}, {}, { reason: 'NoNodes', message: 'the policy rules no managed node' }],
  ['has nothing to do', { a: updated }, {}, { reason: 'UpToDate', message: 'no node waits for an update' }],
  ['has nobody wait', { a: staging }, {}, { status: 'True', message: 'nodes are being updated' }],
  [
    'has several wait: who is nearest to a start',
    { a: {}, b: {}, c: { status: { crash_count: 1, state_transition_failure_timestamp: moment(0) } } },
    { permits: [permit('x')], nodes: [node('a', { held: true }), node('b'), node('c')] },
    { status: 'False', reason: 'WaitingForSlot' },
  ],
])('a policy that %s says so of its progress', (_which, shadows, more, progressing) => {
  const policies = [ruling('p', { selector: {}, ...UNPROVEN_TOO })];
  const { policies: reports } = plan(fleet(shadows, { policies, ...more }), POLICY, NOW);
  expect(reports).toMatchObject([{ name: 'p', progressing }]);
});
