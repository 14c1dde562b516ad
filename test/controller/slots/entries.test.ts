import { expect, test } from '@jest/globals';
import { formatEntries, parseEntries, withoutFreed, withTaken } from '../../../runtime/controller/slots/entries.ts';

const NOW = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:01:00Z';
const a = { shadow: 'brs-a', nodeUid: '1' };
const b = { shadow: 'brs-b', nodeUid: '2' };

test('a slot that is taken once more changes the text all the same', () => {
  const once = withTaken([], [a], NOW);
  const twice = withTaken(once, [a], LATER);
  expect(twice).toHaveLength(1);
  expect(formatEntries(twice)).not.toBe(formatEntries(once));
});

test('slots survive the annotation', () => {
  const entries = withTaken([], [a, b], NOW);
  expect(parseEntries(formatEntries(entries))).toEqual(entries);
  expect(parseEntries('[{"shadow":"brs-a","nodeUid":"1"}]')).toEqual([{ ...a, starts: 1 }]);
});

test('a slot that is taken once more remembers when its update began', () => {
  expect(withTaken(withTaken([], [a], NOW), [a], LATER)).toEqual([{ ...a, starts: 2, since: NOW }]);
});

test('a slot is given back by shadow and node, so that of a former node stays', () => {
  const entries = withTaken([], [a, { ...a, nodeUid: '9' }], NOW);
  expect(withoutFreed(entries, [a])).toMatchObject([{ nodeUid: '9' }]);
});

test('a text that is none of ours is told from none', () => {
  expect(parseEntries(undefined)).toEqual([]);
  expect(parseEntries('{')).toBeUndefined();
  expect(parseEntries('[{"node":"a"}]')).toBeUndefined();
});
