import { expect, test } from '@jest/globals';
import { durationText } from '../../runtime/lib/clock.ts';

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
