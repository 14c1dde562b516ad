import { describe, expect, test } from '@jest/globals';
import { jitter } from '../../runtime/lib/random.ts';
import { backoff, retry, type RetryPolicy, Streak } from '../../runtime/lib/retry.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

test('delays double up to their limit', () => {
  const middle = { firstMs: 100, maxMs: 1000, random: () => 0.5 };
  expect([0, 1, 2, 3, 4, 50].map((attempt) => backoff(attempt, middle))).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test('jitter stays within its fraction', () => {
  expect(jitter(1000, 0.2, () => 0)).toBe(800);
  expect(jitter(1000, 0.2, () => 0.999999)).toBeCloseTo(1200, 2);
});

describe('a retry', () => {
  /** Fails for `failingMs`, each attempt after `takesMs`, and says when it was given up or done. */
  async function tried(failingMs: number, takesMs: number, limits: Partial<RetryPolicy>): Promise<string> {
    const clock = new VirtualClock();
    const start = clock.monotonic();
    const attempt = async (): Promise<string> => {
      await clock.sleep(takesMs);
      if (clock.monotonic() - start <= failingMs) throw new Error('failed');
      return 'done';
    };
    const policy = { clock, random: () => 0.5, firstMs: 100, maxMs: 1000, isTransient: () => true, ...limits };
    const ended = retry(attempt, policy).catch((error: Error) => error.message);
    return `${await clock.advanceUntil(ended, 60_000)} after ${clock.monotonic() - start}`;
  }

  test('goes on until it succeeds, where nothing limits it', async () => {
    expect(await tried(5000, 10, {})).toMatch(/^done/);
  });

  test('begins no attempt after its limit, counted from the first failure', async () => {
    expect(await tried(Infinity, 400, { giveUpAfterMs: 1000 })).toBe('failed after 1500');
    expect(await tried(500, 400, { giveUpAfterMs: 1000 })).toBe('done after 900');
  });

  test('tries again after a first attempt that took longer to fail than the limit', async () => {
    expect(await tried(1500, 1500, { giveUpAfterMs: 1000 })).toBe('done after 3100');
  });

  test('begins no attempt after its deadline, whenever the first failure came', async () => {
    expect(await tried(Infinity, 400, { deadline: 1000 })).toBe('failed after 900');
    expect(await tried(1500, 1500, { deadline: 1000, giveUpAfterMs: 1000 })).toBe('failed after 1500');
  });

  test('ends with the first error that time does not cure', async () => {
    expect(await tried(Infinity, 10, { isTransient: () => false })).toBe('failed after 10');
  });
});

test('a streak counts from when it began, and anew after a break', async () => {
  const clock = new VirtualClock();
  const streak = new Streak(clock);
  expect(streak.note(true)).toBe(0);
  await clock.advance(500);
  expect([streak.note(true), streak.note(false), streak.note(true)]).toEqual([500, 0, 0]);
});
