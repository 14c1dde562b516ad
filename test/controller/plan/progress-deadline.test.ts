import { describe, expect, test } from '@jest/globals';
import { STATES } from '../../../runtime/api/shadow/states.ts';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  permit,
  staging,
  type World,
} from './fleet.ts';

/** Where an update makes no progress, somebody has to be told: of every state, of a machine that is dead for a month as of a live one. */

const MONTH = 30 * 24 * 60;
const OF_TROUBLE = new Set([
  'ProgressDeadlineExceeded',
  'NotReturned',
  'SoakFailed',
  'AgentSilent',
  'AgentMissing',
  'DrainBlocked',
]);
const PAIRS = STATES.flatMap((wanted) => STATES.map((reached) => [wanted, reached] as const)).filter(
  ([wanted, reached]) => wanted !== 'ErrorReset' && (wanted !== 'Idle' || reached !== 'Idle'),
);
const inStates = (wanted: (typeof STATES)[number], current_state: (typeof STATES)[number]): Parts => ({
  spec: { state: wanted, version: '1.1.0', state_transition_timestamp: moment(-MONTH) },
  status: { current_state, ...(current_state === 'MonitoringUpdate' && { current_version: '1.1.0' }) },
});
const dead: Partial<World> = {
  nodes: [node('a', { ready: false, readyChangedAt: minutes(-MONTH) })],
  silentSince: new Map([['a', minutes(-MONTH)]]),
};
const standing = (world: World): { acts: boolean; reason: string | undefined } => {
  const { commands, verdicts } = plan(world, POLICY, NOW);
  return { acts: commands.length > 0, reason: verdicts[0]?.reason };
};
const isTold = ({ acts, reason = '' }: ReturnType<typeof standing>): boolean => acts || OF_TROUBLE.has(reason);

describe.each<[string, Partial<World>]>([
  ['a node that died a month ago', dead],
  [
    'a node that died a month ago in its drain',
    { ...dead, nodes: [{ ...dead.nodes![0]!, marks: MARKS, unschedulable: true }] },
  ],
  ['a node that lives, and whose agent does nothing', {}],
])('%s is spoken of', (_what, more) => {
  test.each(PAIRS)('wanted in %s, reached %s', (wanted, reached) => {
    expect(isTold(standing(fleet({ a: inStates(wanted, reached) }, { permits: [permit('a')], ...more })))).toBe(true);
  });
});

describe('the verdict', () => {
  const since = (count: number, parts: Parts = staging): Parts => ({
    ...parts,
    spec: { ...parts.spec, state_transition_timestamp: moment(-count) },
  });
  const verdict = (world: World, now = NOW): object => plan(world, POLICY, now).verdicts[0]!;

  test.each([
    ['StagedAndPerformedUpdate', 'StagedAndPerformedUpdate'],
    ['RebootedIntoUpdate', 'RebootedIntoUpdate'],
    ['RebootedIntoUpdate', 'ErrorReset'],
  ] as const)('blames no node for what the controller was late with: wanted in %s, reached %s', (wanted, reached) => {
    const world = fleet({ a: inStates(wanted, reached) }, { permits: [permit('a')] });
    expect(verdict(world)).toMatchObject({ reason: 'Updating' });
    expect(plan(world, POLICY, NOW).commands).toMatchObject([{ kind: 'set-spec' }]);
  });

  test.each<[string, Parts, number]>([
    ['download', staging, 180],
    ['drain and reboot, the drain’s deadline and all', rebooting, 90],
    [
      'return to rest',
      { spec: { state: 'Idle', version: '1.1.0' }, status: { current_state: 'MonitoringUpdate' } },
      30,
    ],
  ])('on a step that takes too long comes when it does, and says since when: %s', (_step, parts, limit) => {
    const world = fleet({ a: since(0, parts) }, { permits: [permit('a')] });
    const { verdicts, requeueAt } = plan(world, POLICY, NOW);
    expect([verdicts[0]?.reason, requeueAt]).toEqual(['Updating', minutes(limit)]);
    expect(verdict(world, requeueAt)).toMatchObject({
      reason: 'ProgressDeadlineExceeded',
      message: expect.stringContaining(`since ${moment(0)}`),
      since: NOW,
    });
  });

  test('on a node that dies in its update comes as soon as that is certain, and says what is wrong', () => {
    const down = node('a', { ready: false, readyChangedAt: NOW });
    const world = fleet({ a: since(60) }, { nodes: [down], permits: [permit('a')] });
    expect(plan(world, POLICY, NOW).requeueAt).toBe(minutes(15));
    expect(verdict(world, minutes(15))).toMatchObject({
      reason: 'ProgressDeadlineExceeded',
      message: `the node is not Ready since ${moment(0)}, in the middle of its update to 1.1.0`,
      since: NOW,
    });
  });

  test('is none where a drain has no deadline, a soak is long, or a person has paused what is staged', () => {
    const { drainTimeoutMs: _, ...rest } = POLICY;
    const endless = { ...rest, drainTimeoutMs: 0, soakMs: MONTH * 2 * 60_000 };
    const reasonOf = (parts: Parts, more: Partial<World> = {}): string | undefined =>
      plan(fleet({ a: parts }, more), endless, NOW).verdicts[0]?.reason;
    expect(reasonOf(since(MONTH, rebooting))).toBe('Updating');
    expect(reasonOf(monitoring(-MONTH))).toBe('Updating');
    expect(reasonOf(inStates('StagedAndPerformedUpdate', 'StagedAndPerformedUpdate'), { paused: true })).toBe('Paused');
  });
});

describe('a node whose update was ended without its agent', () => {
  const rescued = inStates('Idle', 'StagedAndPerformedUpdate');
  /** Its version is proven, so that nothing but places is waited for. */
  const proof = { c: { status: { current_version: '1.1.0', target_version: '1.1.0' } } };
  const started = (more: Partial<World>, now = NOW): boolean => {
    const world = fleet({ a: rescued, b: {}, ...proof }, { silentSince: new Map([['a', minutes(-60)]]), ...more });
    return plan(world, POLICY, now).commands.some(({ kind }) => kind === 'start');
  };
  const down = (count: number): Partial<World> => ({
    nodes: [node('a', { ready: false, readyChangedAt: minutes(-count) }), node('b'), node('c')],
  });

  test('takes no place when it dies later, beyond that of any node that is not Ready', () => {
    expect(started(down(59))).toBe(false);
    expect(started(down(60))).toBe(true);
  });

  test('takes none when it is back without its agent', () => {
    expect(started({ nodes: [node('a', { readyChangedAt: minutes(-1) }), node('b'), node('c')] })).toBe(true);
  });

  test('takes one while its permit is on the Lease, and until its agent is certainly gone', () => {
    expect(started({ ...down(60), permits: [permit('a')] })).toBe(false);
    const silentSince = new Map([['a', minutes(-14)]]);
    expect(started({ ...down(600), silentSince })).toBe(false);
    expect(plan(fleet({ a: rescued, b: {}, ...proof }, { ...down(600), silentSince }), POLICY, NOW).requeueAt).toBe(
      minutes(1),
    );
    expect(started({ ...down(600), silentSince }, minutes(1))).toBe(true);
  });
});
