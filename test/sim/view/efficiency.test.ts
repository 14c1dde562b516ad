import { expect, test } from '@jest/globals';
import { covered, criticalPath } from '../../../sim/view/efficiency.ts';

test('time that intervals share counts once', () => {
  const of = (...pairs: [number, number][]): number => covered(pairs.map(([startMs, endMs]) => ({ startMs, endMs })));
  expect(of()).toBe(0);
  expect(of([0, 10], [20, 30])).toBe(20);
  expect(of([20, 30], [0, 25], [22, 24])).toBe(30);
  expect(of([0, 10], [10, 15])).toBe(15);
});

test('one slot takes the sum, as many slots as nodes the longest', () => {
  expect(criticalPath([3, 1, 2], 1)).toBe(6);
  expect(criticalPath([3, 1, 2], 3)).toBe(3);
  expect(criticalPath([3, 1, 2], 2)).toBe(3);
  expect(criticalPath([3, 1, 2, 4], 2)).toBe(7);
  expect(criticalPath([], 2)).toBe(0);
  expect(criticalPath([5], Infinity)).toBe(5);
});
