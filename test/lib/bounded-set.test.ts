import { expect, test } from '@jest/globals';
import { BoundedSet } from '../../runtime/lib/bounded-set.ts';

test('a bounded set forgets the value that was added the longest ago', () => {
  const set = new BoundedSet<string>(2);
  for (const value of ['a', 'b', 'a', 'c']) set.add(value);
  expect(['a', 'b', 'c'].filter((value) => set.has(value))).toEqual(['a', 'c']);
});
