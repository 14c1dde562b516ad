import { expect, test } from '@jest/globals';
import { seeded } from '../stage.ts';
import { POLICY } from './fleet.ts';
import { rollOut } from './rollout.ts';

test('a fleet of 300 with failing drains is rolled over without one rule broken on the way', () => {
  const policy = { ...POLICY, maxConcurrent: { kind: 'percent', percent: 10 }, conditionWrites: 20 } as const;
  const { faults, failures } = rollOut({ size: 300, policy, random: seeded(3) });
  expect(faults).toEqual([]);
  expect(failures).toBeGreaterThan(0);
});
