import { expect, test } from '@jest/globals';
import { nearest } from '../../runtime/lib/nearest.ts';

test.each([
  ['controler', 'controller'],
  ['cotnroller', 'controller'],
  ['Agent', 'agent'],
  ['agents', 'agent'],
  ['lables', 'labels'],
  ['tset', 'test'],
])('by %s, %s is meant', (word, meant) => {
  expect(nearest(word, ['agent', 'controller', 'labels', 'test'])).toBe(meant);
});

test.each(['', 'x', 'schedule', 'toast', 'ts'])('by %j nothing is meant that is here', (word) => {
  expect(nearest(word, ['agent', 'controller', 'labels', 'test'])).toBeUndefined();
});
