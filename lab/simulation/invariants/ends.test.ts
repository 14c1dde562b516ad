import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Entry } from '../types.ts';
import { MINUTE } from '../units.ts';
import { concurrency } from './budget.ts';
import { entered, ledgers } from './entered.ts';
import { hints } from './hints.ts';
import {
  broken,
  lease,
  NEW,
  node,
  OLD,
  OTHER,
  permit,
  release,
  RESOURCES,
  type Said,
  SCENARIO,
  shadow,
  STARTS,
  UNLISTED,
} from './histories.ts';
import { lists } from './lists.ts';
import { obeyed } from './obeyed.ts';
import { permits } from './permits.ts';
import { Picture } from './picture.ts';
import { atRest } from './rest.ts';

const failure = (attempt: string) => ({ node: 'node-1', policy: '', attempt, reason: 'BootFailed' });
const UPDATING = shadow('node-1', { spec: 'RebootedIntoUpdate', reached: 'StagedAndPerformedUpdate' });
const FAILED = { crash_count: 1, failed_versions: [NEW], last_failure: { reason: 'BootFailed' } };
const HAS_FAILED = [
  node('node-1'),
  shadow('node-1'),
  lease([permit]),
  UPDATING,
  shadow('node-1', { spec: 'RebootedIntoUpdate', reached: 'ErrorReset', status: FAILED }),
];

test.each([
  ['no ledger', [], 2],
  ['a ledger of another attempt', [release({ failures: { 'uid of node-1': failure('another') } })], 2],
  ['a ledger', [release({ failures: { 'uid of node-1': failure('this attempt') } })], 0],
  ['what a person has cleared', [release({ cleared: { 'uid of node-1': failure('this attempt') } })], 0],
])('the node comes to rest after a failed boot, and its permit is given back, with %s', (_, known, breaches) => {
  const idle = shadow('node-1', { status: FAILED });
  expect(broken(entered, [...HAS_FAILED, ...known, idle, lease([])])).toHaveLength(breaches);
});

test('a failure that somebody has taken out of the cluster is none, nor is one that is at its end', () => {
  const forgotten = { byOthers: shadow('node-1', { spec: 'RebootedIntoUpdate', reached: 'ErrorReset' }) };
  expect(broken(entered, [...HAS_FAILED, forgotten, shadow('node-1'), lease([])])).toEqual([]);
  expect(broken(entered, [...HAS_FAILED, lease([permit, { ...permit, nodeUid: 'another' }])])).toEqual([]);
});

test.each([
  ['asked to reboot, as its permit says', { rebootAskedAt: '2026-03-02T00:00:00Z' }, UPDATING, 1],
  [
    'asked to reboot, as its shadow says',
    {},
    shadow('node-1', {
      spec: 'RebootedIntoUpdate',
      status: { reboot: { boot_id: 'a', version: NEW, requested_at: '2026-03-02T00:00:00Z' } },
    }),
    1,
  ],
  ['not asked to reboot', {}, UPDATING, 0],
])('the permit of a node that is gone is given back, %s', (_, asked, last, breaches) => {
  const history = [node('node-1'), shadow('node-1'), lease([{ ...permit, ...asked }]), last, { gone: 'node-1' }];
  expect(broken(entered, [...history, lease([])])).toHaveLength(breaches);
});

test('an end that stands on the permit is in the ledger before that is given back', () => {
  const noted = lease([{ ...permit, ended: 'BootFailed' }]);
  expect(broken(entered, [node('node-1'), shadow('node-1'), noted, lease([])])).toHaveLength(1);
});

test('where no ledger takes a failure, the node comes to rest once its permit says it', () => {
  const noted = lease([{ ...permit, ended: 'BootFailed' }]);
  const idle = shadow('node-1', { status: FAILED });
  expect(broken(entered, [...HAS_FAILED, noted, idle])).toEqual([]);
  expect(broken(entered, [...HAS_FAILED, idle])).toHaveLength(1);
});

test('a node comes to rest after a good end once its release is blamed for it no more', () => {
  const well = { reached: 'MonitoringUpdate', status: { current_version: NEW } };
  const over = shadow('node-1', { ...well, spec: 'MonitoringUpdate' });
  const blamed = release({ failures: { 'uid of node-1': failure('another') } });
  const history = [node('node-1'), shadow('node-1'), lease([permit]), UPDATING, blamed, over];
  expect(broken(entered, [...history, shadow('node-1', well)])).toHaveLength(1);
  expect(broken(entered, [...history, release({}), shadow('node-1', well)])).toEqual([]);
});

test('nothing starts on a release that has no ledger', () => {
  const starts = shadow('node-1', STARTS);
  expect(broken(ledgers, [node('node-1'), shadow('node-1'), starts])).toHaveLength(1);
  expect(broken(ledgers, [node('node-1'), shadow('node-1'), release({}), starts])).toEqual([]);
  const said = release({}, { family: '*' });
  expect(broken(ledgers, [node('node-1'), shadow('node-1'), said, starts])).toHaveLength(1);
});

test('who starts is named nothing any more, and who does not rest, or prepares nothing ahead, is not named anything', () => {
  const begun = { spec: 'StagedAndPerformedUpdate', from: OLD };
  const named = shadow('node-1', { hint: NEW });
  expect(broken(hints, [shadow('node-1'), named])).toEqual([]);
  expect(broken(hints, [named, shadow('node-1', { ...begun })])).toEqual([]);
  expect(broken(hints, [named, shadow('node-1', { ...begun, hint: NEW })])).toHaveLength(1);
  expect(broken(hints, [shadow('node-1', begun), shadow('node-1', { ...begun, hint: NEW })])).toHaveLength(1);
  const older = { status: { staged: null } };
  expect(broken(hints, [shadow('node-1', older), shadow('node-1', { ...older, hint: NEW })])).toHaveLength(1);
});

test('a start says what the node runs, and what it ran before, which its last update may not have left', () => {
  const starts = (said: Said): KubeObject => shadow('node-1', { spec: 'StagedAndPerformedUpdate', ...said });
  const updated = shadow('node-1', { from: '1.37.0', before: '1.36.0' });
  expect(broken(hints, [updated, starts({ from: OLD, before: '1.37.0' })])).toEqual([]);
  expect(broken(hints, [updated, starts({ from: NEW, before: '1.37.0' })])).toHaveLength(1);
  expect(broken(hints, [updated, starts({ from: OLD })])).toHaveLength(1);
  const called = shadow('node-1', { from: OLD, before: '1.37.0' });
  expect(broken(hints, [called, starts({ from: OLD, before: '1.37.0' })])).toEqual([]);
});

test('more nodes than may be updating are named what to prepare, for longer than it takes to see', () => {
  const leads = { kind: 'process', process: 'controller-0', event: 'starts', at: 0 } as const;
  const names = ['node-1', 'node-2'];
  const judgedFor = (named: readonly string[], hint = NEW): readonly string[] => {
    const picture = new Picture(SCENARIO);
    const judge = atRest.begin(picture, SCENARIO);
    const objects = [...names.map((name) => node(name)), ...named.map((name) => shadow(name, { hint })), lease([])];
    const writeAt = (minute: number, after: KubeObject): Entry => {
      const [at, { name }] = [minute * MINUTE, after.metadata];
      return { kind: 'write', at, sentAt: at, by: 'controller-0', name, resource: RESOURCES[name.slice(0, 4)]!, after };
    };
    const minutes = [20, 21, 22, 26];
    const writes = [...objects.map((one) => writeAt(0, one)), ...minutes.map((minute) => writeAt(minute, lease([])))];
    return [leads, ...writes].flatMap((entry) => {
      picture.see(entry);
      return judge.see?.(entry) ?? [];
    });
  };
  expect(judgedFor(['node-1'])).toEqual([]);
  expect(judgedFor(names)).toEqual(['more than 1 nodes are named what to prepare']);
  expect(judgedFor(names, 'offered no more')).toEqual([]);
});

const HALT = {
  failures: { 'uid of node-1': failure('this attempt') },
  policies: { '': { haltedAt: 'then', limit: '1' } },
};
const FLEET = [node('node-1'), node('node-2'), shadow('node-1'), shadow('node-2')];

test.each([
  ['starts nowhere', [release(HALT)], shadow('node-2', STARTS), 1],
  ['is prepared nowhere', [release(HALT)], shadow('node-2', { hint: NEW }), 1],
  ['may be tried where it has failed', [release(HALT)], shadow('node-1', STARTS), 0],
  ['starts where a person allows it', [release(HALT, { decision: 'Allow' })], shadow('node-2', STARTS), 0],
  ['starts once a person has cleared the failure', [release({ ...HALT, failures: {} })], shadow('node-2', STARTS), 0],
  [
    'starts once the node runs it after all',
    [release(HALT), node('node-1', { version: NEW })],
    shadow('node-2', STARTS),
    0,
  ],
])('a release that failures have halted %s', (_, known, written, breaches) => {
  expect(broken(obeyed, [...FLEET, ...known, written])).toHaveLength(breaches);
});

test('where an update is under way without a permit, the list is made with it, and no other node comes before it', () => {
  const marked = [node('node-1', { marks: '{}' }), node('node-2')];
  expect(broken(permits, [...marked, UNLISTED, lease([])])).toHaveLength(1);
  expect(broken(permits, [...marked, UNLISTED, lease([permit])])).toEqual([]);
  expect(broken(permits, [...marked, lease([]), lease([OTHER])])).toHaveLength(1);
  expect(broken(permits, [...marked, lease([]), lease([permit])])).toEqual([]);
  expect(broken(permits, [node('node-1'), node('node-2'), lease([]), lease([OTHER])])).toEqual([]);
});

test('what had a permit that somebody has taken away goes on, until the list is made anew without it', () => {
  const marked = node('node-1', { marks: '{}' });
  const robbed = [node('node-1'), lease([permit]), { byOthers: UNLISTED }];
  expect(broken(permits, [...robbed, marked])).toEqual([]);
  expect(broken(permits, [...robbed, lease([]), marked])).toHaveLength(1);
  expect(broken(permits, [node('node-1'), lease([permit]), lease([]), marked])).toHaveLength(2);
});

test('a permit is given back once the Node has been written to since the update began, or is gone', () => {
  const [is, touched] = [node('node-1'), node('node-1', { released: '1' })];
  const updated = [lease([permit]), UPDATING, shadow('node-1')];
  expect(broken(permits, [is, ...updated, lease([])])).toHaveLength(1);
  expect(broken(permits, [is, touched, ...updated, lease([])])).toHaveLength(1);
  expect(broken(permits, [is, touched, lease([permit]), lease([])])).toHaveLength(1);
  expect(broken(permits, [is, ...updated, touched, lease([])])).toEqual([]);
  expect(broken(permits, [is, ...updated, { gone: 'node-1' }, lease([])])).toEqual([]);
});

test('a holder goes on from no list that another has written', () => {
  const next = { ...lease([OTHER]), spec: { holderIdentity: 'two' } };
  const taken = [lease([]), lease([permit]), { byOthers: UNLISTED }];
  expect(broken(lists, [lease([]), lease([permit]), lease([permit, OTHER])])).toEqual([]);
  expect(broken(lists, [...taken, lease([permit])])).toHaveLength(1);
  expect(broken(lists, [...taken, next])).toEqual([]);
});

test('a machine that is down, or that others have out, takes a place, for as long as the settings say, where it was Ready before', () => {
  const others = [node('node-2'), shadow('node-2'), lease([OTHER])];
  const [up, down] = [node('node-1'), node('node-1', { ready: false })];
  const starts = shadow('node-2', STARTS);
  expect(broken(concurrency, [up, ...others, down, starts])).toHaveLength(1);
  expect(broken(concurrency, [up, ...others, starts])).toEqual([]);
  const out = { byOthers: node('node-1', { cordoned: true }) };
  expect(broken(concurrency, [up, ...others, out, starts])).toHaveLength(1);
  expect(broken(concurrency, [down, ...others, down, starts])).toEqual([]);
  expect(broken(concurrency, [up, ...others, down, starts], { NOT_READY_HOLD_IN_SEC: '600' })).toEqual([]);
  expect(broken(concurrency, [up, ...others, down, starts], { MAX_CONCURRENT_UPDATE: '2' })).toEqual([]);
});
