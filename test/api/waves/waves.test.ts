import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { opensAt, type Wave, waveOf } from '../../../runtime/api/waves/waves.ts';
import { runs } from '../../random.ts';
import { SEVEN_WAVES } from './seven.ts';

const waves = (times: Readonly<Record<number, string>>): readonly Wave[] =>
  Object.entries(times).map(([seed, at]) => ({ seed: Number(seed), at: Date.parse(at) }));

const SEVEN = waves(SEVEN_WAVES);
const ONE = waves({ 0: '2026-09-01T00:00:00Z' });
const LATE = waves({ 512: '2026-09-01T00:00:00Z', 1024: '2026-09-02T00:00:00Z' });

/** The first whole second. */
const text = (ms: number): string =>
  Number.isFinite(ms) ? new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000', '') : 'at once';

describe("a release comes to a host when Bottlerocket's own update_metadata says so", () => {
  test.each([
    [0, 'at once', 'at once', 'at once'],
    [1, '2026-08-25T18:09:00Z', '2026-09-01T00:00:00Z', 'at once'],
    [19, '2026-08-25T20:51:00Z', '2026-09-01T00:00:00Z', 'at once'],
    [20, '2026-08-25T21:00:00Z', '2026-09-01T00:00:00Z', 'at once'],
    [21, '2026-08-26T02:07:20Z', '2026-09-01T00:00:00Z', 'at once'],
    [60, '2026-08-26T11:38:03Z', '2026-09-01T00:00:00Z', 'at once'],
    [102, '2026-08-26T17:00:00Z', '2026-09-01T00:00:00Z', 'at once'],
    [103, '2026-08-27T05:03:31Z', '2026-09-01T00:00:00Z', 'at once'],
    [512, '2026-08-29T17:00:00Z', '2026-09-01T00:00:00Z', 'at once'],
    [820, '2026-08-30T17:00:00Z', '2026-09-01T00:00:00Z', '2026-09-02T00:00:00Z'],
    [1844, '2026-08-31T17:00:00Z', '2026-09-01T00:00:00Z', '2026-09-02T00:00:00Z'],
  ])('seed %i', (seed, seven, one, late) => {
    expect([SEVEN, ONE, LATE].map((release) => text(opensAt(release, seed)))).toEqual([seven, one, late]);
  });

  test('without waves nobody waits', () => {
    expect(opensAt([], 2047)).toBe(-Infinity);
  });

  test('a key above 2048 ends no wave', () => {
    const [first, last] = [
      { seed: 0, at: 1000 },
      { seed: 2049, at: 9000 },
    ] as const;
    expect(opensAt([first, last], 2047)).toBe(1000);
  });
});

test('the wave of a host is counted from the first', () => {
  expect(waveOf(SEVEN, 512)).toEqual({ number: 4, of: 7 });
  expect([0, 1, 1844].map((seed) => waveOf(SEVEN, seed).number)).toEqual([0, 1, 7]);
});

/** The rule once more, in whole nanoseconds. */
function nanoseconds(release: ReadonlyMap<number, bigint>, seed: number): bigint | undefined {
  let start: number | undefined;
  let end: number | undefined;
  for (let key = 0; key <= 2048; key++) {
    if (!release.has(key)) continue;
    if (key < seed) start = key;
    else end ??= key;
  }
  if (start === undefined) return undefined;
  const startAt = release.get(start) as bigint;
  if (end === undefined) return startAt;
  const endAt = release.get(end) as bigint;
  const at = startAt + ((endAt - startAt) / BigInt(end - start)) * BigInt(seed);
  return at < endAt ? at : endAt;
}

test('it comes in the first millisecond that is not before the nanosecond at which hosts compute it', () => {
  const wave = fc.record({ seed: fc.integer({ min: 0, max: 2100 }), at: fc.integer({ min: 0, max: 4e12 }) });
  const release = fc.uniqueArray(wave, { selector: ({ seed }) => seed, maxLength: 12 });
  const check = (drawn: readonly Wave[], seed: number): void => {
    const exact = nanoseconds(new Map(drawn.map((one) => [one.seed, BigInt(one.at) * 1_000_000n])), seed);
    const found = opensAt(drawn, seed);
    if (exact === undefined) return expect(found).toBe(-Infinity);
    const ns = BigInt(found) * 1_000_000n;
    expect(ns >= exact && ns - exact < 1_000_000n).toBe(true);
  };
  fc.assert(fc.property(release, fc.integer({ min: 0, max: 2047 }), check), runs(1000));
});
