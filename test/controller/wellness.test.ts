import { afterEach, describe, expect, test } from '@jest/globals';
import { Wellness } from '../../runtime/controller/seeing/wellness.ts';
import { Rulings } from '../../runtime/controller/plan/facts/rulings.ts';
import type { NodeView, Snapshot } from '../../runtime/controller/plan/facts/snapshot.ts';
import { definePolicies } from '../policies.ts';
import { minutes, node, NOW, ruling, snapshot, POLICY, underRules } from './plan/fleet.ts';
import { Stage } from './stage.ts';

/** Nodes that their policy calls unwell. */

const under = (...own: Snapshot['policies']) => {
  const { policies } = underRules(snapshot({ policies: own }), POLICY);
  return { policies, claims: new Rulings({ policies }).claims };
};
const RULED = under(ruling('p', { selector: { matchLabels: { pool: 'db' } }, unwell: ['StorageReady=False'] }));

const db = (more: Partial<NodeView> = {}): NodeView => node('a', { labels: { pool: 'db' }, ...more });
const bad = (more: Partial<NodeView> = {}): NodeView => db({ signs: ['Other=True', 'StorageReady=False'], ...more });

describe('a node that bears a sign of its policy', () => {
  const at = (minute: number) => ({ now: minutes(minute), monotonic: minute * 60_000 });

  test('is not Ready, since it was first seen so, and is Ready again from when that is over', () => {
    const wellness = new Wellness();
    const see = (one: NodeView, minute: number) => wellness.see({ nodes: [one], ...RULED }, at(minute))[0];
    expect(see(db(), 0)).toMatchObject({ ready: true, readyFrom: minutes(-10_000) });
    const times = (minute: number) =>
      ({ readyChangedAt: minutes(minute), readinessSeenAt: minutes(minute), readyFrom: minutes(minute) }) as const;
    const unwell = { ready: false, wasReady: true, unwell: 'StorageReady=False', ...times(1) };
    expect(see(bad(), 1)).toMatchObject(unwell);
    expect(see(bad(), 5)).toMatchObject(unwell);
    const well = see(db(), 7);
    expect(well).toMatchObject({ ready: true, ...times(7) });
    expect(well?.unwell).toBeUndefined();
    expect(see(db(), 9)).toMatchObject(times(7));
  });

  test('counts as Ready from when its condition turned, though no process that is left has seen that', () => {
    const turned = db({
      signs: ['StorageReady=True'],
      conditionsAt: { Other: minutes(-1), StorageReady: minutes(-2) },
    });
    const see = (one: NodeView) => new Wellness().see({ nodes: [one], ...RULED }, at(0))[0];
    expect(see(turned)).toEqual({
      ...turned,
      readyChangedAt: minutes(-2),
      readinessSeenAt: minutes(-2),
      readyFrom: minutes(-2),
    });
    const fast = { ...turned, conditionsAt: { StorageReady: minutes(9) } };
    expect(see(fast)?.readyFrom).toBe(minutes(0));
    expect(see({ ...turned, readyFrom: minutes(-1) })?.readyFrom).toBe(minutes(-1));
    const other = { ...turned, conditionsAt: { Other: minutes(-1) } };
    expect(see(other)).toBe(other);
  });

  test('is the same object for as long as it is the same', () => {
    const wellness = new Wellness();
    const one = bad();
    const [first] = wellness.see({ nodes: [one], ...RULED }, at(0));
    expect(wellness.see({ nodes: [one], ...RULED }, at(1))[0]).toBe(first);
  });

  test('is what the cluster says where it is not Ready either, and where another policy rules it', () => {
    const down = bad({ ready: false });
    const other = node('b', { signs: ['StorageReady=False'] });
    expect(new Wellness().see({ nodes: [down, other], ...RULED }, at(0))).toEqual([down, other]);
    const nodes = [bad()];
    expect(new Wellness().see({ nodes, ...under() }, { now: NOW, monotonic: 0 })).toBe(nodes);
  });
});

describe('on a cluster', () => {
  let stage: Stage;
  afterEach(() => stage.end());

  test('storage that is away after an update fails the soak, and the next node does not start', async () => {
    stage = await Stage.with('a', 'b');
    const unwell = [{ condition: 'StorageReady', status: 'False' }];
    await definePolicies(stage, { all: { nodeSelector: {}, maxConcurrent: 1, maxFailed: 1, unwell } });
    const manager = stage.start({ env: { PROOF_NODES: '1' } });
    await stage.pass(60_000);
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    const conditions = [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'StorageReady', status: 'False' },
    ];
    await stage.patch('/api/v1/nodes/a/status', { status: { conditions } });
    await stage.pass();
    await stage.report('a', { current_state: 'MonitoringUpdate' });
    await stage.pass(1_200_000);
    expect(manager.preview().verdicts).toMatchObject([
      { node: 'a', reason: 'SoakFailed', message: expect.stringContaining('StorageReady=False') },
      { node: 'b', reason: 'RolloutHalted' },
    ]);
    expect(await stage.spec('b')).toBe('Idle');
  });
});
