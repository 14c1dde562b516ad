import { describe, expect, test } from '@jest/globals';
import { saysSame, statusOf } from '../../runtime/controller/telling/policy-status.ts';
import type { PolicyReport, ReleaseReport } from '../../runtime/controller/plan/answer/report.ts';
import { MAX_RELEASES, type PolicyStatus } from '../../runtime/api/policy/model.ts';
import { minutes, moment as at } from './plan/fleet.ts';

const FAMILY = 'aws-k8s-1.33/amd64';
const release = (version: string, more: Partial<ReleaseReport> = {}): ReleaseReport => ({
  family: FAMILY,
  version,
  offered: false,
  underWay: false,
  proven: false,
  complete: false,
  failed: 0,
  checked: [],
  ...more,
});

const report = (more: Partial<PolicyReport> = {}): PolicyReport => ({
  name: 'production',
  uid: 'policy-1',
  generation: 1,
  nodes: { selected: 3, upToDate: 1, updating: 1, waiting: 1, failed: 0 },
  releases: [],
  accepted: { status: 'True', reason: 'Valid', message: 'the policy is obeyed' },
  progressing: { status: 'True', reason: 'Updating', message: 'one node is being updated' },
  halted: { status: 'False', reason: 'NotHalted', message: 'no release is halted' },
  deadline: undefined,
  late: undefined,
  passedOver: [],
  nextChangeAt: undefined,
  ...more,
});

/** What stands in the cluster after each report in turn, a minute apart. Each is written by a process that knows nothing of the others. */
function statuses(...reports: readonly PolicyReport[]): readonly PolicyStatus[] {
  const written: PolicyStatus[] = [];
  reports.forEach((one, minute) => written.push(statusOf(one, written.at(-1), minutes(minute))));
  return written;
}

describe('what was once said of a release', () => {
  const said = (...steps: readonly Partial<ReleaseReport>[]): unknown =>
    statuses(...steps.map((step) => report({ releases: [release('1.1.0', step)] }))).at(-1)?.releases?.[0];

  test('is when it was first so, and stays when it is so no longer: a node may join, and a canary go', () => {
    expect(
      said(
        { offered: true },
        { offered: true, proven: true },
        { proven: true, complete: true },
        { offered: true, failed: 1 },
      ),
    ).toEqual({
      family: FAMILY,
      version: '1.1.0',
      firstOfferedAt: at(0),
      provenAt: at(1),
      completedAt: at(2),
      failed: 1,
    });
  });

  test('stays when no node has to do with it any more', () => {
    const [, last] = statuses(
      report({ releases: [release('1.1.0', { complete: true, failed: 2 })] }),
      report({ releases: [release('1.2.0', { offered: true })] }),
    );
    expect(last?.releases).toMatchObject([
      { version: '1.2.0', firstOfferedAt: at(1), completedAt: null },
      { version: '1.1.0', completedAt: at(0), failed: 0 },
    ]);
  });
});

describe('the releases of a status', () => {
  const families = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `aws-k8s-1.${index + 10}/amd64`);
  const each = (names: readonly string[], version: string, more: Partial<ReleaseReport> = {}): ReleaseReport[] =>
    names.map((family) => release(version, { family, ...more }));

  test('are at most five of a family: those that nodes wait for, and then the newest', () => {
    const versions = ['1.9.0', '1.10.0', '1.11.0', '1.12.0', '1.13.0', '1.14.0'];
    const releases = versions.map((version) => release(version, { offered: version === '1.9.0' }));
    const [first, second] = statuses(report({ releases }), report({ releases: releases.toReversed() }));
    expect(first?.releases?.map(({ version }) => version)).toEqual(['1.9.0', '1.14.0', '1.13.0', '1.12.0', '1.11.0']);
    expect(saysSame(first, second!)).toBe(true);
  });

  test('say of each family what it was, however many there are', () => {
    const many = families(12);
    const [, , last] = statuses(
      report({ releases: each(many, '1.1.0', { complete: true }) }),
      report({ releases: each(many, '1.1.0', { offered: true }) }),
      report({ releases: each(many, '1.2.0', { offered: true }) }),
    );
    const completed = last?.releases?.filter(({ completedAt }) => completedAt === at(0));
    expect(completed?.map(({ family }) => family).toSorted()).toEqual(many);
  });

  test('are no more than the schema takes: of more families the first of each, and first those where nodes wait', () => {
    const many = families(MAX_RELEASES + 20);
    const waited = many.at(-1)!;
    const newer = [...each(many, '1.2.0'), ...each(many, '1.1.0')];
    const [status] = statuses(report({ releases: [...newer, release('1.0.0', { family: waited, offered: true })] }));
    const said = status?.releases?.map(({ family }) => family) ?? [];
    expect([said.length, new Set(said).size]).toEqual([MAX_RELEASES, MAX_RELEASES]);
    expect(said[0]).toBe(waited);
  });
});

test('a condition has turned when its status did, not when its words changed, and those of others stay', () => {
  const foreign = { type: 'Reviewed', status: 'True', reason: 'Ok', message: '', lastTransitionTime: at(0) } as const;
  const before: PolicyStatus = {
    conditions: [foreign, ...(statusOf(report(), undefined, minutes(0)).conditions ?? [])],
  };
  const halted = { status: 'True', reason: 'RolloutHalted', message: 'two nodes failed on 1.1.0' } as const;
  const progressing = { status: 'True', reason: 'Waiting', message: 'the window is closed' } as const;
  const after = statusOf(report({ generation: 2, halted, progressing }), before, minutes(1));
  expect(after.conditions).toEqual([
    expect.objectContaining({ type: 'Accepted', lastTransitionTime: at(0), observedGeneration: 2 }),
    expect.objectContaining({ type: 'Progressing', reason: 'Waiting', lastTransitionTime: at(0) }),
    expect.objectContaining({ type: 'Halted', status: 'True', lastTransitionTime: at(1) }),
    foreign,
  ]);
});

test('a status that came back with nulls left out, or with more of them, says the same', () => {
  const written = statusOf(report({ releases: [release('1.1.0')] }), undefined, minutes(0));
  const { nextChangeAt: _, ...read } = written;
  expect(saysSame(read, written)).toBe(true);
  expect(saysSame(undefined, written)).toBe(false);
  expect(saysSame(read, statusOf(report({ nextChangeAt: minutes(5) }), read, minutes(0)))).toBe(false);
});
