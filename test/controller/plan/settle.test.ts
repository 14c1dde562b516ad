import { expect, test } from '@jest/globals';
import { fleet, minutes, moment, monitoring, node, NOW, permit, plan, POLICY, type World } from './fleet.ts';

/** A node that is back, and waits for what its drain has displaced. `settle` is five minutes. */

const missing = { owners: [], looked_at: moment(-1), missing: ['StatefulSet shop/db: 2 of 3 ready'] };

/** @param told minutes ago to monitor @param ready minutes ago it became so */
function settling(told: number, ready: number): World {
  const a = monitoring(-told);
  const nodes = [node('a', { readyChangedAt: minutes(-ready) })];
  return fleet({ a: { ...a, status: { ...a.status, displaced: missing } } }, { nodes, permits: [permit('a')] });
}

const waits = (told: number, ready: number): boolean => plan(settling(told, ready), POLICY, NOW).commands.length === 0;

test('its time counts from when it takes pods again: some can run nowhere else', () => {
  expect([waits(4, 20), waits(6, 20), waits(6, 4), waits(9, 6)]).toEqual([true, false, true, false]);
});

test('and from fifteen minutes after its return at most, however often it is not Ready: by then it would have failed its soak', () => {
  expect([waits(16, 2), waits(19, 1), waits(20, 1)]).toEqual([true, true, false]);
});
