import { describe, expect, test } from '@jest/globals';
import type { PolicyView } from '../../../runtime/controller/plan/facts/policies.ts';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { EMPTY, type Ledger } from '../../../runtime/api/release/ledger.ts';
import {
  fleet,
  ledgerObject,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  ruling,
  updated,
  type World,
} from './fleet.ts';

/** Policies that come one after the other: `t` is of the policy `test`, `p` of `production`, which waits for it. */

const labels = (pool: string) => ({ labels: { pool } });
const selecting = (pool: string) => ({ selector: { matchLabels: { pool } } });
const test_ = ruling('test', selecting('test'));
const production = ruling('production', { ...selecting('production'), after: ['test'] });

const worldOf = (tests: Readonly<Record<string, Parts>>, more: Partial<World> = {}): World =>
  fleet(
    { ...tests, p: {} },
    {
      nodes: [...Object.keys(tests).map((name) => node(name, labels('test'))), node('p', labels('production'))],
      policies: [test_, production],
      ...more,
    },
  );
const failed: Parts = { status: { crash_count: 1, failed_versions: ['1.1.0'] } };
const newer: Parts = { status: { current_version: '1.2.0', target_version: '1.2.0' } };
/** In mid-update to 1.1.0, which it has run for an hour without a pass. */
const stuckOn = (target: string): Parts => {
  const { spec, status } = monitoring(-60);
  return { spec: spec!, status: { ...status, target_version: target } };
};
const onP = (world: World): object | undefined =>
  plan(world, POLICY, NOW).verdicts.find((verdict) => verdict.node === 'p');
const PASSED = { reason: 'Updating', policy: 'production' };
const halting = ruling('test', { ...selecting('test'), maxFailed: { kind: 'count', count: 1 } });
type Release = NonNullable<NonNullable<NonNullable<PolicyView['resource']>['status']>['releases']>[number];
const withStatus = (...releases: readonly Partial<Release>[]): PolicyView => ({
  ...test_,
  resource: { ...test_.resource!, status: { releases: releases.map((more) => Object.assign({}, complete, more)) } },
});
const complete: Release = { family: 'aws-k8s-1.33/amd64', version: '1.1.0', completedAt: moment(-9) };
/** Away for so long that it proves nothing. */
const lost = (name: string): NodeView => node(name, { ...labels('test'), ready: false, readyChangedAt: minutes(-90) });

/** What the ledger of the release says, and of the family under the awaited policy. */
const remembered = (ledger: Partial<Ledger>, family = 'aws-k8s-1.33/amd64'): Pick<World, 'releases'> => ({
  releases: {
    objects: [ledgerObject({ family, version: '1.1.0' }, { ...EMPTY, ...ledger })],
    refused: new Map(),
    seeds: true,
  },
});
const DAYS = -1440;
const under = (more: Ledger['policies'][string]) => remembered({ policies: { test: more } });

const beside = (...nodes: readonly NodeView[]): Pick<World, 'nodes'> => ({
  nodes: [...nodes, node('p', labels('production'))],
});
const elsewhere = beside(node('t', { ...labels('test'), family: 'other' }));

describe('a release goes on to the next policy', () => {
  test.each<[string, World]>([
    ['where it is proven and nobody waits for it', worldOf({ t: updated })],
    [
      'where it was complete once',
      worldOf({ t: {} }, { policies: [withStatus({ version: '1.0.5' }, {}), production] }),
    ],
    [
      'where those that wait are held',
      worldOf({ t: updated, u: {} }, beside(node('t', labels('test')), node('u', { ...labels('test'), held: true }))),
    ],
    [
      'where those that wait are not Ready',
      worldOf({ t: updated, u: {} }, beside(node('t', labels('test')), lost('u'))),
    ],
    ['where those that wait have failed on it', worldOf({ t: updated, u: failed })],
    [
      'where the last update of those that wait has failed, on whichever version',
      worldOf({ t: updated, u: { status: { crash_count: 1, failed_versions: ['1.0.5'] } } }),
    ],
    ['where nobody is offered it and something newer runs', worldOf({ t: newer })],
    [
      'where there were no nodes of its kind for seven days',
      worldOf({ t: {} }, { ...elsewhere, ...under({ lastSeenAt: moment(7 * DAYS) }) }),
    ],
    [
      'where there never were nodes of its kind, seven days after there were any elsewhere',
      worldOf({ t: {} }, { ...elsewhere, ...remembered({ firstOfferedAt: moment(7 * DAYS) }) }),
    ],
    ['where it was complete once, by its ledger', worldOf({ t: {} }, under({ completedAt: moment(-9) }))],
    ['where its last node is gone since', worldOf({ t: {} }, { ...elsewhere, ...under({ completedAt: moment(-9) }) })],
  ])('%s', (_where, world) => {
    expect(onP(world)).toMatchObject(PASSED);
  });
});

describe('nodes that are held or away, and without which a release cannot be proven, are named to those that wait for it', () => {
  const other = { status: { target_version: '1.2.0' } };
  const typed = (type: string) => ({ labels: { ...labels('test').labels, type } });
  test.each<[string, number, Readonly<Record<string, readonly [Partial<NodeView>, Parts]>>, string]>([
    ['one of another type', 1, { t: [typed('a'), updated], u: [{ held: true, ...typed('b') }, {}] }, ': u'],
    ['one that is about to be removed', 2, { t: [{}, updated], u: [{ leaving: true }, {}] }, ': u'],
    ['one that is held', 2, { t: [{}, updated], u: [{ held: true }, {}] }, ': u'],
    ['one that is away', 2, { t: [{}, updated], u: [lost('u'), {}] }, ': u'],
    ['not who is to follow by itself', 3, { t: [{}, updated], u: [{ held: true }, {}], v: [{}, {}] }, ': u'],
    ['nobody, where the others are enough', 2, { t: [{}, updated], u: [{ held: true }, {}], v: [{}, {}] }, ''],
    ['nobody, where none is held', 2, { t: [{}, updated], u: [{}, {}] }, ''],
    ['nobody of another kind', 1, { u: [{ held: true }, {}], v: [{ held: true, family: 'other' }, {}] }, ': u'],
    ['nobody that is offered another version', 1, { u: [{ held: true }, {}], v: [{ held: true }, other] }, ': u'],
  ])('%s', (_who, count, tests, named) => {
    const proof = { nodes: { kind: 'count', count }, soakMs: 0, per: 'type' } as const;
    const nodes = Object.entries(tests).map(([name, [more]]) => node(name, { ...labels('test'), ...more }));
    const shadows = Object.fromEntries(Object.entries(tests).map(([name, [, parts]]) => [name, parts]));
    const world = worldOf(shadows, {
      nodes: [...nodes, node('p', labels('production'))],
      policies: [ruling('test', { ...selecting('test'), proof }), production],
    });
    const why = named && `: it is not proven without nodes that are held or away${named}`;
    expect(onP(world)).toMatchObject({
      reason: 'WaitingForPolicy',
      message: `1.1.0 is not complete under policy test${why}`,
    });
  });
});

describe('a release waits', () => {
  const waiting = (message: string) => ({
    reason: 'WaitingForPolicy',
    policy: 'production',
    message: expect.stringContaining(message),
  });
  const incomplete = waiting('1.1.0 is not complete under policy test');

  test.each<[string, World]>([
    ['for nodes that wait for it', worldOf({ t: updated, u: {} })],
    [
      'where it is halted, though it was complete once',
      worldOf({ t: updated, u: failed }, { policies: [halting, production], ...under({ completedAt: moment(-9) }) }),
    ],
    [
      'where it is left behind for one that is halted',
      worldOf(
        {
          t: newer,
          u: { status: { ...newer.status, current_version: '1.0.0', ...failed.status, failed_versions: ['1.2.0'] } },
        },
        { policies: [halting, production] },
      ),
    ],
    ['for nodes that are on their way', worldOf({ t: updated, u: monitoring() })],
    ['for one that fails the soak of it, though something newer runs', worldOf({ t: newer, u: stuckOn('1.1.0') })],
    ['for one that was offered something newer since', worldOf({ t: newer, u: stuckOn('1.2.0') })],
    [
      'for one that runs it, is unwell, and knows of nothing newer',
      worldOf({ t: newer, u: updated }, beside(node('t', labels('test')), lost('u'))),
    ],
    ['for its proof', worldOf({ t: { ...updated } }, beside(lost('t')))],
    [
      'where it is halted, though it is proven',
      worldOf({ t: updated, u: failed }, { policies: [halting, production] }),
    ],
    [
      'though another version was complete',
      worldOf({ t: {} }, { policies: [withStatus({ version: '1.0.5' }), production] }),
    ],
    [
      'though it was complete for another kind',
      worldOf({ t: {} }, { policies: [withStatus({ family: 'other' }), production] }),
    ],
    [
      'though it is spoken of, as nothing says when it was complete',
      worldOf({ t: {} }, { policies: [withStatus({ completedAt: null }), production] }),
    ],
    [
      'where nothing is said of releases yet',
      worldOf({ t: {} }, { policies: [{ ...test_, resource: { ...test_.resource!, status: {} } }, production] }),
    ],
    ['though something newer is offered, as nobody runs that', worldOf({ t: { status: { target_version: '1.2.0' } } })],
    [
      'for its proof, though who runs it is offered something newer',
      worldOf({ t: { status: { current_version: '1.1.0', target_version: '1.2.0' } } }, beside(lost('t'))),
    ],
  ])('%s', (_what, world) => {
    expect(onP(world)).toMatchObject(incomplete);
  });

  test('where people halt it, which does not complete it for later, though all run it', () => {
    const { releases } = under({ uid: 'policy-test', met: '1 for 0s', provenAt: moment(-9) });
    const objects = releases.objects.map((one) => Object.assign({}, one, { decision: 'Halt' as const }));
    const { policies } = plan(worldOf({ t: updated }, { releases: { ...releases, objects } }), POLICY, NOW);
    expect(policies.find(({ name }) => name === 'test')).toMatchObject({ releases: [{ complete: false }] });
  });

  test('for a policy that has had nodes of its kind in the last seven days, and people are told once it is passed over', () => {
    const world = worldOf({ t: {} }, { ...elsewhere, ...under({ lastSeenAt: moment(7 * DAYS + 1) }) });
    expect(onP(world)).toMatchObject({
      ...waiting('policy test has no nodes of aws-k8s-1.33/amd64 to prove 1.1.0'),
      until: minutes(1),
    });
    const told = (now: number) => plan(world, POLICY, now).policies.map(({ passedOver }) => passedOver);
    expect(plan(world, POLICY, NOW).requeueAt).toBe(minutes(1));
    expect(told(NOW)).toEqual([[], []]);
    expect(told(minutes(1))).toEqual([[{ policy: 'test', family: 'aws-k8s-1.33/amd64' }], []]);
    const besides = ruling('production', { ...selecting('production'), after: ['none', 'test'] });
    expect(plan({ ...world, policies: [test_, besides] }, POLICY, NOW).requeueAt).toBe(minutes(1));
  });

  test('for a policy that there is not, and for one that cannot be obeyed', () => {
    const broken: PolicyView = {
      kind: 'broken',
      policy: { name: 'test', faults: ['spec.x'], checksAfter: false, ...selecting('test'), priority: 0 },
      resource: test_.resource!,
    };
    expect(onP(worldOf({ t: {} }, { policies: [production] }))).toMatchObject(
      waiting('there is no policy test that could be waited for'),
    );
    expect(onP(worldOf({ t: {} }, { policies: [broken, production] }))).toMatchObject(
      waiting('policy test cannot be obeyed'),
    );
  });

  describe('where policies of the same priority select nodes of the awaited one', () => {
    const rival = (more: object = {}): PolicyView =>
      ruling('rival', { selector: { matchLabels: { rival: 'yes' } }, ...more });
    const nodes = [
      node('t', labels('test')),
      node('u', { labels: { pool: 'test', rival: 'yes' } }),
      node('p', labels('production')),
    ];
    const unseen = under({ lastSeenAt: moment(7 * DAYS) });
    const message = 'nodes of policy test are in conflict with another policy';

    test('and so no node of its kind is left to it', () => {
      const world = worldOf({ u: {} }, { nodes: nodes.slice(1), policies: [test_, rival(), production], ...unseen });
      expect(onP(world)).toMatchObject(waiting(message));
      const other = [node('u', { labels: { pool: 'test', rival: 'yes' }, family: 'other' }), nodes[2]!];
      expect(plan(world, POLICY, NOW).policies.flatMap(({ passedOver }) => passedOver)).toEqual([]);
      expect(onP({ ...world, nodes: other })).toMatchObject(PASSED);
    });

    test('though all others run it, which does not complete it for later either', () => {
      const world = worldOf({ t: updated, u: updated }, { nodes, policies: [test_, rival(), production] });
      expect(onP(world)).toMatchObject(waiting(message));
      const { policies } = plan(world, POLICY, NOW);
      expect(policies.find(({ name }) => name === 'test')).toMatchObject({ releases: [{ complete: false }] });
      expect(onP({ ...world, policies: [withStatus({}), rival(), production] })).toMatchObject(PASSED);
    });

    test('until one of them has the higher priority', () => {
      const policies = [test_, rival({ priority: 1 }), production];
      expect(onP(worldOf({ t: updated, u: updated }, { nodes, policies }))).toMatchObject(PASSED);
    });
  });

  test('until the soak of its proof is over, which wakes the plan', () => {
    const soaking = ruling('test', {
      ...selecting('test'),
      proof: { nodes: { kind: 'count', count: 1 }, soakMs: 300_000 },
    });
    const world = worldOf({ t: { ...updated, upToDateSince: minutes(-2) } }, { policies: [soaking, production] });
    const { requeueAt, policies } = plan(world, POLICY, NOW);
    expect([requeueAt, policies.map(({ name, nextChangeAt }) => [name, nextChangeAt])]).toEqual([
      minutes(3),
      [
        ['production', minutes(3)],
        ['test', minutes(3)],
      ],
    ]);
    expect(plan(world, POLICY, minutes(3)).commands).toMatchObject([{ kind: 'start', node: 'p' }]);
  });
});

test('policies that wait for each other start nothing, and each is named', () => {
  const round = ruling('test', { ...selecting('test'), after: ['production'] });
  const { verdicts, policies, commands } = plan(worldOf({ t: {} }, { policies: [round, production] }), POLICY, NOW);
  const message = 'policies wait for each other: production, test';
  expect(commands).toEqual([]);
  expect(verdicts).toMatchObject([
    { reason: 'PolicyInvalid', message },
    { reason: 'PolicyInvalid', message },
  ]);
  expect(policies).toMatchObject([
    { accepted: { status: 'False', reason: 'DependencyCycle', message } },
    { accepted: { status: 'False' } },
  ]);
});
