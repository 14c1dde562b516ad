import { expect, test } from '@jest/globals';
import { BoundedMap } from '../../runtime/lib/bounded-map.ts';

test('a bounded map forgets the key that was set the longest ago', () => {
  const map = new BoundedMap<string, number>(2);
  for (const [value, key] of ['a', 'b', 'a', 'c'].entries()) map.set(key, value);
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([2, undefined, 3]);
});
