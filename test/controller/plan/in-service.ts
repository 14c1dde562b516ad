import { fleet, MARKS, moment, node, type Parts, permit, POLICY, type Rules, type World } from './fleet.ts';

/** What calls node a off where it is in service still, and what no longer does. */

export const failedOnIt = {
  crash_count: 1,
  failed_versions: ['1.1.0'],
  state_transition_failure_timestamp: moment(-1),
};
export const rules: Rules = { ...POLICY, maxFailed: { kind: 'count', count: 1 } };
export const held = { permits: [permit('a')] };
export const halted = (a: Parts, more: Partial<World> = {}): World =>
  fleet({ a, b: { status: failedOnIt } }, { ...held, ...more });
export const onHold = { nodes: [node('a', { held: true })] };
export const onLeave = { nodes: [node('a', { leaving: true })] };
export const drained = node('a', { held: true, unschedulable: true, marks: MARKS });
