import { describe, expect, test } from '@jest/globals';
import { checkOf } from '../../../runtime/api/policy/checks.ts';
import { EMPTY, enter, type Ledger, under } from '../../../runtime/api/release/ledger.ts';
import { entryKey } from '../../../runtime/controller/plan/facts/checks.ts';
import { UPDATED_FROM_ANNOTATION, VERSION_BEFORE_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import type { NodeView, ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { fleet, ledgerObject, moment, node, NOW, type Parts, plan, POLICY, type Rules, type World } from './fleet.ts';

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
    ['nobody knows what it ran before', { ...after(), updatedFrom: undefined }, {}, {}],
    ['it came from a newer version', { ...after(), updatedFrom: '1.2.0' }, {}, {}],
    ['people have halted it', after(), { decision: 'Halt' }, {}],
    ['people let it go on', after(), { decision: 'Allow' }, {}],
    ['fewer have failed than may', after(), {}, { maxFailed: { kind: 'count', count: 2 } }],
  ])('stays where %s', (_, a, release, rules) => {
    expect(said(world(a, release), { ...RULES, ...rules })).toEqual([]);
  });

  test('takes the version that its policy names, whatever it came from', () => {
    const rules = { ...RULES, version: { ...RULES.version, exact: '1.0.7' } };
    expect(said(world(after()), rules)).toContainEqual(['brs-a', '1.0.7']);
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
