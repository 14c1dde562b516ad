import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { WorkQueue } from '../../runtime/lib/work-queue.ts';
import { VirtualClock } from '../../sim/clock.ts';

let clock: VirtualClock;
let queue: WorkQueue<string>;
let stop: AbortController;
let ended: Promise<void>;
/** What has begun, in order, each with what ends it. Items that begin with the same letter are about one thing. */
let begun: { readonly item: string; readonly end: () => void }[];

beforeEach(() => {
  clock = new VirtualClock();
  stop = new AbortController();
  begun = [];
  const work = async (item: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    begun.push({ item, end: resolve });
    await promise;
  };
  queue = new WorkQueue({
    clock,
    random: () => 0.5,
    keyOf: (item) => item.slice(0, 1),
    work,
    atOnce: 2,
    versionOf: (item) => item,
  });
  ended = queue.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  for (const { end } of begun) end();
  await clock.advance(0);
  await ended;
});

async function wanted(...items: readonly string[]): Promise<readonly string[]> {
  queue.replace(items);
  await clock.advance(0);
  return begun.map(({ item }) => item);
}

test('what is about the same thing begins once the one before is done, and then only what is wanted last', async () => {
  expect(await wanted('a1')).toEqual(['a1']);
  await wanted('a2');
  expect(await wanted('a3', 'b1')).toEqual(['a1', 'b1']);
  begun[0]?.end();
  await clock.advance(0);
  expect(begun.map(({ item }) => item)).toEqual(['a1', 'b1', 'a3']);
});

test('where as many hang as may be under way, all others wait', async () => {
  expect(await wanted('a', 'b', 'c')).toEqual(['a', 'b']);
  begun[1]?.end();
  await clock.advance(0);
  expect(begun.map(({ item }) => item)).toEqual(['a', 'b', 'c']);
});

test('what rests begins when its rest is over, and at once as another version than the one that rests', async () => {
  const pace = { firstMs: 1000, maxMs: 1000 };
  queue.rest('a1', pace, 'a1');
  queue.rest('b1', pace);
  expect(await wanted('a1', 'b2')).toEqual([]);
  expect(await wanted('a2', 'b2')).toEqual(['a2']);
  begun[0]?.end();
  await clock.advance(1000);
  expect(begun.map(({ item }) => item)).toEqual(['a2', 'b2']);
});
