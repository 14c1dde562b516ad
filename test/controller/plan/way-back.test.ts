import { describe, expect, test } from '@jest/globals';
import { EMPTY, enter, type Ledger, under } from '../../../runtime/api/release/ledger.ts';
import type { NodeView, ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { after, BAD, came, failure, FAMILY, offered, RULES, said, world } from './leaving.ts';
import {
  fleet,
  ledgerObject,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  type Rules,
  type World,
} from './fleet.ts';
import { failedCheck, SMOKE } from './kept.ts';

/** Nodes that run a release which was halted for its failures go back. Node a has updated from 1.0.0 to 1.1.0, and b, which has failed on it, has halted it. */

describe('a node on a release that was halted for its failures', () => {
  test('has the version that it came from wanted, and goes back once its host offers it', () => {
    expect(said(world(after()))).toEqual([['brs-a', '1.0.0']]);
    const wanted = { ...offered, spec: { version_wish: { version_lock: '1.0.0' } } };
    expect(said(world(wanted))).toEqual([['a', '1.0.0']]);
  });

  test('goes back though it is not Ready, where its agent is there', () => {
    const wanted = { ...offered, spec: { version_wish: { version_lock: '1.0.0' } } };
    expect(said(world(wanted, {}, { nodes: [node('a', { ready: false }), node('b')] }))).toEqual([['a', '1.0.0']]);
  });

  test('goes back beside others, though the version before is yet to be proven, and to come to another policy first', () => {
    const back: Parts = { ...offered, spec: { version_wish: { version_lock: '1.0.0' } } };
    const releases = { objects: [BAD], refused: new Map(), seeds: false };
    const rules: Rules = {
      ...RULES,
      maxConcurrent: { kind: 'count', count: 3 },
      proof: { nodes: { kind: 'count', count: 1 }, soakMs: 0 },
      after: ['canaries'],
    };
    const starting = (one: World): unknown =>
      plan(one, rules, NOW).commands.flatMap((command) => (command.kind === 'start' ? [command.node] : []));
    expect(starting(fleet({ a: back, c: back, d: back }, { releases }))).toEqual(['a', 'c', 'd']);
    const forward: Parts = { status: { current_version: '0.9.0', target_version: '1.0.0' } };
    expect(starting(fleet({ a: forward, c: back, d: back }, { releases }))).toEqual(['c', 'd']);
    expect(starting(fleet({ a: back, c: forward, d: back }, { releases }))).toEqual(['a', 'd']);
  });

  test('says at each start what it came from, which that start may not come to', () => {
    const wanted: Parts = { ...offered, spec: { version_wish: { version_lock: '1.0.0' } } };
    const [start] = plan(world(wanted), RULES, NOW).commands;
    expect(start).toMatchObject({ annotations: came('1.1.0', '1.0.0') });
    const further = plan(fleet({ a: after({ target_version: '1.2.0' }) }), RULES, NOW);
    expect(further.commands).toMatchObject([{ version: '1.2.0', annotations: came('1.1.0', '1.0.0') }]);
    expect(plan(fleet({ a: {} }), RULES, NOW).commands).toMatchObject([{ annotations: came('1.0.0', null) }]);
  });

  test('is wanted nothing of once it is back, where it waits for a better release', () => {
    const back: Parts = { updatedFrom: '1.1.0', spec: { version_wish: { version_lock: '1.0.0' } } };
    expect(said(world(back))).toEqual([['brs-a', null]]);
    const { verdicts } = plan(world({ updatedFrom: '1.1.0' }), RULES, NOW);
    expect(verdicts[0]).toMatchObject({ node: 'a', reason: 'RolloutHalted' });
  });

  test.each<[string, Partial<NodeView>, Partial<ReleaseView>, Partial<Rules>, readonly string[]]>([
    ['waits too where it has failed on that release', {}, {}, {}, []],
    ['may try it again where a person asks for that', { askedBy: 'jo' }, {}, {}, ['b']],
    ['may try it again where nothing goes back', {}, {}, { rollsBack: false }, ['b']],
    ['may try it again where people have halted it', {}, { decision: 'Halt' }, {}, ['b']],
  ])('and is back %s', (_, of, release, rules, starts) => {
    const b: Parts = { updatedFrom: '1.1.0' };
    const releases = { objects: [{ ...BAD, ...release }], refused: new Map(), seeds: false };
    const { commands, verdicts } = plan(
      fleet({ b }, { nodes: [node('b', of)], releases }),
      { ...RULES, ...rules },
      NOW,
    );
    expect(commands.flatMap((one) => (one.kind === 'start' ? [one.node] : []))).toEqual(starts);
    expect(verdicts[0]?.reason).toBe(starts.length > 0 ? 'Updating' : 'RolloutHalted');
  });

  test.each<[string, Parts, Partial<ReleaseView>, Partial<Rules>]>([
    ['the policy does not say so', after(), {}, { rollsBack: false }],
    ['nobody knows a version that it could go back to', { ...after(), updatedFrom: undefined }, {}, {}],
    ['it came from a newer version', { ...after(), updatedFrom: '1.2.0' }, {}, {}],
    ['people have halted it', after(), { decision: 'Halt' }, {}],
    ['people let it go on', after(), { decision: 'Allow' }, {}],
    ['fewer have failed than may', after(), {}, { maxFailed: { kind: 'count', count: 2 } }],
  ])('stays where %s', (_, a, release, rules) => {
    expect(said(world(a, release), { ...RULES, ...rules })).toEqual([]);
  });

  test.each(['NoMigrations', 'NotOffered'])(
    'is let go by a host that cannot go there (%s), and free for a newer release',
    (refused) => {
      const ours = { version_lock: '1.0.0' };
      const state = { ours, before: { version_lock: 'latest' }, refused, detail: 'no path' };
      const locked: Parts = { ...after({ version_wish: state }), spec: { version_wish: ours } };
      const [given] = plan(world(locked), RULES, NOW).commands;
      expect(given).toMatchObject({ kind: 'set-wish', wish: null, annotations: came('1.1.0', null) });
      expect(said(world({ ...after(), updatedFrom: undefined }))).toEqual([]);
      const passing = { ...locked, status: { ...locked.status, version_wish: { ...state, refused: 'HostFailed' } } };
      expect(said(world(passing))).toEqual([]);
    },
  );

  test('stays where what it runs was proven before the policy asked otherwise, though as many have failed as may before a proof', () => {
    const names = ['b', 'c', 'd'];
    const ledger = names.reduce((one, name) => enter(one, `uid-${name}`, { ...failure, node: name }), EMPTY);
    const many = { ...RULES, maxFailed: { kind: 'count', count: 10 } } as const;
    const proven = { uid: '', met: 'what was asked before', provenAt: moment(-9000) };
    expect(said(world(after(), { ledger }), many)).toEqual([['brs-a', '1.0.0']]);
    expect(said(world(after(), { ledger: under(ledger, '', proven) }), many)).toEqual([]);
    const remade = { ...proven, uid: 'of a policy before this one' };
    expect(said(world(after(), { ledger: under(ledger, '', remade) }), many)).toEqual([['brs-a', '1.0.0']]);
  });

  test('takes the version that its policy names, whatever it came from', () => {
    const rules = { ...RULES, version: { ...RULES.version, exact: '1.0.7' } };
    expect(said(world(after()), rules)).toContainEqual(['brs-a', '1.0.7']);
  });
});

describe('the version that nodes go back to', () => {
  const checked: Rules = { ...RULES, checks: { ...POLICY.checks, proof: [SMOKE] } };
  const locked = { spec: { version_wish: { version_lock: '1.0.0' } } };
  const checksOf = (one: World, rules = checked): unknown => {
    const { ledger } = plan(one, rules, NOW);
    return ledger.find(({ version }) => version === '1.0.0')?.ledger?.policies['']?.checks ?? null;
  };

  test.each<[string, Parts]>([
    ['while they are on their way', { ...offered, ...locked }],
    ['once they are there', { updatedFrom: '1.1.0', finishedAt: minutes(-9), endedAt: minutes(-9) }],
  ])('is not checked as a release that they go to, %s', (_, a) => {
    expect(checksOf(world(a))).toBeNull();
    const forward: Parts = { status: { current_version: '0.9.0', target_version: '1.0.0' } };
    const releases = { objects: [BAD], refused: new Map(), seeds: false };
    expect(checksOf(fleet({ a, c: {}, d: forward }, { releases }))).toMatchObject({ smoke: { tries: 1 } });
  });

  test('is not wanted where it is halted as well: the host is free for the next release', () => {
    const before = ledgerObject({ family: FAMILY, version: '1.0.0' }, enter(EMPTY, 'uid-c', { ...failure, node: 'c' }));
    const releases = { objects: [BAD, before], refused: new Map(), seeds: false };
    const one = fleet({ a: { ...after(), ...locked } }, { releases });
    expect(said(one)).toEqual([['brs-a', null]]);
    const free = plan(fleet({ a: after() }, { releases }), RULES, NOW);
    expect(free.verdicts).toMatchObject([
      { reason: 'NotOffered', message: expect.stringContaining('1.0.0 is halted') },
    ]);
  });
});

describe('a release that a check of its policy has halted', () => {
  const rules: Rules = { ...RULES, checks: { ...POLICY.checks, proof: [SMOKE] } };
  const checked: Ledger = { ...EMPTY, ...failedCheck() };
  const proven = under(checked, '', { uid: '', met: '1 for 0s', provenAt: moment(-9000) });

  test.each<[string, Ledger, readonly unknown[]]>([
    ['is left where it was never proven', checked, [['brs-a', '1.0.0']]],
    ['is not left where it was proven, before the check was asked', proven, []],
    [
      'is left then where as many nodes have failed on it as may',
      enter(proven, 'uid-b', failure),
      [['brs-a', '1.0.0']],
    ],
  ])('%s', (_, ledger, wanted) => {
    const one = world(after(), { ledger });
    expect(said(one, rules)).toEqual(wanted);
    const c: Parts = { status: { current_version: '1.0.0', target_version: '1.1.0' } };
    const { verdicts } = plan(fleet({ c }, { releases: one.releases }), rules, NOW);
    expect(verdicts[0]).toMatchObject({ node: 'c', reason: 'RolloutHalted' });
  });
});
