import { expect, test } from '@jest/globals';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  UNPROVEN_TOO,
  type World,
} from './fleet.ts';

/** Where a policy waits for room, drains begin one after the other: none sees what another moves before that one bears marks. */

const rules = { ...POLICY, ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' }, waitsForRoom: true } as const;
const staged: Parts = {
  spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' },
  status: { current_state: 'StagedAndPerformedUpdate' },
};
/** @param min minutes ago */
const told = (min: number, more: Parts['status'] = {}): Parts => ({
  spec: { state: 'RebootedIntoUpdate', version: '1.1.0', state_transition_timestamp: moment(-min) },
  status: { ...staged.status, ...more },
});

const letThrough = (world: World, more: Partial<typeof rules> | { waitsForRoom: false } = {}): readonly string[] =>
  plan(world, { ...rules, ...more }, NOW).commands.flatMap((one) => (one.kind === 'set-spec' ? one.shadow : []));

test('of two that have staged the release the first is told to drain, and the other one waits', () => {
  const world = fleet({ a: staged, b: staged });
  expect(letThrough(world)).toEqual(['brs-a']);
  expect(plan(world, rules, NOW).verdicts[1]).toMatchObject({
    reason: 'WaitingForSlot',
    message: 'the drain of another node begins first, so that the room for its pods counts',
  });
  expect(letThrough(world, { waitsForRoom: false })).toEqual(['brs-a', 'brs-b']);
});

test('it goes on once the first bears marks or is refused, and ten seconds after that was told at the latest', () => {
  expect(letThrough(fleet({ a: told(0.1), b: staged }))).toEqual([]);
  expect(plan(fleet({ a: told(0.1), b: staged }), rules, NOW).requeueAt).toBe(NOW + 4000);
  expect(letThrough(fleet({ a: told(0.17), b: staged }))).toEqual(['brs-b']);
  const marked = { nodes: [node('a', { marks: MARKS, unschedulable: true }), node('b')] };
  expect(letThrough(fleet({ a: told(0.1), b: staged }, marked))).toEqual(['brs-b']);
  const drain = { started_at: moment(-0.25), pods_left: 1, blocked_by: ['NoRoom: 14 CPU needed, 9 free'] };
  expect(letThrough(fleet({ a: told(0.1, { drain }), b: staged }))).toEqual(['brs-b']);
});

test('it does not wait for one that the API server does not let be told', () => {
  const refusals = new Map([['brs-a', [{ kind: 'set-spec' as const, message: 'no', retryAt: minutes(5) }]]]);
  expect(letThrough(fleet({ a: staged, b: staged }, { refusals }))).toEqual(['brs-b']);
});
