import { describe, expect, test } from '@jest/globals';
import { checkOf } from '../../../runtime/api/policy/checks.ts';
import { EMPTY, enter, type Ledger, under } from '../../../runtime/api/release/ledger.ts';
import { entryKey } from '../../../runtime/controller/plan/facts/checks.ts';
import { UPDATED_FROM_ANNOTATION, VERSION_BEFORE_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import type { NodeView, ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { leavingOf } from '../../../runtime/controller/plan/plan.ts';
import {
  fleet,
  ledgerObject,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  reasons,
  type Rules,
  ruling,
  started,
  underRules,
  type World,
} from './fleet.ts';

/** Nodes that run a release which was halted for its failures go back. Node a has updated from 1.0.0 to 1.1.0, and b, which has failed on it, has halted it. */

const FAMILY = 'aws-k8s-1.33/amd64';
const RULES: Rules = { ...POLICY, rollsBack: true, maxFailed: { kind: 'count', count: 1 } };
const failure = { node: 'b', policy: '', attempt: 'one', reason: 'BootFailed', at: moment(-60) } as const;
const BAD = ledgerObject({ family: FAMILY, version: '1.1.0' }, enter(EMPTY, 'uid-b', failure));

const after = (status: Parts['status'] = {}): Parts => ({
  updatedFrom: '1.0.0',
  status: { current_version: '1.1.0', target_version: '1.1.0', ...status },
});
/** Its host offers the version before. */
const offered = after({ target_version: '1.0.0' });

const came = (now: string, before: string | null): object => ({
  [UPDATED_FROM_ANNOTATION]: now,
  [VERSION_BEFORE_ANNOTATION]: before,
});

function world(a: Parts, release: Partial<ReleaseView> = {}, more: Partial<World> = {}): World {
  const releases = { objects: [{ ...BAD, ...release }], refused: new Map(), seeds: false };
  const b: Parts = { status: { current_version: '1.0.0', target_version: '1.1.0' } };
  return fleet({ a, b }, { releases, ...more });
}

const said = (one: World, rules = RULES): readonly unknown[] =>
  plan(one, rules, NOW).commands.flatMap((command): readonly unknown[] => {
    if (command.kind === 'set-wish') return [[command.shadow, command.wish?.version_lock ?? null]];
    return command.kind === 'start' && command.node === 'a' ? [[command.node, command.version]] : [];
  });

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

describe('a release that people roll back', () => {
  const GOOD = ledgerObject({ family: FAMILY, version: '1.1.0' });
  const b: Parts = { status: { current_version: '1.0.0', target_version: '1.1.0' } };
  const rolled = (rollbackFor: readonly string[], a = after(), more: Partial<World> = {}): World =>
    fleet({ a, b }, { releases: { objects: [{ ...GOOD, rollbackFor }], refused: new Map(), seeds: false }, ...more });
  const reasonsOf = (one: World): Record<string, string> => reasons(one, POLICY);

  test('is left though nobody has failed on it and no policy says so, and no other node starts on it', () => {
    const one = rolled(['*']);
    expect(said(one, POLICY)).toEqual([['brs-a', '1.0.0']]);
    expect(reasonsOf(one)).toEqual({ a: 'NotOffered', b: 'RolloutHalted' });
    const wanted = { ...offered, spec: { version_wish: { version_lock: '1.0.0' } } };
    expect(said(rolled(['*'], wanted), POLICY)).toEqual([['a', '1.0.0']]);
  });

  test('is left under the policies that are named alone', () => {
    const [prod, test_] = [{ labels: { pool: 'prod' } }, { labels: { pool: 'test' } }] as const;
    const policies = ['prod', 'test'].map((name) =>
      ruling(name, { selector: { matchLabels: { pool: name } }, maxConcurrent: { kind: 'count', count: 1 } }),
    );
    const nodes = [node('a', prod), node('b', test_)];
    expect(said(rolled(['prod'], after(), { nodes, policies }), POLICY)).toEqual([['brs-a', '1.0.0']]);
    expect(started(rolled(['prod'], after(), { nodes, policies }))).toEqual(['b']);
    expect(said(rolled(['test'], after(), { nodes, policies }), POLICY)).toEqual([]);
    expect(reasonsOf(rolled(['test'], after(), { nodes, policies }))).toEqual({ a: 'UpToDate', b: 'RolloutHalted' });
  });

  test('is left though people let failures not halt it, and is not forgotten', () => {
    const releases = {
      objects: [{ ...GOOD, decision: 'Allow', rollbackFor: ['*'] } as const],
      refused: new Map(),
      seeds: false,
    };
    expect(said(fleet({ a: after() }, { releases }), POLICY)).toEqual([['brs-a', '1.0.0']]);
    const unused = { ...EMPTY, unusedSince: moment(-20 * 1440) };
    const objects = [{ ...GOOD, rollbackFor: ['*'], ledger: unused }];
    const { ledger } = plan(
      fleet(
        { c: { status: { current_version: '1.2.0', target_version: '1.2.0' } } },
        { releases: { ...releases, objects } },
      ),
      POLICY,
      NOW,
    );
    expect(ledger.filter(({ version }) => version === '1.1.0').map((one) => one.ledger?.state)).toEqual(['Halted']);
  });

  test.each<[string, Parts, Partial<Rules>, string]>([
    [
      'nobody knows a version that it could go back to',
      { ...after(), updatedFrom: undefined },
      {},
      'nobody knows a version that it could go back to',
    ],
    ['it came from a newer one', { ...after(), updatedFrom: '1.2.0' }, {}, 'it has come to it from 1.2.0'],
    ['its policy names it', after(), { version: { ...POLICY.version, exact: '1.1.0' } }, 'takes 1.1.0 alone'],
    [
      'its host says that no migrations lead there',
      after({
        version_wish: {
          ours: { version_lock: '1.0.0' },
          before: { version_lock: 'latest' },
          refused: 'NoMigrations',
          detail: 'no path',
        },
      }),
      {},
      'its host cannot go to 1.0.0: no path',
    ],
  ])('is not left where %s, and the verdict says so', (_, a, rules, message) => {
    const wanted = { ...a, spec: { version_wish: { version_lock: '1.0.0' } } };
    const { verdicts } = plan(rolled(['*'], wanted), { ...POLICY, ...rules }, NOW);
    expect(verdicts[0]).toMatchObject({ node: 'a', reason: 'NotOffered', message: expect.stringContaining(message) });
  });

  test.each<[string, Parts, object]>([
    ['goes', after({ update_settings: { version_lock: 'latest', read_at: moment(-9) } }), { to: '1.0.0' }],
    [
      'has its lock already',
      after({ update_settings: { version_lock: 'v1.0.0', read_at: moment(-9) } }),
      { to: '1.0.0' },
    ],
    [
      'is locked by somebody else',
      after({ update_settings: { version_lock: '1.1.0', read_at: moment(-9) } }),
      { to: '1.0.0', doubt: 'somebody else has locked its host to 1.1.0' },
    ],
    ['tells no settings', after(), { to: '1.0.0', doubt: expect.stringContaining('its host tells no settings') }],
    [
      'found no migrations',
      after({ version_wish: { ours: {}, before: {}, refused: 'NoMigrations', detail: 'no path' } }),
      { stays: 'its host cannot go to 1.0.0: no path' },
    ],
    [
      'never updated',
      { ...after(), updatedFrom: undefined },
      { stays: 'nobody knows a version that it could go back to' },
    ],
  ])('is known beforehand to be left, or not, by a node that %s', (_, a, way) => {
    const [one, ...others] = leavingOf(underRules(rolled(['*'], a), POLICY), POLICY, { now: NOW });
    expect([one, others]).toEqual([{ node: 'a', family: FAMILY, runs: '1.1.0', ...way }, []]);
  });
});

describe('a release that a check of its policy has halted', () => {
  const CHECK = checkOf({ name: 'smoke', condition: { apiVersion: 'v1', kind: 'Node', name: 'a', type: 'Ready' } });
  const rules: Rules = { ...RULES, checks: { ...POLICY.checks, proof: [CHECK] } };
  const says = {
    says: CHECK.says,
    attempt: '',
    since: moment(-9),
    tries: 1,
    result: 'Failed',
    at: moment(-8),
  } as const;
  const proven = { uid: '', met: '1 for 0s', provenAt: moment(-9000) };
  const entry = { node: 'check smoke', policy: '', attempt: 'one', reason: 'CheckFailed', at: moment(-8) } as const;
  const checked = enter(EMPTY, entryKey('', CHECK), entry);

  test.each<[string, Ledger, readonly unknown[]]>([
    ['is left where it was never proven', under(checked, '', { checks: { smoke: says } }), [['brs-a', '1.0.0']]],
    [
      'is not left where it was proven, before the check was asked',
      under(checked, '', { ...proven, checks: { smoke: says } }),
      [],
    ],
    [
      'is left then where as many nodes have failed on it as may',
      enter(under(checked, '', { ...proven, checks: { smoke: says } }), 'uid-b', failure),
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
