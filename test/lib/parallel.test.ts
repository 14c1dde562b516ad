import { expect, test } from '@jest/globals';
import { inParallel } from '../../runtime/lib/parallel.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

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

test('after a failure nothing else begins, and what is under way ends before it is told', async () => {
  const clock = new VirtualClock();
  const events: string[] = [];
  const work = inParallel([1, 2, 3, 4], 2, async (item) => {
    events.push(`begins ${item}`);
    await clock.sleep(item * 1000);
    events.push(`ends ${item}`);
    throw new Error(`item ${item}`);
  });
  await expect(clock.advanceUntil(work, 60_000)).rejects.toThrow('item 1');
  expect(events).toEqual(['begins 1', 'begins 2', 'ends 1', 'ends 2']);
});
