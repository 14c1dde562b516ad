import { expect, test } from '@jest/globals';
import { age, humanDuration } from '../../../sim/cluster/kubectl/age.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [0, '0s'],
  [119 * SECOND, '119s'],
  [2 * MINUTE, '2m'],
  [3 * MINUTE + 12 * SECOND, '3m12s'],
  [11 * MINUTE + 12 * SECOND, '11m'],
  [179 * MINUTE, '179m'],
  [3 * HOUR + 5 * MINUTE, '3h5m'],
  [9 * HOUR + 5 * MINUTE, '9h'],
  [2 * DAY, '2d'],
  [2 * DAY + 3 * HOUR, '2d3h'],
  [9 * DAY + 3 * HOUR, '9d'],
  [3 * 365 * DAY + DAY, '3y1d'],
  [9 * 365 * DAY + DAY, '9y'],
  [-500, '0s'],
  [-3 * SECOND, '<invalid>'],
])('%d ms are shown as %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

test('an age counts from an RFC 3339 time, and one that is missing is unknown', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');
  expect(age('2026-01-01T00:00:15Z', now)).toBe('45s');
  expect(age(undefined, now)).toBe('<unknown>');
});
