import { describe, expect, test } from '@jest/globals';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import type { ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import {
  fleet,
  ledgerObject,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  ruling,
  staging,
  updated,
  type World,
} from './fleet.ts';

/** What somebody has to say before a release starts under a policy: that it is approved, or proven elsewhere. Nodes are offered 1.1.0. */

const FAMILY = 'aws-k8s-1.33/amd64';
type Said = Partial<Pick<ReleaseView, 'approvedFor' | 'provenIn' | 'family' | 'version'>>;

/** One node under the policy `prod`, and what people say of releases, beside the controller's own object. */
function world(says: Partial<UpdatePolicy>, said: Said | undefined, a: Parts = {}): World {
  const own = ledgerObject({ family: FAMILY, version: '1.1.0' });
  const theirs = said && { ...own, name: 'theirs', ...said };
  const releases = { objects: [own, ...(theirs ? [theirs] : [])], refused: new Map(), seeds: false };
  return fleet({ a, b: updated }, { policies: [ruling('prod', { selector: {}, ...says })], releases });
}

const verdict = (one: World): object => plan(one, POLICY, NOW).verdicts[0] ?? {};

describe('under a policy that wants approval', () => {
  const rules = { needsApproval: true };

  test.each<[string, Said | undefined, string]>([
    ['nobody has approved', undefined, 'AwaitingApproval'],
    ['is approved for it', { approvedFor: ['test', 'prod'] }, 'Updating'],
    ['is approved for all families', { family: '*', approvedFor: ['prod'] }, 'Updating'],
    ['is approved for another policy', { approvedFor: ['test'] }, 'AwaitingApproval'],
    ['is not the one that is approved', { version: '1.1.1', approvedFor: ['prod'] }, 'AwaitingApproval'],
  ])('a release that %s', (_, said, reason) => {
    expect(verdict(world(rules, said))).toMatchObject({ reason });
  });

  test('the verdict names policy and release, and what is only staged is called off', () => {
    expect(verdict(world(rules, undefined))).toMatchObject({ message: 'policy prod wants 1.1.0 to be approved' });
    const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
    const one = { ...world(rules, undefined, staged), permits: [permit('a')] };
    expect(plan(one, POLICY, NOW).commands).toMatchObject([
      { kind: 'call-off', because: { reason: 'AwaitingApproval' } },
    ]);
  });

  test('a way back needs none', () => {
    const back: Parts = { status: { current_version: '1.2.0', target_version: '1.1.0' } };
    expect(verdict(world(rules, undefined, back))).toMatchObject({ reason: 'Updating' });
  });
});

describe('under a policy after another place', () => {
  const rules = { afterExternal: ['staging-eu', 'staging-us'] };

  test('a release waits until somebody says of each that it is proven there', () => {
    expect(verdict(world(rules, undefined))).toMatchObject({
      reason: 'WaitingForPolicy',
      message: 'nobody has said yet that 1.1.0 is proven in staging-eu',
    });
    expect(verdict(world(rules, { provenIn: ['staging-eu'] }))).toMatchObject({
      message: 'nobody has said yet that 1.1.0 is proven in staging-us',
    });
    expect(verdict(world(rules, { provenIn: ['staging-us', 'staging-eu'] }))).toMatchObject({ reason: 'Updating' });
  });
});
