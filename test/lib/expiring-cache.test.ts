import { beforeEach, expect, test } from '@jest/globals';
import { ExpiringCache } from '../../runtime/lib/expiring-cache.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { seeded } from '../random.ts';

const TTL_MS = 10_000;

let clock: VirtualClock;
let loads: number;
beforeEach(() => {
  clock = new VirtualClock();
  loads = 0;
});

const cacheOf = (random: () => number, maxEntries = 1000): ExpiringCache<number> =>
  new ExpiringCache({ clock, random, ttlMs: TTL_MS, maxEntries });
const load = async (): Promise<number> => ++loads;

test('a value counts for as long as it may at the most, and not a moment longer', async () => {
  const cache = cacheOf(() => 0);
  expect(await cache.get('a', load)).toBe(1);
  await clock.advance(TTL_MS - 1);
  expect(await cache.get('a', load)).toBe(1);
  await clock.advance(1);
  expect(await cache.get('a', load)).toBe(2);
});

test('a value that may lose of its time is asked for anew although an earlier one still counts', async () => {
  const spread = [0, 0.99, 0];
  const cache = cacheOf(() => spread.shift() ?? 0);
  await cache.get('long', load);
  await cache.get('short', load);
  await clock.advance(TTL_MS - 1);
  expect(await cache.get('short', load)).toBe(3);
  expect(await cache.get('long', load)).toBe(1);
});

test('values that came together do not go together for ever', async () => {
  const cache = cacheOf(seeded(1));
  const loadedIn = async (): Promise<number> => {
    const before = loads;
    for (let key = 0; key < 100; key++) await cache.get(String(key), load);
    return loads - before;
  };
  expect(await loadedIn()).toBe(100);
  let most = 0;
  for (let second = 0; second < 60; second++) {
    await clock.advance(1000);
    const loaded = await loadedIn();
    if (second >= 30) most = Math.max(most, loaded);
  }
  expect(most).toBeLessThan(40);
});

test('what is asked for again makes no room for itself where as much is kept as may', async () => {
  const cache = cacheOf(() => 0, 1);
  expect(await cache.get('a', load)).toBe(1);
  expect(await cache.get('a', load)).toBe(1);
});

test('a load that fails is not kept, and more than the most allowed neither', async () => {
  const cache = cacheOf(() => 0, 2);
  await expect(cache.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await cache.get('a', load)).toBe(1);
  await cache.get('b', load);
  await cache.get('c', load);
  expect(await cache.get('a', load)).toBe(4);
});
