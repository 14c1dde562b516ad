import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { byTime, momentsOfEvent, momentsOfNode, momentsOfShadow } from '../../runtime/cli/past/moments.ts';
import type { ShadowObject } from '../../runtime/api/resources.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { Stage } from '../controller/stage.ts';
import { deploy } from './deployed.ts';
import { Reached } from './served.ts';

const metadata = { name: 'x', uid: 'x', resourceVersion: '1' };

describe('of objects as others write them', () => {
  test('an Event that counts is told when it came first and when it came last', () => {
    const times = { firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T01:00:00Z' };
    const event = { metadata, involvedObject: { kind: 'Node', name: 'a' }, reason: 'R', message: 'm', ...times };
    expect(momentsOfEvent({ ...event, count: 3 }).map(({ at, count }) => [new Date(at).getUTCHours(), count])).toEqual([
      [0, undefined],
      [1, 3],
    ]);
  });

  test('nulls are fields that are not there, and what has no time is left out', () => {
    const fields = { involvedObject: null, reason: null, message: null, count: null, lastTimestamp: null };
    const bare = { metadata, ...(fields as object) };
    expect(momentsOfEvent(bare)).toEqual([]);
    expect(momentsOfEvent({ ...bare, eventTime: '2026-01-01T00:00:00Z' })).toMatchObject([
      { object: 'object ?', reason: '' },
    ]);
    const nulls = { last_failure: null, drain: null, reboot: null, conditions: null, failed_versions: null };
    const status = {
      current_version: '1.0.0',
      target_version: '1.0.0',
      current_state: 'Idle',
      crash_count: 1,
      ...nulls,
    };
    const shadow = { metadata, spec: { state: 'Idle', version: null, state_transition_timestamp: null }, status };
    expect(momentsOfShadow(shadow as ShadowObject)).toEqual([]);
    expect(momentsOfNode({ metadata, status: { conditions: [{ type: 'Ready', status: 'True' }] } })).toEqual([]);
  });

  test.each([
    ['BottlerocketShadow brs-a', 'LastUpdateFinished', 'BottlerocketShadow brs-a', 'UpdateFinished'],
    ['BottlerocketShadow brs-a', 'DrainBegan', 'Node a', 'DrainStarted'],
    ['BottlerocketUpdatePolicy p', 'RolloutComplete', 'BottlerocketUpdatePolicy p', 'RolloutComplete'],
  ])('%s %s is told once, by an Event of the same time on the same node', (object, reason, of, event) => {
    const moment = { at: 100_000, type: 'Normal', message: '', count: undefined } as const;
    const stated = { ...moment, object, reason, source: 'object' } as const;
    const told = { ...moment, object: of, reason: event, source: 'Event', at: 130_000 } as const;
    expect(byTime([stated, told])).toEqual([told]);
    expect(byTime([stated, { ...told, at: 200_000 }])).toHaveLength(2);
    expect(byTime([stated, { ...told, object: `${of}b` }])).toHaveLength(2);
    expect(byTime([stated])).toEqual([stated]);
  });

  test('are in the order of their times', () => {
    const at = (hour: number) => momentsOfEvent({ metadata, eventTime: `2026-01-01T0${hour}:00:00Z` });
    expect(byTime([...at(3), ...at(1), ...at(2)]).map((one) => new Date(one.at).getUTCHours())).toEqual([1, 2, 3]);
  });
});

describe('of a fleet', () => {
  let stage: Stage;
  let reached: Reached;
  beforeEach(async () => {
    stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 600_000, 'a', 'b');
    await deploy(stage, { MAX_CONCURRENT_UPDATE: '2' });
    reached = await Reached.of(stage.cluster);
  });
  afterEach(async () => {
    await reached.close();
    await stage.end();
  });

  interface Past {
    readonly notKnown: readonly string[];
    readonly moments: readonly { readonly at: string; readonly object: string; readonly reason: string }[];
  }

  const reasons = ({ moments }: Past): readonly string[] => moments.map(({ reason }) => reason);

  test('timeline tells of one node, in order, by Events and by what stands on its objects', async () => {
    await stage.update('a');
    await stage.pass(60_000);
    const past = await reached.json<Past>('timeline', 'a');
    expect(past.notKnown).toEqual([]);
    expect(reasons(past)).toEqual(
      expect.arrayContaining(['Created', 'Ready', 'UpdateStarted', 'UpdateFinished', 'UpToDate']),
    );
    expect(reasons(past)).not.toContain('LastUpdateFinished');
    expect(past.moments.map(({ at }) => at)).toEqual(past.moments.map(({ at }) => at).toSorted());
    expect(past.moments.filter(({ object }) => object.endsWith('b'))).toEqual([]);
    const { code, out } = await reached.run('timeline', 'a');
    expect(code).toBe(0);
    expect(out).toMatch(/^\S+Z {2}BottlerocketShadow brs-a {2}UpdateFinished: the node runs 1\.1\.0, after /m);
    expect(await reached.run('timeline', 'nobody')).toMatchObject({ code: 1, err: 'the cluster has no node nobody\n' });
  });

  test('history tells of all, and nothing that is older than it is asked for', async () => {
    await stage.update('a');
    const past = await reached.json<Past>('history');
    expect(reasons(past).filter((reason) => reason === 'UpdateStarted')).toHaveLength(2);
    expect(reasons(past).filter((reason) => reason.endsWith('UpdateFinished'))).toEqual(['UpdateFinished']);
    expect((await reached.json<Past>('history', '--since', '5m')).moments).toEqual([]);
    expect((await reached.run('history', '--since', '5m')).out).toBe('Nothing is known.\n');
    expect((await reached.run('history', '--since', 'yesterday')).code).toBe(2);
  });

  test('where Events may not be listed, the objects still tell', async () => {
    stage.cluster.disturb(
      { resource: 'events', verbs: ['list'] },
      { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'no events' },
    );
    const past = await reached.json<Past>('timeline', 'a');
    expect(past.notKnown).toHaveLength(2);
    expect(reasons(past)).toEqual(expect.arrayContaining(['Created', 'StagedAndPerformedUpdate']));
    expect((await reached.run('timeline', 'a')).out).toMatch(
      /^\S+Z {2}BottlerocketShadow brs-a {2}staging: the controller asked for this, on the way to 1\.1\.0$/m,
    );
  });
});
