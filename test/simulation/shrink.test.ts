import { expect, test } from '@jest/globals';
import { fewest, needed } from './shrink.ts';

const FORTY = Array.from({ length: 40 }, (_, index) => index + 1);

test('what a failure does not need is left out, wherever it stands', async () => {
  let runs = 0;
  const fails = async (items: readonly number[]): Promise<boolean> => {
    runs += 1;
    return [3, 17, 38].every((item) => items.includes(item));
  };
  expect(await needed(FORTY, fails)).toEqual([3, 17, 38]);
  expect(runs).toBeLessThan(100);
});

test('a failure that needs no fault has none, and one that needs all keeps them', async () => {
  expect(await needed(FORTY, async () => true)).toEqual([]);
  expect(await needed([1, 2, 3], async (items) => items.length === 3)).toEqual([1, 2, 3]);
});

test('either of two causes is enough', async () => {
  const fails = async (items: readonly number[]): Promise<boolean> => items.includes(5) || items.includes(30);
  expect(await needed(FORTY, fails)).toHaveLength(1);
});

test('a fleet is as small as it may be', async () => {
  expect(await fewest(50, async (count) => count >= 4)).toBe(4);
  expect(await fewest(3, async () => true)).toBe(1);
  expect(await fewest(3, async () => false)).toBe(3);
});
