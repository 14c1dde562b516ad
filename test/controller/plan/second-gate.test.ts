import { describe, expect, test } from '@jest/globals';
import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import {
  fleet,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  type Rules,
  ruling,
  permit,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { drained, failedOnIt, halted, held, onHold, onLeave, rules } from './in-service.ts';
import { withLedger } from './kept.ts';
import { after } from './worlds.ts';

/** A node that has staged its version is in service still: what may not start any more is not drained for it either. */

const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
const planned = (world: World): Plan => plan(world, rules, NOW);
const verdictOnA = (world: World): string | undefined => planned(world).verdicts[0]?.reason;

describe('a staged node is called off, its version unchanged,', () => {
  test.each<[string, World, string]>([
    ['where its release was halted', halted(staged), 'RolloutHalted'],
    ['where its release was halted, under a pause too', halted(staged, { paused: true }), 'RolloutHalted'],
    ['where people have halted its release', withLedger(fleet({ a: staged }, held), {}, 'Halt'), 'RolloutHalted'],
    ['where it is held', fleet({ a: staged }, { ...held, ...onHold }), 'Held'],
    ['where it is about to be removed', fleet({ a: staged }, { ...held, ...onLeave }), 'Leaving'],
    ['where it is held, under a pause too', fleet({ a: staged }, { ...held, ...onHold, paused: true }), 'Held'],
  ])('%s', (_where, world, reason) => {
    const { commands, verdicts } = planned(world);
    const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(0) };
    expect(commands.filter(({ kind }) => kind !== 'start')).toEqual([
      { kind: 'call-off', node: 'a', shadow: 'brs-a', spec, because: expect.objectContaining({ reason }) },
    ]);
    expect(verdicts[0]).toMatchObject({ node: 'a', reason });
  });

  test('says why until its agent is at rest, and then gives its permit back', () => {
    let world = halted(staged, { paused: true });
    world = after(world, planned(world).commands);
    expect([planned(world).commands, verdictOnA(world)]).toEqual([[], 'Paused']);
    expect(verdictOnA({ ...world, paused: false })).toBe('RolloutHalted');
    const [a, b] = world.shadows;
    world = { ...world, shadows: [{ ...a!, status: { ...a!.status!, current_state: 'Idle' } }, b!] };
    expect(planned(world).commands).toEqual([{ kind: 'free', shadow: 'brs-a', nodeUid: 'uid-a', because: 'idle' }]);
  });
});

describe('a node that is refused its drain for two minutes', () => {
  const blocked: Parts = {
    ...rebooting,
    status: {
      ...rebooting.status,
      drain: { started_at: moment(-9), pods_left: 1, blocked_by: ['a budget'] },
      // As an agent leaves it that has asked for no reboot yet.
      reboot: { boot_id: 'boot-1', version: '1.1.0', requested_at: null },
    },
  };
  const begun: Parts = {
    ...rebooting,
    status: { ...rebooting.status, drain: { started_at: moment(-9), pods_left: 1, blocked_by: [] } },
  };
  const since = (count: number): Partial<World> => ({
    ...held,
    drainRefusals: new Map([['brs-a', { kind: 'refused', since: minutes(-count) }]]),
  });
  const boot = { boot_id: 'boot-1', version: '1.1.0', requested_at: moment(-9) };

  test('is called off where another waits, and wakes the plan for that', () => {
    const because = { reason: 'DrainBlocked', message: 'the drain waits for a budget', since: minutes(-9) };
    const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(0) };
    const world = (minute: number): World => fleet({ a: blocked, b: {} }, since(minute));
    expect(planned(world(2)).commands).toEqual([{ kind: 'call-off', node: 'a', shadow: 'brs-a', spec, because }]);
    expect(planned(world(1))).toMatchObject({ commands: [], requeueAt: minutes(1) });
  });

  test('waits for the proof of its release alike', () => {
    const many = { ...POLICY, maxConcurrent: { kind: 'count', count: 9 }, maxFailed: rules.maxFailed } as const;
    const kinds = (world: World): readonly string[] => plan(world, many, NOW).commands.map(({ kind }) => kind);
    expect(kinds(fleet({ a: blocked, b: {} }, since(2)))).toEqual(['call-off']);
  });

  test("is called off where the budget over all keeps a node of another policy waiting, not where that policy's own does", () => {
    const pool = (name: string) => ({ selector: { matchLabels: { pool: name } } });
    const nodes = ['a', 'b', 'c'].map((name) => node(name, { labels: { pool: name === 'a' ? 'p0' : 'p1' } }));
    const kinds = (c: Parts, most: number): readonly string[] => {
      const policies = [ruling('p', pool('p0')), ruling('q', pool('p1'))];
      const world = fleet({ a: blocked, b: {}, c }, { ...since(9), nodes, policies });
      const maxConcurrent = { kind: 'count', count: most } as const;
      return plan(world, { ...POLICY, maxConcurrent }, NOW).commands.map(({ kind }) => kind);
    };
    expect([kinds(updated, 1), kinds(staging, 9)]).toEqual([['call-off'], []]);
  });

  test.each<[string, World]>([
    ['nobody waits', fleet({ a: blocked, b: updated }, since(9))],
    ['others are held', fleet({ a: blocked, b: {} }, { ...since(9), nodes: [node('a'), node('b', { held: true })] })],
    ['its drain has begun', fleet({ a: blocked, b: {} }, { ...since(9), nodes: [drained, node('b')] })],
    [
      'its reboot is asked for',
      fleet({ a: { ...blocked, status: { ...blocked.status, reboot: boot } }, b: {} }, since(9)),
    ],
    ['nothing refuses it any more', fleet({ a: begun, b: {} }, since(9))],
    ['the other has to be looked at once more', fleet({ a: blocked, b: { stale: true } }, since(9))],
    ['its view is out of date', fleet({ a: { ...blocked, stale: true }, b: {} }, since(9))],
  ])('is left alone where %s', (_where, world) => {
    const { commands, requeueAt = Infinity } = planned(world);
    expect(commands.filter(({ kind }) => kind !== 'note-reboot')).toEqual([]);
    expect(requeueAt).toBeGreaterThan(minutes(60));
  });

  test('is not started again before its pause is over, and says why', () => {
    const drainRefusals = new Map([['brs-a', { kind: 'called-off', retryAt: minutes(2) } as const]]);
    const world = fleet({ a: { status: { drain: blocked.status!.drain! } } }, { drainRefusals });
    expect(planned(world)).toMatchObject({
      commands: [],
      verdicts: [{ reason: 'DrainBlocked', message: 'the drain waits for a budget', until: minutes(2) }],
      requeueAt: minutes(2),
    });
    expect(plan(world, rules, minutes(2)).commands).toMatchObject([{ kind: 'start' }]);
  });
});

test('under a pause a staged node waits where it is, with its permit, and says so', () => {
  const world = fleet({ a: staged }, { ...held, paused: true });
  expect([planned(world).commands, verdictOnA(world)]).toEqual([[], 'Paused']);
});

describe('a staged node goes on to its reboot', () => {
  const closed = { open: false, triggeredAt: undefined, changesAt: minutes(60) };
  test.each<[string, World]>([
    ['where nothing stands in its way', fleet({ a: staged }, held)],
    ['though the window has closed', fleet({ a: staged }, { ...held, window: closed })],
    [
      'where it failed on the halted release itself',
      fleet({ a: { ...staged, status: { ...staged.status, ...failedOnIt } } }, held),
    ],
    ['where another version was halted', halted({ ...staged, spec: { ...staged.spec, version: '1.2.0' } })],
  ])('%s', (_where, world) => {
    expect(planned(world).commands).toContainEqual(
      expect.objectContaining({
        kind: 'set-spec',
        shadow: 'brs-a',
        spec: expect.objectContaining({ state: 'RebootedIntoUpdate' }),
      }),
    );
  });
});

describe('what is staged counts against limits once more, before it is disturbed', () => {
  const ZONE = 'topology.kubernetes.io/zone';
  const gone = { ready: false, readyChangedAt: minutes(-5) };
  const sent = (world: World, more: Partial<Rules> = {}): readonly string[] =>
    plan(world, { ...POLICY, ...more }, NOW).commands.flatMap((command) =>
      command.kind === 'set-spec' && command.spec.state === 'RebootedIntoUpdate' ? [command.shadow] : [],
    );
  const many: Partial<Rules> = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'count', count: 2 } };

  test('a node that was lost since takes the place, until its time is over', () => {
    const world = fleet({ a: staged, b: {}, c: {} }, { nodes: [node('a'), node('b', gone), node('c')], ...held });
    const { commands, verdicts, requeueAt } = plan(world, POLICY, NOW);
    expect(commands).toEqual([]);
    expect(verdicts[0]).toMatchObject({ reason: 'WaitingForSlot' });
    expect(requeueAt).toBe(minutes(55));
    expect(plan(world, POLICY, minutes(55)).commands).toMatchObject([{ spec: { state: 'RebootedIntoUpdate' } }]);
  });

  test('a staged node that is itself not Ready waits where it is', () => {
    const world = fleet({ a: staged, b: {} }, { nodes: [node('a', gone), node('b')], ...held });
    expect([sent(world), plan(world, POLICY, NOW).verdicts[0]?.reason]).toEqual([[], 'NodeNotReady']);
  });

  test('a zone that was lost since keeps the others in service', () => {
    const zone = (name: string, more = {}) => ({ labels: { [ZONE]: name }, ...more });
    const nodes = [node('a', zone('a')), ...['x', 'y'].map((name) => node(name, zone('b', gone)))];
    const world = fleet({ a: staged, x: {}, y: {} }, { nodes, ...held });
    const most = (atOnce: number): Partial<Rules> => ({
      maxConcurrent: { kind: 'unlimited' },
      zones: { key: ZONE, atOnce },
    });
    expect(sent(world, { ...UNPROVEN_TOO, ...most(1) })).toEqual([]);
    expect(sent(world, { ...UNPROVEN_TOO, ...most(2) })).toEqual(['brs-a']);
  });

  test('where the limit has fallen the younger waits, each that is let through counted, and both keep their permits', () => {
    const permits = ['a', 'b', 'c'].map((name, at) => Object.assign({}, permit(name), { since: minutes(-at) }));
    const world = fleet({ a: staged, b: staged, c: staged }, { permits });
    expect(sent(world, many)).toEqual(['brs-b', 'brs-c']);
    const policies = [ruling('p', { selector: {}, ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } })];
    expect(sent({ ...world, policies }, many)).toEqual(['brs-b', 'brs-c']);
    const { commands } = plan(world, { ...POLICY, ...many }, NOW);
    expect(commands.filter(({ kind }) => kind !== 'set-spec')).toEqual([]);
  });

  test('one whose permit stands for nothing but itself goes, and what is only prepared beside it takes nothing', () => {
    const permits = ['a', 'b'].map((name) => permit(name));
    expect(sent(fleet({ a: staged, b: staging }, { permits }), UNPROVEN_TOO)).toEqual(['brs-a']);
    expect(sent(fleet({ a: staged, b: rebooting }, { permits }), UNPROVEN_TOO)).toEqual([]);
  });
});

describe('a node that another policy rules by now than when its permit was taken', () => {
  const closed = { open: false, triggeredAt: undefined, changesAt: minutes(60) };
  const under = (uid: string, name = 'p') => [{ ...permit('a'), policy: { name, uid } }];
  const kinds = (permits: World['permits'], more: Parameters<typeof ruling>[1]): readonly string[] =>
    planned(fleet({ a: staged }, { permits, policies: [ruling('p', { selector: {}, ...more })] })).commands.map(
      ({ kind }) => kind,
    );

  test('is called off where the windows of that one are closed, and goes on where they are open', () => {
    expect(kinds(under('policy-p'), { window: closed })).toEqual(['set-spec']);
    expect(kinds(under('made before', 'p'), { window: closed })).toEqual(['call-off']);
    expect(kinds(under('', ''), { window: closed })).toEqual(['call-off']);
    expect(kinds(under('made before', 'p'), {})).toEqual(['set-spec']);
    expect(kinds([permit('a')], { window: closed })).toEqual(['set-spec']);
  });
});

test('a staged node whose last write is in doubt is called off for the node that proves its release, if no host is offered it any more', () => {
  const target_version = '1.2.0';
  const a = { ...staged, status: { ...staged.status, target_version } };
  const b = { ...rebooting, status: { ...rebooting.status, target_version } };
  const world = fleet({ a, b }, { permits: [permit('a', 'unknown'), permit('b', 'unknown')] });
  expect(planned(world).commands.filter(({ kind }) => kind !== 'bump')).toMatchObject([
    { kind: 'call-off', node: 'a', because: { message: '1.1.0 is yet to be proven by b' } },
  ]);
});
