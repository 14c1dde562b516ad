import { expect, test } from '@jest/globals';
import { LineBudget } from '../../runtime/lib/line-budget.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

test('lines of a kind are let through up to the bound in each period, and the next one says how many were not', async () => {
  const clock = new VirtualClock();
  const budget = new LineBudget({ clock, lines: 2, periodMs: 1_000 });
  const take = (count: number): unknown[] => Array.from({ length: count }, () => budget.take('a'));
  expect(take(5)).toEqual([{}, {}, undefined, undefined, undefined]);
  expect(budget.take('b')).toEqual({});
  await clock.advance(999);
  expect(take(1)).toEqual([undefined]);
  await clock.advance(1);
  expect(take(3)).toEqual([{ left_out: 4 }, {}, undefined]);
  await clock.advance(5_000);
  expect(take(1)).toEqual([{ left_out: 1 }]);
});
