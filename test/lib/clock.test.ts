import { describe, expect, test } from '@jest/globals';
import { durationText, rfc3339, systemClock } from '../../runtime/lib/clock.ts';

describe('the system clock', () => {
  test('ends a sleep of years at once when told to', async () => {
    const stop = new AbortController();
    const sleep = systemClock.sleep(Number.MAX_SAFE_INTEGER, stop.signal);
    stop.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
  });

  test('does not begin a sleep whose signal is over', async () => {
    await expect(systemClock.sleep(0, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });

  test('sleeps at least as long as asked', async () => {
    const before = systemClock.monotonic();
    await systemClock.sleep(20);
    expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(19);
  });
});

test('times are written in whole seconds unless asked', () => {
  const moment = Date.parse('2026-01-02T03:04:05.678Z');
  expect(rfc3339(moment)).toBe('2026-01-02T03:04:05Z');
  expect(rfc3339(moment, { millis: true })).toBe('2026-01-02T03:04:05.678Z');
});

test.each([
  [-5, '0 s'],
  [400, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [257_000, '4 min 17 s'],
  [3_600_000 + 59_000, '1 h'],
  [90_000_000, '1 d 1 h'],
])('%i ms are %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
