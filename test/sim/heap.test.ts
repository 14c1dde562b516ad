import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Heap } from '../../sim/heap.ts';

test('items come out in their order, whatever order they went in', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const number of numbers) heap.push(number);
      const out = numbers.map(() => heap.pop());
      expect(out).toEqual(numbers.toSorted((a, b) => a - b));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test('what was taken between two additions does not disturb the order', () => {
  const heap = new Heap<number>((a, b) => a < b);
  for (const number of [5, 1, 4]) heap.push(number);
  expect(heap.pop()).toBe(1);
  heap.push(2);
  expect([heap.first, heap.pop(), heap.pop(), heap.pop()]).toEqual([2, 2, 4, 5]);
});
