import { describe, expect, test } from '@jest/globals';
import type { VersionRules } from '../../../runtime/api/policy/policy.ts';
import type { WishState } from '../../../runtime/api/shadow/model.ts';
import {
  fleet,
  ledgerObject,
  minutes,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  type Rules,
  ruling,
  staging,
  updated,
  type World,
} from './fleet.ts';

/** What is wanted of hosts' settings, so that they offer the version that their policy takes. Nodes run 1.0.0 and are offered 1.1.0. */

const FAMILY = 'aws-k8s-1.33/amd64';
const taking = (version: Partial<VersionRules>): Rules => ({ ...POLICY, version: { ...POLICY.version, ...version } });
const EXACT = taking({ exact: '1.2.0' });
const MAX = taking({ max: '1.0.9' });

const wishes = (world: World, rules: Rules): readonly unknown[] =>
  plan(world, rules, NOW).commands.flatMap((command) => (command.kind === 'set-wish' ? [command.wish] : []));
const verdict = (world: World, rules: Rules): object => plan(world, rules, NOW).verdicts[0] ?? {};

const wished = (version_lock: string, more: Parts['status'] = {}): Parts => ({
  spec: { version_wish: { version_lock } },
  status: { target_version: '1.0.0', ...more },
});
const answer = (refused: string, detail?: string): WishState => ({ ours: {}, before: {}, refused, detail });

/** Some versions of the family are in its ledgers. */
const known = (...versions: readonly string[]): Partial<World> => ({
  releases: {
    objects: versions.map((version) => ledgerObject({ family: FAMILY, version })),
    refused: new Map(),
    seeds: false,
  },
});

describe('the one version that a policy takes is wanted of each of its hosts', () => {
  test('whatever the host offers, and also of one that runs it', () => {
    expect(wishes(fleet({ a: {} }), EXACT)).toEqual([{ version_lock: '1.2.0' }]);
    const there: Parts = { status: { current_version: '1.2.0', target_version: '1.2.0' } };
    expect(wishes(fleet({ a: there }), EXACT)).toEqual([{ version_lock: '1.2.0' }]);
  });

  test('and none of its waves is waited for where the policy says so', () => {
    const rules = taking({ exact: '1.2.0', ignoreWaves: true });
    expect(wishes(fleet({ a: {} }), rules)).toEqual([{ version_lock: '1.2.0', ignore_waves: true }]);
    expect(wishes(fleet({ a: updated }), taking({ ignoreWaves: true }))).toEqual([{ ignore_waves: true }]);
  });

  test('once: a wish that stands is not written again', () => {
    expect(wishes(fleet({ a: wished('1.2.0') }), EXACT)).toEqual([]);
  });
});

describe('the highest version that a policy takes', () => {
  test('has the newest one up to it wanted, of those that anybody knows of', () => {
    expect(wishes(fleet({ a: {} }, known('1.0.5', '1.0.8', '1.0.10')), MAX)).toEqual([{ version_lock: '1.0.8' }]);
  });

  test('goes by what repositories list, where these are read', () => {
    const published = new Map([[FAMILY, new Map([['1.0.7', { repositories: [] }]])]]);
    const releases = { objects: [], refused: new Map<string, string>(), seeds: false, published };
    expect(wishes(fleet({ a: {} }, { releases }), MAX)).toEqual([{ version_lock: '1.0.7' }]);
  });

  test('has nothing wanted where the host offers no newer one, where none is known, or where it would be a way back', () => {
    expect(wishes(fleet({ a: {} }, known('1.0.8')), taking({ max: '1.1.0' }))).toEqual([]);
    expect(wishes(fleet({ a: {} }), MAX)).toEqual([]);
    expect(wishes(fleet({ a: { status: { current_version: '1.0.9' } } }, known('1.0.8')), MAX)).toEqual([]);
  });

  test('stays wanted while the host, which is locked, offers no newer one, and is over once it runs', () => {
    const locked = wished('1.0.8', { target_version: '1.0.8' });
    expect(
      wishes(fleet({ a: locked }, { ...known('1.0.8'), paused: false }), { ...MAX, maxConcurrent: NOBODY }),
    ).toEqual([]);
    const there = wished('1.0.8', { current_version: '1.0.8', target_version: '1.0.8' });
    expect(wishes(fleet({ a: there }, known('1.0.8')), MAX)).toEqual([null]);
  });
});

/** A budget that is used up: what is not a start can be seen. */
const NOBODY = { kind: 'count', count: 0 } as const;

describe('a wish changes', () => {
  test('to none once the policy takes any version', () => {
    expect(wishes(fleet({ a: wished('1.2.0') }), POLICY)).toEqual([null]);
  });

  test('at rest alone: not while an update is under way, nor with the write that starts one', () => {
    const parts: Parts = { ...staging, spec: { ...staging.spec, version_wish: { version_lock: '1.1.0' } } };
    expect(wishes(fleet({ a: parts }, { permits: [permit('a')] }), POLICY)).toEqual([]);
    const { commands } = plan(fleet({ a: {} }), taking({ ignoreWaves: true }), NOW);
    expect(commands.map(({ kind }) => kind)).toEqual(['start']);
  });

  test.each<[string, Partial<World>]>([
    ['everything is paused', { paused: true }],
    ['the node is held', { nodes: [node('a', { held: true })] }],
    ['the cluster is not known as it is', { notCurrent: 'nothing is heard of the nodes' }],
    ['two policies claim the node', { policies: [ruling('p', {}), ruling('q', {})] }],
    ['its policy is paused', { policies: [ruling('p', { paused: true })] }],
  ])('not while %s', (_, more) => {
    expect(wishes(fleet({ a: wished('1.2.0') }, more), POLICY)).toEqual([]);
  });

  test('half a minute after another policy has come to rule the node, for a sync may take one away for a moment', () => {
    const world = fleet({ a: wished('1.2.0') }, { ruledSince: new Map([['uid-a', NOW - 10_000]]) });
    expect(wishes(world, POLICY)).toEqual([]);
    expect(plan(world, POLICY, NOW).requeueAt).toBe(NOW + 20_000);
    expect(wishes({ ...world, ruledSince: new Map([['uid-a', NOW - 30_000]]) }, POLICY)).toEqual([null]);
  });

  test('on fifty hosts at a time', () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`n${at}`, {}]));
    expect(wishes(fleet(many), EXACT)).toHaveLength(50);
  });

  test('never where a host is ordered what to run', () => {
    const order = { version: '1.1.0', stop: undefined, annotations: {} };
    expect(wishes(fleet({ a: { order } }), EXACT)).toEqual([]);
  });
});

describe('a version that is wanted and not offered', () => {
  test('is the verdict on a node that is offered nothing, in the words of its agent', () => {
    const notYet = wished('1.2.0');
    expect(verdict(fleet({ a: notYet }), EXACT)).toMatchObject({
      reason: 'NotOffered',
      message: '1.2.0 is wanted, and the agent of the node has not asked its host for it yet',
    });
    const refused = wished('1.2.0', {
      version_wish: answer('Lockdown', 'the host takes no settings until its reboot'),
    });
    expect(verdict(fleet({ a: refused }), EXACT)).toMatchObject({
      reason: 'NotOffered',
      message: '1.2.0 is wanted, and its host does not offer it: the host takes no settings until its reboot',
    });
  });

  test('is that on one that is offered another, once its agent has answered', () => {
    const other = { target_version: '1.1.0' };
    expect(verdict(fleet({ a: wished('1.2.0', other) }), EXACT)).toMatchObject({ reason: 'VersionPinned' });
    const refused = wished('1.2.0', { ...other, version_wish: answer('NotOffered') });
    expect(verdict(fleet({ a: refused }), EXACT)).toMatchObject({
      reason: 'NotOffered',
      message: expect.stringMatching(/: NotOffered$/),
    });
  });

  test('is the word of whoever has locked the host otherwise', () => {
    const elsewhere = wished('1.2.0', { version_wish: answer('LockedElsewhere', 'it is locked to 1.0.0') });
    expect(verdict(fleet({ a: elsewhere }), EXACT)).toMatchObject({
      reason: 'LockedElsewhere',
      message: expect.stringContaining('it is locked to 1.0.0'),
    });
  });

  test('is not told by an answer to an earlier wish', () => {
    const version_wish = { ...answer('NotOffered', 'no'), ours: { version_lock: '1.1.5' } };
    expect(verdict(fleet({ a: wished('1.2.0', { version_wish }) }), EXACT)).toMatchObject({
      message: expect.stringContaining('has not asked its host'),
    });
  });

  test('is no matter for a node that runs it, or is offered it', () => {
    const there = wished('1.2.0', { current_version: '1.2.0', target_version: '1.2.0' });
    expect(verdict(fleet({ a: there }), EXACT)).toMatchObject({ reason: 'UpToDate' });
    expect(verdict(fleet({ a: wished('1.2.0', { target_version: '1.2.0' }) }), EXACT)).toMatchObject({
      reason: 'Updating',
    });
  });
});

test('nobody starts while the host is still locked to what was wanted before: it would prepare that', () => {
  const rules = taking({ exact: '1.1.0' });
  const of = (lock: string): World => {
    const version_wish = { ours: { version_lock: lock }, before: { version_lock: 'latest' } };
    return fleet({ a: wished(lock, { target_version: '1.1.0', version_wish }) });
  };
  const before = plan(of('1.0.0'), rules, NOW);
  expect(before.commands.map(({ kind }) => kind)).toEqual(['set-wish']);
  expect(before.verdicts[0]).toMatchObject({ reason: 'NotOffered' });
  expect(plan(of('1.1.0'), rules, NOW).commands.map(({ kind }) => kind)).toEqual(['start']);
});

test('a wish that the API server does not keep is told, and withheld for a while; starts go on', () => {
  const message = "what is wanted of its host's settings is dropped";
  const refusals = new Map([['brs-a', [{ kind: 'set-wish' as const, message, retryAt: minutes(5) }]]]);
  const world = fleet({ a: updated }, { refusals });
  const { commands, verdicts, requeueAt } = plan(world, EXACT, NOW);
  expect(commands).toEqual([]);
  expect(verdicts).toMatchObject([{ reason: 'WriteRefused', message }]);
  expect(requeueAt).toBe(minutes(5));
  const starting = plan(fleet({ a: {} }, { refusals }), taking({ exact: '1.1.0' }), NOW);
  expect(starting.commands.map(({ kind }) => kind)).toEqual(['start']);
});
