import { describe, expect, test } from '@jest/globals';
import { plan as planOnce } from '../../../runtime/controller/plan/plan.ts';
import type { NodeView } from '../../../runtime/controller/plan/snapshot.ts';
import { EMPTY, type Ledger } from '../../../runtime/release/ledger.ts';
import type { Decision } from '../../../runtime/release/model.ts';
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
  reasons,
  type Rules,
  ruling,
  shadow,
  permit,
  started,
  underRules,
  updated,
  type World,
} from './fleet.ts';

const FAMILY = 'aws-k8s-1.33/amd64';
const MET = { uid: '', met: '1 for 0s', provenAt: moment(-60) };

const failureOf = (name: string, policy = '') =>
  [`uid-${name}`, { node: name, policy, attempt: `try-${name}`, reason: 'BootFailed', at: moment(-9) }] as const;
const withLedger = (world: World, ledger: Partial<Ledger>, decision: Decision = 'Automatic'): World => {
  const release = { ...ledgerObject({ family: FAMILY, version: '1.1.0' }, { ...EMPTY, ...ledger }), decision };
  return { ...world, releases: { objects: [release], refused: new Map(), seeds: false } };
};
const failed = (...names: readonly string[]) => Object.fromEntries(names.map((name) => failureOf(name)));
const halted = (limit: number) => ({ '': { haltedAt: moment(-9), limit: String(limit) } });
const standing = (world: World, rules: Partial<Rules> = {}) =>
  plan(world, { ...POLICY, ...rules }, NOW).ledger.find(({ version }) => version === '1.1.0')?.ledger?.policies[''];
const unlimited = { maxConcurrent: { kind: 'unlimited' }, maxFailed: { kind: 'unlimited' } } as const;

describe('a release that was proven', () => {
  const away = { nodes: [node('a', { ready: false, readyChangedAt: minutes(-1) }), node('b')] };

  test('stays so while who has proven it is away', () => {
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

describe('what a person decides on a release', () => {
  test('as Halt starts nobody, and is no halt by failures', () => {
    const world = withLedger(fleet({ a: {} }), {}, 'Halt');
    expect(reasons(world)).toEqual({ a: 'RolloutHalted' });
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
    expect.objectContaining({ node: 'p39', message: '1.1.0 is yet to be proven by nodes of other policies' }),
  );
});

test('37: a canary that never returned counts once, with its permit and its entry, so that two others may fail', () => {
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

describe('the permit of an attempt that has ended badly', () => {
  const ended: Parts = {
    spec: { state: 'RebootedIntoUpdate', version: '1.1.0' },
    status: {
      current_state: 'ErrorReset',
      crash_count: 1,
      failed_versions: ['1.1.0'],
      last_failure: {
        state: 'RebootedIntoUpdate',
        reason: 'BootFailed',
        message: '',
        version: '1.1.0',
        time: moment(0),
      },
    },
  };
  const held = { ...permit('a'), id: 'try', family: FAMILY, version: '1.1.0' };
  const entry = { node: 'a', policy: '', attempt: 'try', reason: 'BootFailed', at: moment(0) } as const;
  const kinds = (world: World) => planOnce(underRules(world, POLICY), POLICY, NOW).commands.map(({ kind }) => kind);

  test('stays until the ledger has it: only then spec goes to Idle', () => {
    const world = fleet({ a: ended }, { permits: [held] });
    expect(kinds(withLedger(world, {}))).toEqual([]);
    expect(kinds(withLedger(world, { failures: { 'uid-a': entry } }))).toEqual(['set-spec']);
  });

  test('that has ended well stays, in its last step, until its entry of an earlier attempt is gone', () => {
    const world = fleet({ a: monitoring(-60) }, { permits: [held] });
    expect(kinds(withLedger(world, { failures: { 'uid-a': entry } }))).not.toContain('set-spec');
    expect(kinds(withLedger(world, {}))).toContain('set-spec');
  });

  test('does not wait for a ledger that has no room for another node', () => {
    const names = Array.from({ length: 1000 }, (_, at) => `x${at}`);
    const full = { failures: failed(...names) };
    expect(kinds(withLedger(fleet({ a: ended }, { permits: [held] }), full))).toEqual(['set-spec']);
    expect(kinds(withLedger(fleet({ b: {} }, { permits: [held] }), full))).toEqual(['free']);
  });

  test('is not entered again once a person has cleared it', () => {
    const world = withLedger(fleet({ a: ended }, { permits: [held] }), {
      cleared: { 'uid-a': { attempt: 'try', at: moment(-1) } },
    });
    expect(kinds(world)).toEqual(['set-spec']);
    const { ledger } = planOnce(underRules(world, POLICY), POLICY, NOW);
    expect(ledger.flatMap((write) => Object.keys(write.ledger?.failures ?? {}))).toEqual([]);
  });
});

describe('where the ledger of a release cannot be written', () => {
  const REFUSED = 'its ledger is refused: no';
  const end: Parts = {
    spec: { state: 'RebootedIntoUpdate', version: '1.1.0' },
    status: { current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'] },
  };
  const held = { ...permit('a'), id: 'try', family: FAMILY, version: '1.1.0' };
  const noted = { ...held, ended: 'BootFailed' } as const;
  const refused = (world: World): World => {
    const of = withLedger(world, {});
    const names = of.releases.objects.map(({ name }) => name);
    return { ...of, releases: { ...of.releases, refused: new Map(names.map((name) => [name, REFUSED])) } };
  };
  const made = (world: World) => planOnce(underRules(world, POLICY), POLICY, NOW);

  test('how an attempt has ended is kept with its permit, and then its node comes to rest', () => {
    const ended = made(refused(fleet({ a: end }, { permits: [held] })));
    expect(ended.commands).toEqual([{ kind: 'note-end', shadow: 'brs-a', nodeUid: 'uid-a', ended: 'BootFailed' }]);
    expect(made(refused(fleet({ a: end }, { permits: [noted] }))).commands).toMatchObject([
      { kind: 'set-spec', spec: { state: 'Idle' } },
    ]);
  });

  test.each([
    ['at rest', {}],
    ['at rest, with nothing on offer', { status: { target_version: '1.0.0' } }],
  ] as const)('the permit of a node that is %s waits with it, and no other attempt is made', (_, parts) => {
    const { commands, verdicts } = made(refused(fleet({ a: parts }, { permits: [noted] })));
    expect(commands).toEqual([]);
    expect(verdicts).toMatchObject([{ reason: 'WriteRefused', message: `1.1.0: ${REFUSED}` }]);
  });

  test.each([
    ['at rest', fleet({ a: {} })],
    ['not managed any more', fleet({}, { nodes: [node('a', { managed: false })], silentSince: new Map([['a', NOW]]) })],
    ['gone', fleet({ b: updated })],
  ])('it is entered later of a node that is %s, and then the permit goes', (_, of) => {
    const world = { ...of, permits: [noted] };
    const { commands, ledger } = made(withLedger(world, {}));
    expect(commands).not.toContainEqual(expect.objectContaining({ kind: 'free' }));
    const entered = ledger.find(({ version }) => version === '1.1.0')?.ledger?.failures;
    expect(entered).toMatchObject({ 'uid-a': { attempt: 'try', reason: 'BootFailed' } });
    const after = made(withLedger(world, { failures: entered ?? {} })).commands;
    expect(after).toContainEqual(expect.objectContaining({ kind: 'free', nodeUid: 'uid-a' }));
  });
});

describe('a node that is gone with its permit', () => {
  const held = { ...permit('a'), id: 'try', family: FAMILY, version: '1.1.0' };
  const worldOf = (state?: 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate'): World => {
    const world = fleet({ b: {} }, { permits: [held] });
    const left = state && shadow('a', { spec: { state, version: '1.1.0' }, status: { current_state: state } });
    return withLedger({ ...world, shadows: [...world.shadows, ...(left ? [left] : [])] }, {});
  };
  const failures = (world: World) =>
    planOnce(underRules(world, POLICY), POLICY, NOW).ledger.map(({ ledger }) => ledger?.failures['uid-a']?.reason);
  const freed = (world: World) =>
    planOnce(underRules(world, POLICY), POLICY, NOW).commands.filter(({ kind }) => kind === 'free');

  test.each([
    ['whose shadow is gone too', undefined],
    ['whose shadow says that it was drained', 'RebootedIntoUpdate'],
  ] as const)('%s counts as failed, and keeps it until that is entered', (_, state) => {
    expect(failures(worldOf(state))).toContain('Gone');
    expect(freed(worldOf(state))).toEqual([]);
    const gone = { node: 'a', policy: '', attempt: 'try', reason: 'Gone', at: moment(0) } as const;
    expect(freed(withLedger(worldOf(state), { failures: { 'uid-a': gone } }))).toMatchObject([{ nodeUid: 'uid-a' }]);
  });

  test('and of which no reboot was asked has not: its shadow is read once more before the permit goes', () => {
    const world = worldOf('StagedAndPerformedUpdate');
    expect(failures(world)).not.toContain('Gone');
    expect(freed(world)).toMatchObject([{ because: 'node-gone', isUnasked: true }]);
  });

  test('and whose shadow said that, when it was deleted, has not either: nothing is left to be read', () => {
    const world = worldOf('StagedAndPerformedUpdate');
    const said = { ...world, shadows: worldOf().shadows, deletedShadows: world.shadows };
    expect(failures(said)).not.toContain('Gone');
    expect(freed(said)).toEqual([{ kind: 'free', because: 'node-gone', shadow: 'brs-a', nodeUid: 'uid-a' }]);
    const ofAnother = said.deletedShadows.map((one) => ({ ...one, owners: ['uid-another'] }));
    expect(failures({ ...said, deletedShadows: ofAnother })).toContain('Gone');
  });
});

describe('a node that was deleted soon after its update', () => {
  const last = (more: Partial<NodeView> = {}) => node('a', { ready: false, ...more });
  const world = (gone: NodeView, finished = -59, ledger: Partial<Ledger> = { policies: { '': MET } }): World => {
    const said = shadow('a', { ...updated, finishedAt: minutes(finished), lastAttempt: 'try' });
    return { ...withLedger(fleet({ b: {} }), ledger), deletedNodes: [gone], deletedShadows: [said] };
  };
  const failures = (of: World) =>
    planOnce(underRules(of, POLICY), POLICY, NOW).ledger.flatMap(({ ledger }) => Object.values(ledger?.failures ?? {}));
  const gone = [{ node: 'a', policy: '', attempt: 'try', reason: 'Gone', at: moment(0) }];

  test('while it was not Ready counts as failed: within an hour, or a day while the release is not proven', () => {
    expect(failures(world(last()))).toEqual(gone);
    expect(failures(world(last(), -60))).toEqual([]);
    expect(failures(world(last(), -1439, {}))).toEqual(gone);
    expect(failures(world(last(), -1440, {}))).toEqual([]);
  });

  test.each([
    ['while it was Ready', last({ ready: true })],
    ['by whoever removes machines', last({ leaving: true })],
    ['while somebody held it', last({ held: true })],
    ['once it was managed no more', last({ managed: false })],
  ])('%s blames nobody', (_, one) => {
    expect(failures(world(one))).toEqual([]);
  });

  test('is not entered again once a person has cleared it', () => {
    const cleared = { 'uid-a': { attempt: 'try', at: moment(-1) } };
    expect(failures(world(last(), -59, { policies: { '': MET }, cleared }))).toEqual([]);
  });
});

test('what becomes of a node at rest is put down to the attempt that it has finished', () => {
  const down = { nodes: [node('a', { ready: false, readyChangedAt: minutes(-15) })] };
  const world = withLedger(fleet({ a: { ...updated, finishedAt: minutes(-20), lastAttempt: 'try' } }, down), {});
  const entered = planOnce(underRules(world, POLICY), POLICY, NOW).ledger.map(({ ledger }) => ledger?.failures);
  expect(entered).toContainEqual({ 'uid-a': expect.objectContaining({ attempt: 'try', reason: 'SoakFailed' }) });
});

test('a false entry of a leader that was deposed goes once its node has been well for as long as a soak may take', () => {
  const entries = { failures: failed('a') };
  const since = (minute: number): World =>
    withLedger(fleet({ a: { ...updated, finishedAt: Date.parse(moment(minute)) } }, { nodes: [node('a')] }), entries);
  const left = (world: World) =>
    planOnce(underRules(world, POLICY), POLICY, NOW).ledger.map(({ ledger }) => Object.keys(ledger?.failures ?? {}));
  expect(left(since(-15))).toEqual([[]]);
  expect(left(since(-14))).toEqual([['uid-a']]);
});
