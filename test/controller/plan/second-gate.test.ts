import { describe, expect, test } from '@jest/globals';
import { type Plan, plan } from '../../../runtime/controller/plan/plan.ts';
import type { Policy } from '../../../runtime/controller/plan/policy.ts';
import type { Snapshot } from '../../../runtime/controller/plan/snapshot.ts';
import { fleet, MARKS, minutes, moment, node, NOW, type Parts, POLICY, rebooting, slot, staging } from './fleet.ts';
import { after } from './worlds.ts';

/** A node that has staged its version is in service still: what may not start any more is not drained for it either. */

const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
const failedOnIt = { crash_count: 1, failed_versions: ['1.1.0'], state_transition_failure_timestamp: moment(-1) };
const rules: Policy = { ...POLICY, maxFailed: { kind: 'count', count: 1 } };
const held = { slots: [slot('a')] };
const halted = (a: Parts, more: Partial<Snapshot> = {}): Snapshot =>
  fleet({ a, b: { status: failedOnIt } }, { ...held, ...more });
const onHold = { nodes: [node('a', { held: true })] };
const planned = (world: Snapshot): Plan => plan(world, rules, NOW);
const verdictOnA = (world: Snapshot): string | undefined => planned(world).verdicts[0]?.reason;

describe('a staged node is called off, its version unchanged,', () => {
  test.each<[string, Snapshot, string]>([
    ['where its release was halted', halted(staged), 'RolloutHalted'],
    ['where its release was halted, under a pause too', halted(staged, { paused: true }), 'RolloutHalted'],
    ['where it is held', fleet({ a: staged }, { ...held, ...onHold }), 'Held'],
    ['where it is held, under a pause too', fleet({ a: staged }, { ...held, ...onHold, paused: true }), 'Held'],
  ])('%s', (_where, world, reason) => {
    const { commands, verdicts } = planned(world);
    const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(0) };
    expect(commands.filter(({ kind }) => kind !== 'start')).toEqual([
      { kind: 'call-off', node: 'a', shadow: 'brs-a', spec, because: expect.objectContaining({ reason }) },
    ]);
    expect(verdicts[0]).toMatchObject({ node: 'a', reason });
  });

  test('says why until its agent is at rest, and then gives its slot back', () => {
    let world = halted(staged, { paused: true });
    world = after(world, planned(world).commands);
    expect([planned(world).commands, verdictOnA(world)]).toEqual([[], 'Paused']);
    expect(verdictOnA({ ...world, paused: false })).toBe('RolloutHalted');
    const [a, b] = world.shadows;
    world = { ...world, shadows: [{ ...a!, status: { ...a!.status!, current_state: 'Idle' } }, b!] };
    expect(planned(world).commands).toEqual([{ kind: 'free', shadow: 'brs-a', nodeUid: 'uid-a', because: 'idle' }]);
  });
});

test('under a pause a staged node waits where it is, with its slot, and says so', () => {
  const world = fleet({ a: staged }, { ...held, paused: true });
  expect([planned(world).commands, verdictOnA(world)]).toEqual([[], 'Paused']);
});

describe('a staged node goes on to its reboot', () => {
  const closed = { open: false, triggeredAt: undefined, changesAt: minutes(60) };
  test.each<[string, Snapshot]>([
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

test.each<[string, Parts, Partial<Snapshot>]>([
  ['on its way into its reboot', rebooting, {}],
  ['drained', rebooting, { nodes: [node('a', { held: true, unschedulable: true, marks: MARKS }), node('b')] }],
])('a node that is %s is called off by nobody', (_state, parts, more) => {
  const world = halted(parts, { paused: true, ...more });
  expect([planned(world).commands, verdictOnA(world)]).toEqual([[], 'Updating']);
});
