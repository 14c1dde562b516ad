import { expect, test } from '@jest/globals';
import { jitter } from '../../runtime/lib/random.ts';
import { backoff } from '../../runtime/lib/retry.ts';

test('delays double up to their limit', () => {
  const middle = { firstMs: 100, maxMs: 1000, random: () => 0.5 };
  expect([0, 1, 2, 3, 4, 50].map((attempt) => backoff(attempt, middle))).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test('jitter stays within its fraction', () => {
  expect(jitter(1000, 0.2, () => 0)).toBe(800);
  expect(jitter(1000, 0.2, () => 0.999999)).toBeCloseTo(1200, 2);
});
