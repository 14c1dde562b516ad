import { expect, test } from '@jest/globals';
import { seeded } from '../stage.ts';
import { slotBytes } from '../../../runtime/controller/plan/room.ts';
import { POLICY, slot } from './fleet.ts';
import { rollOut } from './rollout.ts';

const CAREFUL = {
  ...POLICY,
  maxConcurrent: { kind: 'percent', percent: 10 },
  maxFailed: { kind: 'percent', percent: 1 },
  soakMs: 120_000,
  ownNode: 'n7',
  conditionWrites: 20,
} as const;

test('a fleet of 1,000 with failing drains is rolled over without one rule broken on the way', () => {
  const { faults, failures } = rollOut({ size: 1000, policy: CAREFUL, random: seeded(3) });
  expect(faults).toEqual([]);
  expect(failures).toBeGreaterThan(0);
});

test('a fleet that may be updated all at once goes on to its end on a Lease that has room for a tenth of it', () => {
  const all = { kind: 'unlimited' } as const;
  const slotCapacity = 100 * slotBytes(slot('n999'));
  const policy = { ...CAREFUL, maxConcurrent: all, maxFailed: all };
  const { faults, longest } = rollOut({ size: 1000, policy, random: seeded(3), slotCapacity });
  expect(faults).toEqual([]);
  expect(longest.bytes).toBeLessThanOrEqual(slotCapacity);
  expect(longest.slots).toBeGreaterThanOrEqual(100);
});
