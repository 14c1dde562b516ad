import { describe, expect, test } from '@jest/globals';
import {
  DRAINED,
  fleet,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  ruling,
  permit,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';

const rule = { ...POLICY, conditionWrites: 600 };
const verdict = (world: World): object => plan(world, rule, NOW).verdicts[0]!;

describe('the verdict on a node', () => {
  const down = { nodes: [node('a', { ready: false, readyChangedAt: minutes(-15) })] };
  const blocked = {
    spec: rebooting.spec!,
    status: {
      current_state: 'StagedAndPerformedUpdate' as const,
      drain: {
        started_at: moment(-1),
        pods_left: 1,
        blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'] as string[],
      },
    },
  } satisfies Parts;
  const draining = (more: Partial<typeof blocked.status.drain> & { readonly reported_at?: string }): Parts => ({
    ...blocked,
    status: { ...blocked.status, drain: { ...blocked.status.drain, ...more } },
  });
  const failingSince = (count: number, current_version = '1.1.0', target_version = '1.1.0'): Parts => ({
    status: { current_version, target_version, check: { failing_since: moment(count), error: 'no answer' } },
  });
  const drainOnly = { drain: blocked.status.drain };

  test.each<[string, World]>([
    ['UpToDate', fleet({ a: updated })],
    ['NoUpdateOffered', fleet({ a: { status: { target_version: '1.0.0' } }, b: updated })],
    ['UpToDate', fleet({ a: failingSince(-59) })],
    ['CannotLookForUpdates', fleet({ a: failingSince(-60) })],
    // It knows no newer version because it cannot look.
    ['CannotLookForUpdates', fleet({ a: failingSince(-60, '1.0.0', '1.0.0'), b: updated })],
    // What it was offered before it may start on.
    ['Unproven', fleet({ a: failingSince(-60, '1.0.0'), b: staging })],
    ['Updating', fleet({ a: staging })],
    ['Updating', fleet({ a: { ...staging, status: { ...staging.status, ...failingSince(-60, '1.0.0').status } } })],
    ['Updating', fleet({ a: monitoring() }, { nodes: [node('a', { ready: false, readyChangedAt: NOW })] })],
    ['DrainBlocked', fleet({ a: blocked })],
    ['WriteRefused', fleet({ a: draining({ blocked_by: ['the cordon is refused: 403 Forbidden: no'] }) })],
    ['Updating', fleet({ a: { ...blocked, status: { drain: { ...blocked.status.drain, blocked_by: [] } } } })],
    ['Updating', fleet({ a: { ...monitoring(), status: { ...monitoring().status, ...drainOnly } } })],
    ['NotReturned', fleet({ a: rebooting }, { nodes: [{ ...down.nodes[0]!, marks: DRAINED }] })],
    ['SoakFailed', fleet({ a: monitoring(-20) }, down)],
    ['AgentSilent', fleet({ a: updated }, { silentSince: new Map([['a', minutes(-15)]]) })],
    ['AgentMissing', fleet({ a: { status: null } })],
    ['AgentMissing', fleet({}, { nodes: [node('a')] })],
    ['AgentMissing', fleet({ a: { ...staging, owners: ['uid-former'] } })],
    ['ShadowNotOwned', fleet({ a: { ...staging, owners: [] } })],
  ])('%s', (reason, world) => {
    expect(verdict(world)).toMatchObject({ node: 'a', reason });
  });

  test.each<[string, Parts]>([
    ['RebootedIntoUpdate', blocked],
    ['MonitoringUpdate', monitoring()],
    ['ErrorReset', { ...rebooting, status: { current_state: 'ErrorReset' } }],
  ])('names the step %s', (step, a) => {
    expect(verdict(fleet({ a }))).toMatchObject({ step });
  });

  test.each<[string, World, number]>([
    ['a node that is down', fleet({ a: monitoring(-20) }, down), minutes(-15)],
    ['an agent that is gone', fleet({ a: updated }, { silentSince: new Map([['a', minutes(-15)]]) }), minutes(-15)],
    ['a drain that is blocked', fleet({ a: blocked }), minutes(-1)],
    ['a host that cannot look', fleet({ a: failingSince(-70) }), minutes(-70)],
  ])('says since when: %s', (_what, world, since) => {
    expect(verdict(world)).toMatchObject({ since });
  });

  test('is another once a host has not been able to look for too long, and time alone brings that', () => {
    expect(plan(fleet({ a: failingSince(-59) }), rule, NOW).requeueAt).toBe(minutes(1));
    expect(verdict(fleet({ a: failingSince(-60) }))).toMatchObject({
      message: `the host cannot look for updates since ${moment(-60)}: no answer`,
    });
  });

  test('says since when its drain is not reported, once that is a minute, and time alone brings that', () => {
    const fresh = fleet({ a: draining({ reported_at: moment(-0.5) }) });
    expect(verdict(fresh)).toMatchObject({ reason: 'DrainBlocked' });
    expect(plan(fresh, rule, NOW).requeueAt).toBe(minutes(0.5));
    const said = 'the node is being updated to 1.1.0; its drain is not reported since';
    expect(verdict(fleet({ a: draining({ reported_at: moment(-1) }) }))).toMatchObject({
      reason: 'Updating',
      message: expect.stringContaining(`${said} ${moment(-1)}`),
    });
  });

  test('does not believe a drain that has pods left where the Node says that it is over', () => {
    const world = fleet({ a: draining({ reported_at: moment(0) }) }, { nodes: [node('a', { marks: DRAINED })] });
    expect(verdict(world)).toMatchObject({ message: expect.stringContaining('its drain is not reported since') });
  });

  test('goes by when any controller first saw that a reboot was requested', () => {
    const nodes = [{ ...down.nodes[0]!, readinessSeenAt: minutes(-1), marks: DRAINED }];
    const seen = (rebootAskedAt: number) =>
      verdict(fleet({ a: rebooting }, { nodes, permits: [{ ...permit('a'), rebootAskedAt }] }));
    expect(seen(minutes(-15))).toMatchObject({ reason: 'NotReturned' });
    expect(seen(minutes(-14))).toMatchObject({ reason: 'Updating' });
  });

  test.each<[string, World]>([
    ['of an agent that has not come', fleet({}, { nodes: [node('a')] })],
    ['of an agent that is gone', fleet({ a: updated }, { silentSince: new Map([['a', minutes(-15)]]) })],
  ])('says what it was answered %s', (_what, world) => {
    const lastWords = new Map([['a', 'the apiserver does not accept this agent: 401: no']]);
    expect(verdict({ ...world, lastWords })).toMatchObject({
      message: expect.stringContaining('; its agent ended with: the apiserver does not accept this agent: 401: no'),
    });
  });

  test('names what blocks its drain', () => {
    expect(verdict(fleet({ a: blocked }))).toMatchObject({
      message: 'the drain waits for PodDisruptionBudget shop/web (pod shop/web-1)',
    });
  });
});

describe('the condition', () => {
  const conditionsOf = (world: World): unknown =>
    plan(world, rule, NOW).commands.flatMap((command) => (command.kind === 'set-condition' ? command.conditions : []));
  const own = (reason: string, status: string): object => ({
    type: 'UpToDate',
    status,
    reason,
    message: expect.any(String),
    lastTransitionTime: moment(0),
  });
  const closed = { window: { open: false, triggeredAt: undefined, changesAt: minutes(60) } };

  test('is False exactly while an update is offered, and since then', () => {
    expect(conditionsOf(fleet({ a: updated }))).toEqual([own('UpToDate', 'True')]);
    expect(conditionsOf(fleet({ a: {} }, closed))).toEqual([
      { ...own('OutsideWindow', 'False'), lastTransitionTime: moment(-60) },
    ]);
    expect(conditionsOf(fleet({ a: { status: { target_version: '1.0.0' } }, b: staging }))).toMatchObject([
      own('NoUpdateOffered', 'Unknown'),
      {},
    ]);
  });

  test('keeps the moment of the offer while the reason changes, and the conditions of others', () => {
    const foreign = {
      type: 'Other',
      status: 'True',
      reason: 'X',
      message: '',
      lastTransitionTime: moment(-9),
    } as const;
    const before = {
      type: 'UpToDate',
      status: 'False',
      reason: 'Paused',
      message: '',
      lastTransitionTime: moment(-60),
    } as const;
    const world = fleet({ a: { status: { conditions: [before, foreign] } } }, closed);
    expect(conditionsOf(world)).toEqual([
      foreign,
      { ...own('OutsideWindow', 'False'), lastTransitionTime: moment(-60) },
    ]);
  });

  test('is not written where it stands, where no status is, or while the shadow is written otherwise', () => {
    const before = { ...own('UpToDate', 'True'), message: 'the node runs the newest version that it is offered' };
    expect(conditionsOf(fleet({ a: { status: { ...updated.status, conditions: [before as never] } } }))).toEqual([]);
    expect(conditionsOf(fleet({ a: { status: null } }))).toEqual([]);
    expect(conditionsOf(fleet({ a: {} }))).toEqual([]);
  });

  describe('of a node that waits is one and the same', () => {
    const ZONE = 'topology.kubernetes.io/zone';
    const zoned = (zone: string) => ({ labels: { [ZONE]: zone } });
    const nodes = [node('a', zoned('1')), node('b', zoned('2')), node('z', zoned('3'))];
    const said = (parts: Record<string, Parts>, says: Parameters<typeof ruling>[1], more: Partial<World> = {}) => {
      const world = fleet({ ...parts, z: {} }, { nodes, policies: [ruling('p', says)], ...more });
      const { commands, verdicts } = plan(world, rule, NOW);
      const command = commands.find((one) => one.kind === 'set-condition' && one.shadow === 'brs-z');
      return { condition: command, verdict: verdicts.at(-1)?.reason };
    };
    const free = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
    const one = { ...UNPROVEN_TOO, maxConcurrent: { kind: 'count', count: 1 } } as const;
    const inZones = { ...free, zones: { key: ZONE, atOnce: 1 } };
    const ended = { ...updated, endedAt: minutes(-1) };
    const closedFor = (until: number) => ({
      window: { open: false, triggeredAt: undefined, changesAt: minutes(until) },
    });
    const out = { ready: false, readyChangedAt: NOW };
    const down = [node('a', out), node('b', out), node('z')];

    test.each([
      [
        'for its turn',
        [
          ['WaitingForSlot', said({ a: staging, b: {} }, one)],
          ['WaitingForSlot', said({ a: updated, b: updated }, one, { nodes: down })],
          ['Pausing', said({ a: ended, b: updated }, { ...one, pauseBetweenMs: 600_000 })],
          ['Pausing', said({ a: ended, b: updated }, { ...one, pauseBetweenMs: 900_000 })],
          ['ZoneBusy', said({ a: staging, b: updated }, inZones)],
          ['ZoneBusy', said({ a: updated, b: staging }, inZones)],
        ],
      ],
      [
        'for those that prove its release',
        [
          ['Unproven', said({ a: staging, b: {} }, {})],
          ['Unproven', said({ a: {}, b: staging }, {})],
          [
            'Unproven',
            said(
              { a: staging, b: ended },
              { proof: { nodes: { kind: 'count', count: 2 }, soakMs: 60_000 }, pauseBetweenMs: 600_000 },
            ),
          ],
        ],
      ],
      [
        'for a window',
        [
          ['OutsideWindow', said({}, closedFor(60))],
          ['OutsideWindow', said({}, closedFor(90))],
          ['OutsideWindow', said({ a: ended }, { ...closedFor(60), pauseBetweenMs: 600_000 })],
        ],
      ],
    ] as const)('%s, or each update would be followed by thousands of writes', (_, situations) => {
      expect(situations.map(([, { verdict: reason }]) => reason)).toEqual(situations.map(([reason]) => reason));
      expect(new Set(situations.map(([, { condition }]) => JSON.stringify(condition))).size).toBe(1);
    });
  });
});
