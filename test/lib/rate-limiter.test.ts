import { expect, test } from '@jest/globals';
import { RateLimiter } from '../../runtime/lib/rate-limiter.ts';
import { VirtualClock } from '../../sim/clock.ts';

const PAUSE = { firstMs: 100, maxMs: 1000 };
const limiterOf = (clock = new VirtualClock()) => ({ clock, limiter: new RateLimiter({ clock, random: () => 0.5 }) });

test('an item waits twice as long each time, up to the longest pause, until it is forgotten', () => {
  const { limiter } = limiterOf();
  const waits = Array.from({ length: 6 }, () => {
    limiter.add('a', PAUSE);
    return limiter.restMs('a');
  });
  expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
  expect(limiter.restMs('b')).toBe(0);
  limiter.forget('a');
  expect(limiter.restMs('a')).toBe(0);
  limiter.add('a', PAUSE);
  expect(limiter.restMs('a')).toBe(100);
});

test('an item that nobody tries for a minute after its pause begins anew', async () => {
  const { limiter, clock } = limiterOf();
  limiter.add('a', PAUSE);
  limiter.add('a', PAUSE);
  await clock.advance(60_201);
  limiter.add('a', PAUSE);
  expect(limiter.restMs('a')).toBe(100);
});

test('another version of an item does not wait, and waits no longer because of the one before', () => {
  const { limiter } = limiterOf();
  limiter.add('a', PAUSE, 'v1');
  limiter.add('a', PAUSE, 'v1');
  expect([limiter.restMs('a', () => 'v1'), limiter.restMs('a', () => 'v2')]).toEqual([200, 0]);
  limiter.add('a', PAUSE, 'v2');
  expect(limiter.restMs('a', () => 'v2')).toBe(100);
  // What was refused as such is refused whatever it says.
  limiter.add('a', PAUSE);
  expect(limiter.restMs('a', () => 'v3')).toBe(100);
});

test('a pace is kept as it is, without jitter', () => {
  const limiter = new RateLimiter({ clock: new VirtualClock(), random: () => 0.9 });
  limiter.add('a', { firstMs: 5000, maxMs: 5000 });
  expect(limiter.restMs('a')).toBe(5000);
});
