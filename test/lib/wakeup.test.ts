import { expect, test } from '@jest/globals';
import { Wakeup } from '../../runtime/lib/wakeup.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

const HOUR = 3_600_000;
const { signal } = new AbortController();

/** When (milliseconds from now) a wait for the instant `inMs` from now ends. */
async function waited(inMs: number, wakeup = new Wakeup()): Promise<number> {
  const clock = new VirtualClock();
  await clock.advanceUntil(wakeup.wait(clock, clock.now() + inMs, signal), 24 * HOUR);
  return clock.monotonic();
}

test('a wait ends at its instant, and at once where that has passed', async () => {
  expect(await waited(1234)).toBe(1234);
  expect(await waited(-1234)).toBe(0);
});

test('no wait is longer than a minute before the wall clock is looked at again, for it may have jumped', async () => {
  expect(await waited(HOUR)).toBe(60_000);
  expect(await waited(Infinity)).toBe(60_000);
});

test('however often it rang while nobody waited, one wait ends at once and the next does not', async () => {
  const wakeup = new Wakeup();
  wakeup.ring();
  wakeup.ring();
  expect(await waited(1000, wakeup)).toBe(0);
  expect(await waited(1000, wakeup)).toBe(1000);
});

test('it ends when told to stop', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const wait = new Wakeup().wait(clock, Infinity, stop.signal);
  stop.abort();
  await clock.advanceUntil(wait, 0);
  expect(clock.monotonic()).toBe(0);
});
