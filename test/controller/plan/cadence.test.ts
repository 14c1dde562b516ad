import { describe, expect, test } from '@jest/globals';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import type { WindowState } from '../../../runtime/controller/plan/facts/policies.ts';
import type { ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { EMPTY } from '../../../runtime/api/release/ledger.ts';
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
  ruling,
  staging,
  updated,
  type World,
} from './fleet.ts';

/** How often a node is updated, and what a release passes that people have expedited. Node a is offered 1.1.0. */

const FAMILY = 'aws-k8s-1.33/amd64';
type Says = Partial<UpdatePolicy> & { window?: WindowState };

function under(says: Says, a: Parts = {}, said: Partial<ReleaseView> = {}): World {
  const own = ledgerObject({ family: FAMILY, version: '1.1.0' }, { ...EMPTY, firstOfferedAt: moment(-60) });
  const releases = { objects: [{ ...own, ...said }], refused: new Map(), seeds: false };
  return fleet({ a, b: updated }, { policies: [ruling('prod', { selector: {}, ...says })], releases });
}

const verdict = (world: World, name = 'a') => plan(world, POLICY, NOW).verdicts.find(({ node }) => node === name);

describe('with an interval, a node', () => {
  const says = { minIntervalMs: 3_600_000 };

  test('whose last update was finished less long ago waits for the rest, and the plan is made again then', () => {
    const world = under(says, { finishedAt: minutes(-59) });
    expect(verdict(world)).toMatchObject({
      reason: 'RecentlyUpdated',
      message: `its last update was finished at ${moment(-59)}, and the next one starts from ${moment(1)} on`,
      until: minutes(1),
    });
    expect(plan(world, POLICY, NOW).requeueAt).toBe(minutes(1));
  });

  test.each<[string, Parts, Says]>([
    ['whose last update is as long ago', { finishedAt: minutes(-60) }, says],
    ['that never finished one, as a machine that took the place of another', {}, says],
    ['of a policy that says nothing of it', { finishedAt: minutes(-1) }, {}],
  ])('%s starts', (_, a, rules) => {
    expect(verdict(under(rules, a))?.reason).toBe('Updating');
  });

  test('that is to leave a bad release does so at once', () => {
    const back: Parts = {
      status: { current_version: '1.1.0', target_version: '1.0.0' },
      updatedFrom: '1.0.0',
      finishedAt: minutes(-1),
    };
    const world = under({ ...says, rollsBack: true }, back, { rollbackFor: ['prod'] });
    const own = ledgerObject({ family: FAMILY, version: '1.0.0' });
    const objects = [...world.releases.objects, own];
    expect(verdict({ ...world, releases: { ...world.releases, objects } })?.reason).toBe('Updating');
  });
});

const CLOSED: WindowState = { open: false, triggeredAt: undefined, changesAt: minutes(60) };
const freeze = { from: minutes(-1), to: minutes(60), reason: 'a fair' };

describe('a release that people have expedited', () => {
  test.each<[string, Says, Parts]>([
    ['OutsideWindow', { window: CLOSED }, {}],
    ['OutsideWindow', { window: { ...CLOSED, open: true }, mustFit: true }, { lastUpdateMs: 7_200_000 }],
    ['TooYoung', { version: { ...POLICY.version, minAgeMs: 7_200_000 } }, {}],
    ['RecentlyUpdated', { minIntervalMs: 3_600_000 }, { finishedAt: minutes(-1) }],
    ['Pausing', { pauseBetweenMs: 3_600_000 }, { endedAt: minutes(-1) }],
    ['Frozen', { freezes: [{ ...freeze, exceptExpedited: true }] }, {}],
  ])('passes what is %s otherwise', (reason, says, a) => {
    const waits = verdict(under(says, a))?.reason;
    expect(waits).toBe(reason);
    for (const expediteFor of [['*'], ['test', 'prod']])
      expect(verdict(under(says, a, { expediteFor }))?.reason).toBe('Updating');
    expect(verdict(under(says, a, { expediteFor: ['test'] }))?.reason).toBe(waits);
  });

  test.each<[string, Says, Parts, Partial<ReleaseView>]>([
    ['Frozen', { freezes: [freeze] }, {}, {}],
    ['Frozen', { freezes: [freeze, { ...freeze, exceptExpedited: true }] }, {}, {}],
    ['RolloutHalted', {}, {}, { decision: 'Halt' }],
    ['AwaitingApproval', { needsApproval: true }, {}, {}],
    ['Unproven', { proof: { nodes: { kind: 'count', count: 1 }, soakMs: 3_600_000 } }, {}, {}],
    ['Paused', { paused: true }, {}, {}],
    ['VersionPinned', { version: { ...POLICY.version, max: '1.0.0' } }, {}, {}],
  ])('does not pass %s', (reason, says, a, said) => {
    const upToDateSince = minutes(-1);
    const world = under(says, a, { ...said, expediteFor: ['*'] });
    const shadows = world.shadows.map((one) => (one.name === 'brs-b' ? { ...one, upToDateSince } : one));
    expect(verdict({ ...world, shadows })?.reason).toBe(reason);
  });

  test('waits for a free place as any other', () => {
    const world = under({ window: CLOSED, maxConcurrent: { kind: 'count', count: 1 } }, staging, {
      expediteFor: ['*'],
    });
    const waiting = fleet({ c: {} });
    const both = {
      ...world,
      nodes: [...world.nodes, ...waiting.nodes],
      shadows: [...world.shadows, ...waiting.shadows],
    };
    expect(verdict(both, 'c')?.reason).toBe('WaitingForSlot');
  });

  test('that is so no more is called off where it has only been staged in a freeze', () => {
    const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
    const says = { freezes: [{ ...freeze, exceptExpedited: true }] };
    const kinds = (said: Partial<ReleaseView>) =>
      plan({ ...under(says, staged, said), permits: [permit('a')] }, POLICY, NOW).commands.map(({ kind }) => kind);
    expect(kinds({ expediteFor: ['*'] })).toContain('set-spec');
    expect(kinds({})).toContain('call-off');
  });
});
