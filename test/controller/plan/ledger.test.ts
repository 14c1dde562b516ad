import { describe, expect, test } from '@jest/globals';
import type { ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { LedgerTimes } from '../../../runtime/controller/seeing/ledger-times.ts';
import { EMPTY, type Ledger } from '../../../runtime/api/release/ledger.ts';
import { fleet, ledgerObject, minutes, moment, NOW, plan, POLICY, updated, type World } from './fleet.ts';

const FAMILY = 'aws-k8s-1.33/amd64';
const DAY = 1440;
const FAILURE = { node: 'gone', policy: '', attempt: 'x', reason: 'Gone', at: moment(-9 * DAY) } as const;

const object = (ledger: Partial<Ledger>, more: Partial<ReleaseView> = {}): ReleaseView => ({
  ...ledgerObject({ family: FAMILY, version: '0.9.0' }, { ...EMPTY, ...ledger }),
  ...more,
});
const world = (...objects: readonly ReleaseView[]): World =>
  fleet({ a: {} }, { releases: { objects, refused: new Map(), seeds: false } });
const writeOf = (of: World, now = NOW) => plan(of, POLICY, now).ledger.find(({ version }) => version === '0.9.0');

describe('the ledger of a release that nobody runs, is offered or heads for', () => {
  test('says since when', () => {
    expect(writeOf(world(object({})))?.ledger).toMatchObject({ unusedSince: moment(0), state: 'Unused' });
  });

  test.each([
    ['is forgotten seven days later', object({ unusedSince: moment(-7 * DAY) }), undefined],
    ['is kept until then', object({ unusedSince: moment(-7 * DAY + 1) }), {}],
    ['is kept where a person has decided on it', object({ unusedSince: moment(-8 * DAY) }, { decision: 'Halt' }), {}],
    [
      'is kept where somebody has failed on it',
      object({ unusedSince: moment(-8 * DAY), failures: { gone: FAILURE } }),
      {},
    ],
    [
      'is kept where somebody has approved it',
      object({ unusedSince: moment(-8 * DAY) }, { approvedFor: ['prod'] }),
      {},
    ],
    [
      'is kept where somebody has said where it is proven',
      object({ unusedSince: moment(-8 * DAY) }, { provenIn: ['eu'] }),
      {},
    ],
    [
      'is kept where it is about all families',
      ledgerObject({ family: '*', version: '0.9.0' }, { ...EMPTY, unusedSince: moment(-8 * DAY) }),
      {},
    ],
  ])('%s', (_, one, kept) => {
    const { ledger } = writeOf(world(one)) ?? {};
    if (kept) expect(ledger).toMatchObject(kept);
    else expect(ledger).toBeUndefined();
    expect(writeOf(world(one))).toBeDefined();
  });
});

test('when the last update under a policy was finished stays known when its node is gone, and pauses the others', () => {
  const pausing = { ...POLICY, pauseBetweenMs: 600_000 };
  const kept = (of: World) => plan(of, pausing, NOW).ledger.find(({ version }) => version === '1.1.0')?.ledger;
  const finished = fleet({ a: { ...updated, finishedAt: minutes(-3) }, b: {} });
  expect(kept(finished)).toMatchObject({ policies: { '': { lastFinishedAt: moment(-3) } } });
  const of = { family: FAMILY, version: '1.1.0' };
  const releases = { objects: [ledgerObject(of, kept(finished))], refused: new Map(), seeds: false };
  const [verdict] = plan(fleet({ b: {} }, { releases }), pausing, NOW).verdicts;
  expect(verdict).toMatchObject({ reason: 'Pausing', until: minutes(7) });
  expect(kept(fleet({ a: { ...updated, finishedAt: minutes(-4) }, b: {} }, { releases }))).toBeUndefined();
});

describe('a time by a clock that is ahead counts as when it was first seen', () => {
  const YEAR = 365 * DAY;
  const smoke = { says: 'x', attempt: 'uid', since: moment(0), tries: 1, result: 'Passed' } as const;
  const ahead = (minute: number): Ledger => ({
    ...EMPTY,
    firstOfferedAt: moment(minute),
    unusedSince: moment(minute),
    policies: {
      '': { lastFinishedAt: moment(minute), lastSeenAt: moment(minute) },
      gone: { lastSeenAt: moment(minute), checks: { smoke: { ...smoke, at: moment(minute) } } },
    },
    failures: { gone: { ...FAILURE, at: moment(minute) } },
  });
  const stored = ledgerObject({ family: FAMILY, version: '1.1.0' }, ahead(YEAR));
  const at = (minute: number, monotonic = minute) => ({ now: minutes(minute), monotonic: minutes(monotonic) });
  const rules = { ...POLICY, pauseBetweenMs: 600_000, version: { ...POLICY.version, minAgeMs: 600_000 } };

  test('and nothing waits until it has come', () => {
    const times = new LedgerTimes();
    const planned = (minute: number) => {
      const [view] = times.see([{ ...stored, ledger: { ...stored.ledger, failures: {} } }], at(minute));
      return plan(world(view!), rules, minutes(minute));
    };
    expect(planned(0).verdicts).toMatchObject([{ until: minutes(10) }]);
    expect(planned(9).verdicts).toMatchObject([{ until: minutes(10) }]);
    expect(planned(10).verdicts).toMatchObject([{ reason: 'Updating' }]);
  });

  test('by this process, wherever its clock is set to, until another is stated', () => {
    const times = new LedgerTimes();
    const seen = (view: ReleaseView, ...when: Parameters<typeof at>) => times.see([view], at(...when))[0]!.ledger;
    expect(seen(stored, 0)).toEqual(ahead(0));
    expect(seen(stored, 5)).toEqual(ahead(0));
    expect(seen(stored, -1794, 6)).toEqual(ahead(-1800));
    expect(seen(stored, 2 * YEAR, 7)).toEqual(ahead(YEAR));
    const other = { ...stored, ledger: ahead(3 * YEAR) };
    expect(seen(other, 2 * YEAR, 7)).toEqual(ahead(2 * YEAR));
  });

  test('also once it has come', () => {
    const times = new LedgerTimes();
    const soon = { ...stored, ledger: ahead(60) };
    expect([0, 60, 120].map((minute) => times.see([soon], at(minute))[0]!.ledger)).toEqual([
      ahead(0),
      ahead(0),
      ahead(0),
    ]);
  });

  test('while what is not ahead is as it was', () => {
    const past = { ...stored, ledger: ahead(0) };
    expect(new LedgerTimes().see([past], at(0))[0]).toBe(past);
  });
});

test('a day passes before it is written again that nodes of the family are there', () => {
  const seen = world(ledgerObject({ family: FAMILY, version: '1.1.0' }));
  const write = plan(seen, POLICY, NOW).ledger.find(({ version }) => version === '1.1.0');
  const again = world(ledgerObject({ family: FAMILY, version: '1.1.0' }, write!.ledger));
  const writes = (now: number) => plan(again, POLICY, now).ledger.filter(({ version }) => version === '1.1.0');
  expect(writes(minutes(DAY - 1))).toEqual([]);
  expect(writes(minutes(DAY))).toMatchObject([{ ledger: { policies: { '': { lastSeenAt: moment(DAY) } } } }]);
});

test.each([
  ['is forgotten seven days after its nodes were seen', -7 * DAY, null],
  ['is kept until then: a sync may make it anew', -7 * DAY + 1, {}],
])('what the checks of a policy that is gone have said %s', (_, seenAt, checks) => {
  const smoke = { says: 'x', attempt: 'uid', since: moment(-9 * DAY), tries: 1, result: 'Passed' } as const;
  const prod = { checks: { smoke }, provenAt: moment(-9 * DAY), lastSeenAt: moment(seenAt) };
  const seen = world(ledgerObject({ family: FAMILY, version: '1.1.0' }, { ...EMPTY, policies: { prod } }));
  const { ledger } = plan(seen, POLICY, NOW).ledger.find(({ version }) => version === '1.1.0')!;
  expect(ledger?.policies['prod']).toMatchObject({ checks, provenAt: prod.provenAt });
});
