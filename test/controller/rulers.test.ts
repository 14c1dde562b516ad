import { afterEach, describe, expect, test } from '@jest/globals';
import { Rulers } from '../../runtime/controller/seeing/rulers.ts';
import { Rulings } from '../../runtime/controller/plan/facts/rulings.ts';
import type { Snapshot } from '../../runtime/controller/plan/facts/snapshot.ts';
import { POLICIES_PATH, policiesOf } from '../../runtime/api/resources.ts';
import { definePolicies, policyNamed } from '../policies.ts';
import { node, NOW, POLICY, ruling, snapshot, underRules } from './plan/fleet.ts';
import { Stage } from './stage.ts';

/** Who rules a node, where that is news. */

const prod = ruling('prod', { selector: { matchLabels: { tier: 'prod' } } });
const anew = ruling('prod', { selector: { matchLabels: { tier: 'prod' } } });
const bears = node('a', { labels: { tier: 'prod' } });
const bare = node('a');
/** The wall clock may say anything; durations are by the other one. */
const at = (seconds: number, now = NOW + seconds * 1000) => ({ now, monotonic: seconds * 1000 });
const seen = (nodes: Snapshot['nodes'], policies: Snapshot['policies'] = [prod]) => {
  const world = underRules(snapshot({ nodes, policies }), POLICY);
  return { ...world, claims: new Rulings(world).claims };
};

describe('the ruler of a node is news', () => {
  test.each([
    ['where its policy is gone', seen([bears], [])],
    ['where its policy was made anew', seen([bears], [{ ...anew, resource: { ...anew.resource!, uid: 'another' } }])],
    ['where it has lost its label', seen([bare])],
  ])('%s, for 30 s from when that is seen', (_where, changed) => {
    const rulers = new Rulers();
    rulers.see(seen([bears]), at(0));
    expect(rulers.see(changed, at(100))).toEqual(new Map([['uid-a', NOW + 100_000]]));
    expect(rulers.see(changed, at(129))).toEqual(new Map([['uid-a', NOW + 100_000]]));
    expect(rulers.see(changed, at(130)).size).toBe(0);
  });

  test('again where the first is back', () => {
    const rulers = new Rulers();
    for (const [seconds, world] of [seen([bears]), seen([bare]), seen([bears])].entries())
      rulers.see(world, at(seconds));
    expect(rulers.see(seen([bears]), at(31)).size).toBe(1);
    expect(rulers.see(seen([bears]), at(32)).size).toBe(0);
  });

  test('while the node or the policy says that it is that young, but no longer than this process has seen it', () => {
    const rulers = new Rulers();
    const young = node('a', { createdAt: NOW - 12_000 });
    const ahead = node('b', { createdAt: NOW + 3_600_000, uid: 'uid-b' });
    const first = rulers.see(seen([young, ahead, node('c')]), at(0));
    expect(first).toEqual(
      new Map([
        ['uid-a', NOW - 12_000],
        ['uid-b', NOW],
      ]),
    );
    const made = { ...prod, resource: { ...prod.resource!, createdAt: NOW - 12_000 } };
    expect(new Rulers().see(seen([bears], [made]), at(0))).toEqual(new Map([['uid-a', NOW - 12_000]]));
    // The wall clock is set by an hour meanwhile.
    expect(rulers.see(seen([young, ahead, node('c')]), at(17, NOW + 3_617_000)).size).toBe(2);
    expect(rulers.see(seen([young, ahead, node('c')]), at(30)).size).toBe(0);
  });

  test('not at first sight, nor to one who leads anew: what was seen in another term is of no account', () => {
    const rulers = new Rulers();
    expect(rulers.see(seen([bears]), at(0)).size).toBe(0);
    rulers.forget();
    expect(rulers.see(seen([bare]), at(9999)).size).toBe(0);
  });

  test('not where its policy says something else by now, which is a decision of people', () => {
    const rulers = new Rulers();
    rulers.see(seen([bears]), at(0));
    const paused = ruling('prod', { selector: { matchLabels: { tier: 'prod' } }, paused: true });
    expect(rulers.see(seen([bears], [paused]), at(1)).size).toBe(0);
  });
});

describe('a policy that forbids starts', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const policy = { nodeSelector: { matchLabels: { tier: 'prod' } }, paused: true };
  const tier = (value: string | null) => stage.patchNode('a', { metadata: { labels: { tier: value } } });

  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    [
      'is made anew',
      () => policiesOf(stage.transport).delete('prod', {}),
      () => stage.create(POLICIES_PATH, policyNamed('prod', policy)),
    ],
    ['is without the label by which it selects', () => tier(null), () => tier('prod')],
  ])('starts nothing where for a moment it %s', async (_what, away, back) => {
    stage = await Stage.with('a');
    await definePolicies(stage, { prod: policy });
    await tier('prod');
    const controller = stage.start();
    await stage.pass(60_000);
    await away();
    await stage.pass(5000);
    expect(controller.preview().verdicts[0]?.reason).toBe('NewlyRuled');
    await back();
    await stage.pass(60_000);
    expect([await stage.spec('a'), (await stage.events()).includes('UpdateStarted')]).toEqual(['Idle', false]);
  });

  test('starts nothing either where its label comes some seconds after the node', async () => {
    stage = await Stage.with();
    await definePolicies(stage, { prod: policy });
    stage.start();
    await stage.pass(60_000);
    await stage.join('a');
    await stage.pass(10_000);
    await tier('prod');
    await stage.pass(60_000);
    expect([await stage.spec('a'), (await stage.events()).includes('UpdateStarted')]).toEqual(['Idle', false]);
  });

  test('rules no more once it is gone for good: its nodes start half a minute later', async () => {
    stage = await Stage.with('a');
    await definePolicies(stage, { prod: policy });
    await tier('prod');
    stage.start();
    await stage.pass(60_000);
    await policiesOf(stage.transport).delete('prod', {});
    await stage.pass(25_000);
    expect(await stage.spec('a')).toBe('Idle');
    await stage.pass(10_000);
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  });
});
