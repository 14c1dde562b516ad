import { describe, expect, test } from '@jest/globals';
import { plan as planOnce } from '../../../runtime/controller/plan/plan.ts';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { type Ledger } from '../../../runtime/api/release/ledger.ts';
import {
  DRAINED,
  fleet,
  MARKS,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  type Parts,
  permit,
  POLICY,
  rebooting,
  shadow,
  underRules,
  updated,
  type World,
} from './fleet.ts';
import { FAMILY, MET, failed, withLedger } from './kept.ts';

/** Rules F1 and F3: what is entered into the ledger of a release, and what waits for that. */

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
  const kinds = (world: World) =>
    planOnce(underRules(world, POLICY), POLICY, { now: NOW }).commands.map(({ kind }) => kind);

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
    const { ledger } = planOnce(underRules(world, POLICY), POLICY, { now: NOW });
    expect(ledger.flatMap((write) => Object.keys(write.ledger?.failures ?? {}))).toEqual([]);
  });
});

describe('a node whose attempt has ended', () => {
  const entered = (reason: string, permits: World['permits']): readonly unknown[] => {
    const last_failure = { state: 'StagedAndPerformedUpdate', reason, message: '', version: '1.1.0', time: moment(0) };
    const status = { current_state: 'ErrorReset', crash_count: 1, failed_versions: [], last_failure };
    const a = { spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' }, status } as Parts;
    const world = withLedger(fleet({ a }, { permits }), {});
    const { ledger } = planOnce(underRules(world, POLICY), POLICY, { now: NOW });
    return ledger.flatMap((write) => Object.values(write.ledger?.failures ?? {}).map((one) => one.reason));
  };
  const held = [{ ...permit('a'), id: 'try', family: FAMILY, version: '1.1.0' }];

  test('by what could not be written has failed on it, but not without a permit', () => {
    expect([entered('PrepareFailed', held), entered('PrepareFailed', [])]).toEqual([['PrepareFailed'], []]);
  });

  test.each(['TargetChanged', 'HostFailed', 'ActivateFailed', 'DrainFailed', 'RebootFailed'])(
    'by %s has not failed on it',
    (reason) => {
      expect(entered(reason, held)).toEqual([]);
    },
  );
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
  const made = (world: World) => planOnce(underRules(world, POLICY), POLICY, { now: NOW });

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
    planOnce(underRules(world, POLICY), POLICY, { now: NOW }).ledger.map(
      ({ ledger }) => ledger?.failures['uid-a']?.reason,
    );
  const freed = (world: World) =>
    planOnce(underRules(world, POLICY), POLICY, { now: NOW }).commands.filter(({ kind }) => kind === 'free');

  test.each([
    ['whose shadow is gone too', undefined],
    ['whose shadow says that it was drained', 'RebootedIntoUpdate'],
  ] as const)('%s counts as failed, and keeps it until that is entered', (_, state) => {
    expect(failures(worldOf(state))).toContain('Gone');
    expect(freed(worldOf(state))).toEqual([]);
    const gone = { node: 'a', policy: '', attempt: 'try', reason: 'Gone', at: moment(0) } as const;
    expect(freed(withLedger(worldOf(state), { failures: { 'uid-a': gone } }))).toMatchObject([{ nodeUid: 'uid-a' }]);
  });

  test('counts as failed in this attempt where the ledger has its failure of an earlier one', () => {
    const earlier = { node: 'a', policy: '', attempt: 'earlier', reason: 'BootFailed', at: moment(-60) } as const;
    expect(failures(withLedger(worldOf(), { failures: { 'uid-a': earlier } }))).toContain('Gone');
  });

  test('keeps what the ledger has of this attempt', () => {
    const known = { node: 'a', policy: '', attempt: 'try', reason: 'NotReturned', at: moment(-60) } as const;
    expect(failures(withLedger(worldOf(), { failures: { 'uid-a': known } }))).not.toContain('Gone');
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

describe('a node that is gone, whose agent keeps no records and was told to drain it,', () => {
  const held = { ...permit('a'), id: 'try', family: FAMILY, version: '1.1.0' };
  const said = shadow('a', rebooting);
  const worldOf = (...deletedNodes: readonly NodeView[]): World => {
    const world = fleet({ b: {} }, { permits: [held] });
    return withLedger({ ...world, shadows: [...world.shadows, said], deletedNodes }, {});
  };
  const planned = (world: World) => planOnce(underRules(world, POLICY), POLICY, { now: NOW });
  const isBlamed = (world: World) =>
    planned(world).ledger.some(({ ledger }) => ledger?.failures['uid-a'] !== undefined);
  const cordoned = { unschedulable: true };

  test.each<[string, NodeView]>([
    ['it bore the marks of a drain', node('a', { marks: MARKS, ...cordoned })],
    ['no drain had begun', node('a')],
  ])('was not asked to reboot where %s when it was deleted', (_, last) => {
    expect(isBlamed(worldOf(last))).toBe(false);
    const { marks, unschedulable } = last;
    expect(planned(worldOf(last)).commands).toContainEqual(
      expect.objectContaining({
        kind: 'free',
        isUnasked: true,
        lastNode: expect.objectContaining({ marks, unschedulable }),
      }),
    );
  });

  test.each<[string, readonly NodeView[]]>([
    ['its drain was over', [node('a', { marks: DRAINED, ...cordoned })]],
    ['it was cordoned, as an older apiserver leaves it', [node('a', cordoned)]],
    ['only a list has shown it to be gone', []],
    ['another Node of its name was deleted', [node('a', { uid: 'another', marks: MARKS })]],
  ])('counts as failed where %s', (_, last) => {
    expect(isBlamed(worldOf(...last))).toBe(true);
    expect(planned(worldOf(...last)).commands).not.toContainEqual(expect.objectContaining({ kind: 'free' }));
  });
});

describe('a node that was deleted soon after its update', () => {
  const last = (more: Partial<NodeView> = {}) => node('a', { ready: false, ...more });
  const world = (gone: NodeView, finished = -59, ledger: Partial<Ledger> = { policies: { '': MET } }): World => {
    const said = shadow('a', { ...updated, finishedAt: minutes(finished), lastAttempt: 'try' });
    return { ...withLedger(fleet({ b: {} }), ledger), deletedNodes: [gone], deletedShadows: [said] };
  };
  const failures = (of: World) =>
    planOnce(underRules(of, POLICY), POLICY, { now: NOW }).ledger.flatMap(({ ledger }) =>
      Object.values(ledger?.failures ?? {}),
    );
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
  const entered = planOnce(underRules(world, POLICY), POLICY, { now: NOW }).ledger.map(
    ({ ledger }) => ledger?.failures,
  );
  expect(entered).toContainEqual({ 'uid-a': expect.objectContaining({ attempt: 'try', reason: 'SoakFailed' }) });
});

test('a false entry of a leader that was deposed goes once its node has been well for as long as a soak may take', () => {
  const entries = { failures: failed('a') };
  const since = (minute: number): World =>
    withLedger(fleet({ a: { ...updated, finishedAt: Date.parse(moment(minute)) } }, { nodes: [node('a')] }), entries);
  const planned = (world: World) => planOnce(underRules(world, POLICY), POLICY, { now: NOW });
  const left = (world: World) => planned(world).ledger.map(({ ledger }) => Object.keys(ledger?.failures ?? {}));
  expect(left(since(-15))).toEqual([[]]);
  expect(left(since(-14))).toEqual([['uid-a']]);
  expect(planned(since(-14)).requeueAt).toBe(minutes(1));
});
