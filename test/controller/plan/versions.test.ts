import { describe, expect, test } from '@jest/globals';
import type { VersionRules } from '../../../runtime/api/policy/policy.ts';
import { EMPTY } from '../../../runtime/api/release/ledger.ts';
import { DAY_MS } from '../../../runtime/lib/clock.ts';
import {
  fleet,
  ledgerObject,
  minutes,
  moment,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  reasons,
  type Rules,
  ruling,
  staging,
  started,
  type World,
} from './fleet.ts';

/** Which releases a policy takes, and since when these must have been offered. Nodes run 1.0.0 and are offered 1.1.0. */

const FAMILY = 'aws-k8s-1.33/amd64';
const taking = (version: Partial<VersionRules>): Rules => ({ ...POLICY, version: { ...POLICY.version, ...version } });
const verdict = (world: World, rules: Rules): object => plan(world, rules, NOW).verdicts[0] ?? {};
const kinds = (world: World, rules: Rules): readonly string[] =>
  plan(world, rules, NOW).commands.map(({ kind }) => kind);

const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };

describe('a release above the highest version of its policy', () => {
  test.each([
    ['1.0.5', 'VersionPinned'],
    ['1.1.0-rc.1', 'VersionPinned'],
    ['1.1.0', 'Updating'],
    ['1.10.0', 'Updating'],
  ])('with %s is %s', (max, reason) => {
    expect(reasons(fleet({ a: {} }), taking({ max }))).toEqual({ a: reason });
  });

  test('waits for a person, who is told which version is taken, and by whom', () => {
    expect(verdict(fleet({ a: {} }), taking({ max: '1.0.5' }))).toMatchObject({
      message: '1.1.0 waits: MAX_VERSION takes nothing above 1.0.5',
    });
    const policies = [ruling('production', { selector: {}, version: { ...POLICY.version, exact: '1.0.5' } })];
    expect(verdict(fleet({ a: {} }, { policies }), POLICY)).toMatchObject({
      reason: 'VersionPinned',
      message: '1.1.0 waits: policy production takes 1.0.5 alone',
    });
  });

  test('is called off where it is only staged, and neither prepared nor begun', () => {
    const world = fleet({ a: staged }, { permits: [permit('a')] });
    expect(kinds(world, taking({ max: '1.0.5' }))).toEqual(['call-off']);
    const resting = fleet({ a: { status: { staged: {} } } });
    expect(kinds(resting, taking({ max: '1.0.5' }))).toEqual([]);
  });
});

describe('the one version that a policy takes', () => {
  const back: Parts = { status: { current_version: '1.1.0', target_version: '1.0.0' } };

  test('starts, be it older than what runs, and no other does', () => {
    expect(started(fleet({ a: {} }), taking({ exact: '1.1.0' }))).toEqual(['a']);
    expect(started(fleet({ a: back }), taking({ exact: '1.0.0' }))).toEqual(['a']);
    expect(started(fleet({ a: {} }), taking({ exact: '1.2.0' }))).toEqual([]);
  });
});

describe('a release that must have been offered for a day', () => {
  const rules = taking({ minAgeMs: DAY_MS });
  /** 1.1.0 was offered first so many minutes ago. */
  const offered = (ago: number, a: Parts = {}, more: Partial<World> = {}): World => {
    const one = ledgerObject({ family: FAMILY, version: '1.1.0' }, { ...EMPTY, firstOfferedAt: moment(-ago) });
    return fleet({ a }, { releases: { objects: [one], refused: new Map(), seeds: false }, ...more });
  };

  test('starts once it is so old, and the plan is made again then', () => {
    const young = plan(offered(60), rules, NOW);
    expect(young.verdicts).toMatchObject([{ reason: 'TooYoung', until: minutes(1380) }]);
    expect(young.requeueAt).toBe(minutes(1380));
    expect(started(offered(1439), rules)).toEqual([]);
    expect(started(offered(1440), rules)).toEqual(['a']);
  });

  test('does not start where nobody has noted yet when it was offered', () => {
    expect(reasons(fleet({ a: {} }), rules)).toEqual({ a: 'TooYoung' });
  });

  test('is called off where it is only staged and the age was asked for since', () => {
    expect(kinds(offered(60, staged, { permits: [permit('a')] }), rules)).toEqual(['call-off']);
  });

  test('is not asked for its age where it is a way back', () => {
    const back: Parts = { status: { current_version: '1.2.0', target_version: '1.1.0' } };
    expect(started(offered(60, back), rules)).toEqual(['a']);
  });
});

test('a policy that says nothing of versions takes each', () => {
  expect(started(fleet({ a: {} }), POLICY)).toEqual(['a']);
});
