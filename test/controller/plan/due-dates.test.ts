import { expect, test } from '@jest/globals';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import type { WindowState } from '../../../runtime/controller/plan/facts/policies.ts';
import type { ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { EMPTY } from '../../../runtime/api/release/ledger.ts';
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
  ruling,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';

/** A policy says by when a release is to be complete, and is told where that cannot be. 1.1.0 has been offered for an hour. */

const FAMILY = 'aws-k8s-1.33/amd64';
const HOUR = 3_600_000;
const ZONE = 'topology.kubernetes.io/zone';
const MANY = { ...POLICY, maxConcurrent: { kind: 'unlimited' } } as const;
type Says = Partial<UpdatePolicy> & { window?: WindowState };

function worldOf(
  says: Says,
  nodes: Readonly<Record<string, Parts>>,
  said: Partial<ReleaseView> = {},
  more: Partial<World> = {},
): World {
  const own = ledgerObject({ family: FAMILY, version: '1.1.0' }, { ...EMPTY, firstOfferedAt: moment(-60) });
  const releases = { objects: [{ ...own, ...said }], refused: new Map(), seeds: false };
  const policies = [ruling('prod', { ...UNPROVEN_TOO, selector: {}, ...says })];
  return fleet(nodes, { policies, releases, ...more });
}

function late(...world: Parameters<typeof worldOf>) {
  const { policies: reports, requeueAt } = plan(worldOf(...world), MANY, NOW);
  return { condition: reports[0]?.deadline, requeueAt };
}

const took = (ms: number, more: Parts = {}): Parts => ({ lastUpdateMs: ms, ...more });
const four = { a: took(HOUR), b: took(HOUR), c: took(HOUR), d: took(HOUR) };
const one = { kind: 'count', count: 1 } as const;

test('a policy without a date has no such condition', () => {
  expect(late({}, four).condition).toBeUndefined();
});

test('four updates of an hour, one after the other, are late by a date in three hours, and by how much is said', () => {
  expect(late({ completeWithinMs: 4 * HOUR, maxConcurrent: one }, four).condition).toEqual({
    status: 'True',
    reason: 'WillMissDeadline',
    message: `1.1.0 on ${FAMILY} will be late by 1 h at least: it was due at ${moment(180)}, 4 nodes are left, and most of the time goes to maxConcurrent`,
  });
  expect(late({ completeWithinMs: 4 * HOUR, maxConcurrent: { kind: 'unlimited' } }, four).condition).toMatchObject({
    status: 'False',
    reason: 'OnTime',
  });
});

test('they are late as well where one at a time goes over all policies, and that is named', () => {
  const world = worldOf({ completeWithinMs: 4 * HOUR, maxConcurrent: { kind: 'unlimited' } }, four);
  const { deadline } = plan(world, { ...MANY, maxConcurrent: one }, NOW).policies[0] ?? {};
  expect(deadline).toMatchObject({ status: 'True', message: expect.stringContaining('goes to MAX_CONCURRENT_UPDATE') });
});

const CLOSED: WindowState = { open: false, triggeredAt: undefined, changesAt: minutes(600) };

test.each<[string, Says, Readonly<Record<string, Parts>>]>([
  ['OutsideWindow (windows)', { window: CLOSED }, four],
  ['Frozen (freezes)', { freezes: [{ from: minutes(-1), to: minutes(600), reason: 'a fair' }] }, four],
  ['TooYoung (version.minAge)', { version: { ...POLICY.version, minAgeMs: 11 * HOUR } }, four],
  [
    'RecentlyUpdated (minInterval)',
    { minIntervalMs: 11 * HOUR },
    { a: took(HOUR), b: took(HOUR, { finishedAt: minutes(-1) }) },
  ],
  ['pauseBetween', { pauseBetweenMs: 3 * HOUR }, four],
  ['Pausing (pauseBetween)', { pauseBetweenMs: 11 * HOUR }, { a: took(HOUR), b: { ...updated, endedAt: minutes(-1) } }],
])('what takes most of the time is named: %s', (because, says, nodes) => {
  const { condition } = late({ completeWithinMs: 3 * HOUR, ...says }, nodes);
  expect(condition).toMatchObject({ status: 'True', message: expect.stringContaining(`goes to ${because}`) });
});

test('what takes most of the time is looked at again once that changes, as a wait gets shorter', () => {
  const waits = { completeWithinMs: HOUR, window: { ...CLOSED, changesAt: minutes(90) } };
  const { condition, requeueAt } = late(waits, { a: took(HOUR) });
  expect([condition?.message, requeueAt]).toEqual([expect.stringContaining('goes to OutsideWindow'), minutes(30) + 1]);
});

test('where nothing with an end is waited for, and no update has shown how long it takes, it is looked at again when it is later by an hour', () => {
  expect(late({ completeWithinMs: HOUR / 2, needsApproval: true }, { a: {} }).requeueAt).toBe(minutes(30) + 1);
});

test('what a person has to end makes it late once it would be, and is named then', () => {
  const { condition } = late({ completeWithinMs: 2 * HOUR, needsApproval: true }, { a: took(90 * 60_000) });
  expect(condition?.message).toContain('goes to maxConcurrent');
  expect(late({ completeWithinMs: HOUR / 2, needsApproval: true }, { a: {} }).condition?.message).toContain(
    'goes to AwaitingApproval (approval)',
  );
});

test.each<[string, Says]>([
  ['Widening (proof.widen)', { proof: { ...POLICY.proof, nodes: one, widen: 1 } }],
  ['ZoneBusy (zones.atOnce)', { zones: { key: ZONE, atOnce: 1 } }],
])('where others keep nodes back, and no update has shown how long it takes, that is named: %s', (because, says) => {
  const nodes = { a: { ...updated, upToDateSince: minutes(-6) }, b: staging, c: {} };
  const zoned = [node('a'), node('b'), node('c', { labels: { [ZONE]: 'z' } })];
  const { condition } = late({ completeWithinMs: HOUR / 2, ...says }, nodes, {}, { nodes: zoned });
  expect(condition?.message).toContain(`goes to ${because}`);
});

test('an interval does not count for a release that is expedited', () => {
  const says = { completeWithinMs: 3 * HOUR, minIntervalMs: 11 * HOUR };
  const nodes = { a: took(HOUR, { finishedAt: minutes(-1) }) };
  expect(late(says, nodes).condition?.status).toBe('True');
  expect(late(says, nodes, { expediteFor: ['*'] }).condition?.status).toBe('False');
});

test('a plan is made when it becomes late, and nobody is late who has the release', () => {
  const { condition, requeueAt } = late({ completeWithinMs: 4 * HOUR, paused: true }, { a: took(HOUR) });
  expect([condition?.status, requeueAt]).toEqual(['False', minutes(120) + 1]);
  expect(late({ completeWithinMs: 1 }, { a: updated }).condition?.status).toBe('False');
});

test('a plan is made when it is later by another hour, and not for a date that no ledger has yet', () => {
  const nodes = { a: took(HOUR) };
  expect(late({ completeWithinMs: HOUR, paused: true }, nodes).requeueAt).toBe(NOW + 1);
  const { condition, requeueAt } = late({ completeWithinMs: HOUR / 2, paused: true }, nodes, { ledger: EMPTY });
  expect([condition?.status, requeueAt]).toEqual(['False', undefined]);
});
