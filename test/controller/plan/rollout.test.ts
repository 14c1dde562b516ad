import { expect, test } from '@jest/globals';
import { MOST_AT_ONCE } from '../../../runtime/api/policy/quantity.ts';
import { seeded } from '../../random.ts';
import { POLICY } from './fleet.ts';
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

test('a fleet that may be updated all at once goes on to its end, no more at a time than the Lease holds', () => {
  const all = { kind: 'unlimited' } as const;
  const policy = { ...CAREFUL, maxConcurrent: all, maxFailed: all };
  const { faults, longest } = rollOut({ size: 1000, policy, random: seeded(3) });
  expect(faults).toEqual([]);
  expect(longest.permits).toBe(MOST_AT_ONCE);
});
