import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { EMPTY } from '../../../runtime/api/release/ledger.ts';
import type { RebootRecord } from '../../../runtime/api/shadow/model.ts';
import {
  DRAINED,
  fleet,
  ledgerObject,
  MARKS,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  permit,
  staging,
  updated,
  type World,
} from './fleet.ts';

/** Rule F1: a release is blamed for what it did after it was tried, and for nothing else. `b` waits for what becomes of `a`. */

const once = {
  ...POLICY,
  maxFailed: { kind: 'count', count: 1 },
  maxConcurrent: { kind: 'count', count: 10 },
} as const;
const reasons = (world: World): readonly string[] => plan(world, once, NOW).verdicts.map(({ reason }) => reason);
const blamed = (reason: string): readonly string[] => [reason, 'RolloutHalted'];

const record = (more: Partial<RebootRecord> = {}): Parts => ({
  ...rebooting,
  status: {
    current_state: 'StagedAndPerformedUpdate',
    reboot: { boot_id: 'boot-1', version: '1.1.0', requested_at: moment(-60), ...more },
  },
});
const probe = record({ requested_at: null });
const down = { ready: false, readyChangedAt: minutes(-60) };
const withA = (a: Parts, on: Partial<NodeView>, more: Partial<World> = {}): World =>
  fleet({ a, b: {} }, { nodes: [node('a', on), node('b')], ...more });
const silentFor = (count: number): Pick<World, 'silentSince'> => ({
  silentSince: new Map([['a', minutes(-count)]]),
});

describe('a node that is down was asked for a reboot', () => {
  test.each<[string, Parts, Partial<NodeView>]>([
    ['where that is on record', record(), { marks: DRAINED }],
    ['also when its marks were released since', record(), {}],
    ['where its agent keeps no records and its drain is over', rebooting, { marks: DRAINED }],
    ['where nobody leaves marks and it is cordoned', rebooting, { unschedulable: true }],
  ])('%s', (_when, a, on) => {
    expect(reasons(withA(a, { ...down, ...on }))).toEqual(blamed('NotReturned'));
  });
});

describe('nobody asked for a reboot of a node that is down', () => {
  test.each<[string, Parts, Partial<NodeView>]>([
    ['in its drain', rebooting, { marks: MARKS }],
    ['in its drain, with a record that an older attempt has left', record(), { marks: MARKS }],
    ['before its agent asked, which keeps records', probe, { marks: DRAINED }],
    ['before its drain began', rebooting, {}],
    ['with a record for another version', record({ version: '1.2.0' }), { marks: DRAINED }],
    [
      'since its update was ended by a rescue, which leaves the record',
      { ...record(), spec: { version: '1.1.0' } },
      {},
    ],
    [
      'whose agent has said how the reboot went',
      { ...record(), status: { ...record().status, current_state: 'RebootedIntoUpdate' } },
      {},
    ],
  ])('%s', (_when, a, on) => {
    expect(reasons(withA(a, { ...down, ...on }))[0]).not.toBe('NotReturned');
    expect(plan(withA(a, { ...down, ...on }), once, NOW).halted).toEqual([]);
  });

  test('while its update is only staged, and it is not sent on until it is back', () => {
    const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
    const states = (on: Partial<NodeView>): readonly unknown[] =>
      plan(withA(staged, on), once, NOW).commands.flatMap((command) =>
        command.kind === 'set-spec' ? [command.spec.state] : [],
      );
    expect(states(down)).toEqual([]);
    expect(states({})).toEqual(['RebootedIntoUpdate']);
  });
});

describe('an agent that does not come back from the reboot into a release', () => {
  const back = { bootId: 'boot-2', version: '1.1.0' };

  test.each<[string, Parts, Partial<NodeView>]>([
    ['of which there is a record', record(), { bootId: 'boot-2' }],
    ['of which there are marks', rebooting, { bootId: 'boot-2', marks: DRAINED }],
    ['of which only its kubelet tells', rebooting, { version: '1.1.0' }],
    ['of which its kubelet tells, since a rescue has ended its update', { spec: { version: '1.1.0' } }, back],
  ])('%s counts, and no sooner than when its time is over', (_what, a, on) => {
    expect(reasons(withA(a, on, silentFor(15)))).toEqual(blamed('NotReturned'));
    expect(reasons(withA(a, on, silentFor(14)))[0]).not.toBe('NotReturned');
    expect(reasons(withA(a, on))[0]).not.toBe('NotReturned');
  });

  test('has its time from when any controller first saw the request, where its permit remembers that', () => {
    const remembered = (count: number, seen = 0): World => ({
      ...withA(record({ requested_at: moment(-seen) }), down),
      permits: [{ ...permit('a'), rebootAskedAt: minutes(-count) }],
    });
    expect(reasons(remembered(15))).toEqual(blamed('NotReturned'));
    expect(reasons(remembered(14))[0]).not.toBe('NotReturned');
    expect(reasons(remembered(-60, 15))).toEqual(blamed('NotReturned'));
  });

  test('has its time from the request on, however late its agent that asked was seen to run', () => {
    const askedFor = (count: number): World =>
      withA(record({ requested_at: moment(-count) }), { bootId: 'boot-2' }, silentFor(60));
    expect(reasons(askedFor(15))).toEqual(blamed('NotReturned'));
    expect(reasons(askedFor(14))[0]).not.toBe('NotReturned');
    expect(plan(askedFor(14), once, NOW).requeueAt).toBe(minutes(1));
  });

  test('does not count while the host has not been booted', () => {
    expect(reasons(withA(record(), { version: '1.0.0' }, silentFor(15)))[0]).toBe('AgentSilent');
  });
});

describe('a node that has finished its update', () => {
  const finished = (ago: number): Parts => ({ ...updated, finishedAt: minutes(-ago) });
  const since = (ago: number): Partial<NodeView> => ({ ready: false, readyChangedAt: minutes(-ago) });

  test('counts while it is not Ready since soon after that, for as long as a soak may fail', () => {
    expect(reasons(withA(finished(75), since(15)))).toEqual(blamed('SoakFailed'));
    expect(plan(withA(finished(75), since(15)), once, NOW).verdicts[0]!.message).toContain('1.1.0');
    expect(reasons(withA(finished(70), since(14)))[0]).toBe('UpToDate');
    expect(plan(withA(finished(70), since(14)), once, NOW).requeueAt).toBe(minutes(1));
  });

  test.each([
    ['holds it', { held: true }],
    ['takes it away', { leaving: true }],
  ])('is told of, and does not count, while somebody %s', (_, on) => {
    const [own, others] = reasons(withA(finished(75), { ...since(15), ...on }));
    expect([own, others === 'RolloutHalted']).toEqual(['SoakFailed', false]);
  });

  const proven = {
    releases: {
      objects: [
        ledgerObject(
          { family: 'aws-k8s-1.33/amd64', version: '1.1.0' },
          { ...EMPTY, policies: { '': { provenAt: moment(-70) } } },
        ),
      ],
      refused: new Map(),
      seeds: false,
    },
  };

  test('does not count for what befalls it later, or where nobody knows when it finished', () => {
    expect(reasons(withA(finished(77), since(16), proven))[0]).toBe('UpToDate');
    expect(reasons(withA(updated, since(16), proven))[0]).toBe('UpToDate');
  });

  test('counts for a day while the release is not proven', () => {
    expect(reasons(withA(finished(77), since(16)))).toEqual(blamed('SoakFailed'));
    expect(reasons(withA(finished(1457), since(16)))[0]).toBe('UpToDate');
  });

  describe('and went not Ready three times since', () => {
    const times = (...ago: readonly number[]) => ({ unreadyAt: ago.map((one) => minutes(-one)) });
    const wellFor = (ago: number) => ({ readyChangedAt: minutes(-ago) });

    test('counts until it has been Ready for as long as a soak may take', () => {
      expect(reasons(withA(finished(60), { ...times(50, 40, 15), ...wellFor(14) }, proven))).toEqual(
        blamed('Unstable'),
      );
      expect(plan(withA(finished(60), { ...times(50, 40, 15), ...wellFor(14) }, proven), once, NOW).requeueAt).toBe(
        minutes(1),
      );
      expect(reasons(withA(finished(60), { ...times(50, 40, 15), ...wellFor(15) }, proven))[0]).toBe('UpToDate');
      expect(reasons(withA(finished(60), { ...times(50, 40, 5), ...since(5) }, proven))).toEqual(blamed('Unstable'));
    });

    test.each([
      ['once while it was still being updated', { ...times(61, 40, 15), ...wellFor(1) }],
      ['twice', { ...times(40, 15), ...wellFor(1) }],
      ['under the hands of somebody who holds it', { ...times(50, 40, 15), ...wellFor(1), held: true }],
      ['in those of somebody who takes it away', { ...times(50, 40, 5), ...since(5), leaving: true }],
    ])('does not count %s', (_, on) => {
      expect(reasons(withA(finished(60), on, proven))[0]).not.toBe('Unstable');
    });

    test('does not count for what comes later than an hour, but for a day while the release is not proven', () => {
      const late = { ...times(50, 40, 5), ...wellFor(1) };
      expect(reasons(withA(finished(66), late, proven))[0]).toBe('UpToDate');
      expect(reasons(withA(finished(66), late))).toEqual(blamed('Unstable'));
    });
  });

  test('goes on counting under a controller that has just come', () => {
    const condition = { type: 'UpToDate', status: 'Unknown', message: '', lastTransitionTime: moment(-200) } as const;
    const known = { ...updated.status, conditions: [{ ...condition, reason: 'SoakFailed' }] };
    expect(reasons(withA({ ...finished(300), status: known }, since(0)))).toEqual(blamed('SoakFailed'));
  });

  test('is no proof of its release while it is not Ready, or its agent does not run, and is waited for as long as a reboot may take', () => {
    const started = (world: World): number => plan(world, once, NOW).commands.filter((c) => c.kind === 'start').length;
    const world = (on: Partial<NodeView>, more: Partial<World> = {}): World =>
      fleet({ a: updated, b: {}, c: {} }, { nodes: [node('a', on), node('b'), node('c')], ...more });
    expect(started(world({}))).toBe(2);
    expect([started(world(since(14))), started(world(since(15)))]).toEqual([0, 1]);
    expect([started(world({}, silentFor(14))), started(world({}, silentFor(15)))]).toEqual([0, 1]);
  });
});

describe('a failure of an older agent', () => {
  const failedSince = { crash_count: 1, state_transition_failure_timestamp: moment(-60) };
  const recorded = (at: number) => ({ state: 'Idle', reason: 'DrainFailed', message: '', time: moment(at) }) as const;

  test.each<[string, Parts['status'], string]>([
    ['counts where nothing is on record', {}, 'RolloutHalted'],
    ['counts where null is on record', { last_failure: null, failed_versions: null }, 'RolloutHalted'],
    [
      'counts though a newer one before it has left its record',
      { last_failure: recorded(-90), failed_versions: ['0.9.0'] },
      'RolloutHalted',
    ],
    ['is none of this version where others are on record for it', { failed_versions: ['0.9.0'] }, 'Updating'],
    ['is none where the newer agent recorded it', { last_failure: recorded(-60) }, 'Updating'],
    ['is none where the newer agent has seen its target change since', { last_failure: recorded(-30) }, 'Updating'],
  ])('%s', (_what, status, reason) => {
    const a: Parts = { spec: { version: '1.1.0' }, status: { ...failedSince, ...status } };
    expect(reasons(fleet({ a, b: {} }))[1]).toBe(reason);
  });
});
