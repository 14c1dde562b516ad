import { expect, test } from '@jest/globals';
import { inParallel } from '../../runtime/lib/parallel.ts';
import { VirtualClock } from '../../sim/clock.ts';

test('at most so many are under way, and results keep the order of the items', async () => {
  const clock = new VirtualClock();
  let running = 0;
  let most = 0;
  const work = inParallel([5, 1, 4, 2, 3], 2, async (seconds) => {
    most = Math.max(most, ++running);
    await clock.sleep(seconds * 1000);
    running -= 1;
    return seconds * 10;
  });
  expect(await clock.advanceUntil(work, 60_000)).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
});

test('the first failure is the outcome', async () => {
  await expect(inParallel([1, 2], 2, (item) => Promise.reject(new Error(`item ${item}`)))).rejects.toThrow('item 1');
});
