import { describe, expect, test } from '@jest/globals';
import type { Ledger } from '../../../runtime/api/release/ledger.ts';
import type { ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { haltedBecause } from '../../../runtime/controller/plan/releases/halted.ts';
import {
  fleet,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  reasons,
  type Rules,
  ruling,
  permit,
  started,
  updated,
  type World,
} from './fleet.ts';
import { FAMILY, MET, SMOKE, failed, failedCheck, failureOf, withLedger } from './kept.ts';

const halted = (limit: number) => ({ '': { haltedAt: moment(-9), limit: String(limit) } });
const standing = (world: World, rules: Partial<Rules> = {}) =>
  plan(world, { ...POLICY, ...rules }, NOW).ledger.find(({ version }) => version === '1.1.0')?.ledger?.policies[''];
const unlimited = { maxConcurrent: { kind: 'unlimited' }, maxFailed: { kind: 'unlimited' } } as const;

describe('a release that was proven', () => {
  const away = { nodes: [node('a', { ready: false, readyChangedAt: minutes(-1) }), node('b')] };

  test('stays so while the node that has proven it is away', () => {
    const world = fleet({ a: updated, b: {} }, away);
    expect(started(withLedger(world, { policies: { '': MET } }), unlimited)).toEqual(['b']);
    expect(started(withLedger(world, {}), unlimited)).toEqual([]);
  });

  test.each([
    ['under a policy that was made anew', { ...MET, uid: 'another' }],
    ['by a proof that asked for less', { ...MET, met: '1 for 5s' }],
  ])('%s is proven again', (_, under) => {
    const world = fleet({ a: updated, b: {} }, away);
    expect(started(withLedger(world, { policies: { '': under } }), unlimited)).toEqual([]);
  });
});

describe('a halt', () => {
  const four = fleet({ a: {}, b: {}, c: {}, d: {}, e: updated });

  test.each([
    ['a proof', MET, {}],
    ['other numbers', {}, { proof: { nodes: { kind: 'count', count: 4 }, soakMs: 0 } }],
  ] as const)('does not end with %s, whatever may fail by then', (_, known, rules) => {
    const policies = { '': { ...halted(3)[''], ...known } };
    const world = withLedger(four, { failures: failed('a', 'b', 'c'), policies });
    expect(reasons(world, { ...unlimited, ...rules })).toMatchObject({ d: 'RolloutHalted' });
  });

  test('ends with fewer failures, and says nothing of it then', () => {
    const world = withLedger(four, { failures: failed('a', 'b'), policies: halted(3) });
    expect(started(world, unlimited)).toContain('d');
    expect(standing(world, unlimited)).toMatchObject({ haltedAt: null, limit: null });
  });

  test('does not end while not all is known to be current', () => {
    const world = withLedger(four, { failures: failed('a', 'b'), policies: halted(3) });
    expect(standing({ ...world, notCurrent: 'the list of nodes is not answered' }, unlimited)).toMatchObject({
      limit: '3',
    });
  });

  test('remembers by how many it came, though these nodes are gone', () => {
    const world = withLedger(fleet({ d: {} }), { failures: failed('a', 'b', 'c') });
    expect(standing(world, unlimited)).toMatchObject({ haltedAt: moment(0), limit: '3' });
    expect(reasons(world, unlimited)).toEqual({ d: 'RolloutHalted' });
  });
});

describe('why a release is halted', () => {
  const decided = { by: 'ann: kernel bug', at: moment(-7) };
  const byAnn = ` by ann: kernel bug, ${moment(-7)}`;
  const policies = [ruling('p', { checks: { ...POLICY.checks, proof: [SMOKE] } })];
  const ofThree = Object.fromEntries(['x', 'y', 'z'].map((name) => failureOf(name, 'p')));
  const OF = `(${FAMILY}`;

  test.each<[string, Partial<Ledger>, Partial<ReleaseView>, string, string]>([
    ['People', {}, { decision: 'Halt', decided }, `people have halted 1.1.0${byAnn}`, `${OF})`],
    ['Rollback', {}, { rollbackFor: ['p'], decided }, `people take nodes back from 1.1.0${byAnn}`, `${OF})`],
    ['People', {}, { decision: 'Halt', rollbackFor: ['q'], decided }, 'people have halted 1.1.0', `${OF})`],
    ['Check', failedCheck('p'), {}, 'a check of its policy failed on 1.1.0', `${OF}, 1 failed)`],
    ['Nodes', { failures: ofThree }, {}, 'too many nodes failed on 1.1.0', `${OF}, 3 failed)`],
  ])(
    'by %s is told in the same words by its verdicts, its policy and the list',
    (because, ledger, view, words, more) => {
      const world = withLedger(fleet({ a: {} }, { policies }), ledger);
      const objects = world.releases.objects.map((one) => Object.assign({}, one, view));
      const said = plan({ ...world, releases: { ...world.releases, objects } }, POLICY, NOW);
      expect(said.verdicts).toMatchObject([{ reason: 'RolloutHalted', message: words }]);
      expect(said.policies[0]?.halted).toMatchObject({ status: 'True', message: `${words} ${more}` });
      expect(said.halted).toMatchObject([{ policy: 'p', because }]);
      expect(haltedBecause(said.halted[0]!, '1.1.0')).toBe(words);
      expect(said.halted[0]?.mayFail).toBe(because === 'Nodes' ? 2 : undefined);
    },
  );
});

describe('what a person decides on a release', () => {
  test('as Halt starts no node, and is no halt by failures', () => {
    const world = withLedger(fleet({ a: {} }), {}, 'Halt');
    expect(plan(world, POLICY, NOW).verdicts).toMatchObject([
      { reason: 'RolloutHalted', message: 'people have halted 1.1.0' },
    ]);
    expect(standing(world)).toMatchObject({ haltedAt: null });
  });

  test.each([
    ['proven', { a: {}, d: updated }],
    ['not proven yet', { a: {} }],
  ])('as Allow lets nodes start on one that is %s, however many have failed', (_, nodes) => {
    const world = withLedger(fleet(nodes), { failures: failed('x', 'y', 'z') }, 'Allow');
    expect(started(world, unlimited)).toEqual(['a']);
  });
});

test.each([
  ['Halt, then Allow', ['Halt', 'Allow']],
  ['Allow, then Halt', ['Allow', 'Halt']],
] as const)('of what several objects say of a release a halt decides: %s', (_, decisions) => {
  const [own, other] = decisions.map((decision) => withLedger(fleet({ a: {} }), {}, decision).releases.objects[0]!);
  const objects = [own!, { ...other!, name: 'by-hand', uid: 'by-hand' }];
  const world = { ...fleet({ a: {} }), releases: { objects, refused: new Map(), seeds: false } };
  expect(reasons(world)).toEqual({ a: 'RolloutHalted' });
});

test.each([
  ['for a day where the release is proven', { policies: { '': MET } }, [1439, 1440], ['1', null]],
  ['for ever where it is not', {}, [1439, 1440], ['1', '1']],
] as const)('a node that is gone counts %s', (_, known, ages, limits) => {
  const once = { ...unlimited, maxFailed: { kind: 'count', count: 1 } } as const;
  const gone = (age: number) => ({ node: 'x', policy: '', attempt: 'try', reason: 'Gone' as const, at: moment(-age) });
  const world = (age: number): World => withLedger(fleet({ a: {} }), { ...known, failures: { 'uid-x': gone(age) } });
  expect(ages.map((age) => standing(world(age), once)?.limit)).toEqual(limits);
});

test('a failure counts under every policy once the one that ruled its node is gone', () => {
  const failures = Object.fromEntries([failureOf('lost', 'gone')]);
  const once = { ...unlimited, maxFailed: { kind: 'count', count: 1 } } as const;
  expect(standing(withLedger(fleet({ a: {} }), { failures }), once)).toMatchObject({ limit: '1' });
  const withPolicy = fleet({ a: {} }, { policies: [ruling('gone', { selector: { matchLabels: { no: 'node' } } })] });
  expect(standing(withLedger(withPolicy, { failures }), once)).toMatchObject({ limit: null });
});

test('forty policies together lose no more nodes to an unproven release than one of them may', () => {
  const names = Array.from({ length: 40 }, (_, at) => `p${at}`);
  const policies = names.map((name) => ruling(name, { selector: { matchLabels: { pool: name } }, ...unlimited }));
  const nodes = names.map((name) => node(name, { labels: { pool: name } }));
  const world = fleet(Object.fromEntries(names.map((name) => [name, {}])), { nodes, policies });
  expect(started(world, unlimited)).toHaveLength(3);
  const failures = Object.fromEntries(names.slice(0, 3).map((name) => failureOf(name, name)));
  const afterFailures = withLedger(world, { failures });
  expect(started(afterFailures, unlimited)).toEqual(['p0', 'p1', 'p2']);
  expect(plan(afterFailures, { ...POLICY, ...unlimited }, NOW).verdicts).toContainEqual(
    expect.objectContaining({ node: 'p39', reason: 'RolloutHalted' }),
  );
});

test('what a policy lets counts over all, also where none of its nodes is offered the release', () => {
  const inPool = (pool: string) => ({ labels: { pool } });
  const policies = [
    ruling('large', { selector: { matchLabels: { pool: 'large' } }, ...unlimited }),
    ruling('small', {
      selector: { matchLabels: { pool: 'small' } },
      ...unlimited,
      maxFailed: { kind: 'count', count: 1 },
    }),
  ];
  const shadows = { a: {}, b: { status: { target_version: '1.0.0' } } };
  const nodes = [node('a', inPool('small')), node('b', inPool('large'))];
  const failures = Object.fromEntries([failureOf('x', 'large')]);
  expect(started(withLedger(fleet(shadows, { nodes, policies }), { failures }), unlimited)).toEqual(['a']);
});

test('a canary that never returned counts once, with its permit and its entry, so that two others may fail', () => {
  const held = { ...permit('a'), id: 'try', family: FAMILY, version: '1.1.0' };
  const down = { ready: false, readyChangedAt: minutes(-60) };
  const gone: Parts = {
    spec: { state: 'RebootedIntoUpdate', version: '1.1.0' },
    status: {
      current_state: 'StagedAndPerformedUpdate',
      reboot: { boot_id: 'boot-1', version: '1.1.0', requested_at: moment(-60) },
    },
  };
  const nodes = [node('a', down), node('b'), node('c')];
  const world = (count: number): World =>
    withLedger(fleet({ a: gone, b: {}, c: {} }, { nodes, permits: [held] }), {
      failures: Object.fromEntries([
        ['uid-a', { node: 'a', policy: '', attempt: 'try', reason: 'NotReturned', at: moment(-9) } as const],
        ...Array.from({ length: count }, (_, at) => failureOf(`x${at}`)),
      ]),
    });
  expect(started(world(1), unlimited)).toEqual(['b']);
  expect(reasons(world(2), unlimited)).toMatchObject({ b: 'RolloutHalted' });
});
