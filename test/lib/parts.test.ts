import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { joinParts, shortened } from '../../runtime/lib/parts.ts';
import { runs } from '../random.ts';

describe('a shortened text', () => {
  test('is as it was where there is room', () => {
    expect(shortened('a; b; c', 32)).toBe('a; b; c');
    expect(shortened('ü'.repeat(16), 32)).toBe('ü'.repeat(16));
  });

  test('leaves out whole parts from the end and says how many', () => {
    const text = joinParts(['left', ...Array.from({ length: 30 }, (_, index) => `shop/web-${index} (why)`)]);
    expect(shortened(text, 70)).toBe('left; shop/web-0 (why); shop/web-1 (why); and 28 more');
  });

  test('that is shortened again counts what was left out before', () => {
    const once = shortened(joinParts(Array.from({ length: 30 }, (_, index) => `pod ${index}`)), 100);
    expect([once, shortened(once, 40)]).toEqual([
      'pod 0; pod 1; pod 2; pod 3; pod 4; pod 5; pod 6; pod 7; pod 8; pod 9; pod 10; pod 11; and 18 more',
      'pod 0; pod 1; pod 2; pod 3; and 26 more',
    ]);
  });

  test('is cut between characters where its first part is too long', () => {
    expect(shortened('ü'.repeat(40), 32)).toBe(`${'ü'.repeat(14)}…`);
  });

  test('never has more bytes than it may', () => {
    const text = fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { maxLength: 12 }).map(joinParts);
    fc.assert(
      fc.property(text, fc.integer({ min: 32, max: 200 }), (full, max) => {
        expect(Buffer.byteLength(shortened(full, max))).toBeLessThanOrEqual(max);
      }),
      runs(100),
    );
  });
});

test('a part that holds what stands between parts is one part all the same', () => {
  expect(joinParts(['a; b', 'c'])).toBe('a, b; c');
});
