import { expect, test } from '@jest/globals';
import { formatEntries, parseEntries, withoutFreed, withTaken } from '../../../runtime/controller/slots/entries.ts';

const a = { shadow: 'brs-a', nodeUid: '1' };
const b = { shadow: 'brs-b', nodeUid: '2' };

test('a slot that is taken once more changes the text all the same', () => {
  const once = withTaken([], [a]);
  const twice = withTaken(once, [a]);
  expect(twice).toHaveLength(1);
  expect(formatEntries(twice)).not.toBe(formatEntries(once));
});

test('slots survive the annotation', () => {
  const entries = withTaken([], [a, b]);
  expect(parseEntries(formatEntries(entries))).toEqual(entries);
  expect(parseEntries('[{"shadow":"brs-a","nodeUid":"1"}]')).toEqual(withTaken([], [a]));
});

test('a slot is given back by shadow and node, so that of a former node stays', () => {
  const entries = withTaken([], [a, { ...a, nodeUid: '9' }]);
  expect(withoutFreed(entries, [a])).toMatchObject([{ nodeUid: '9' }]);
});

test('a text that is none of ours is told from none', () => {
  expect(parseEntries(undefined)).toEqual([]);
  expect(parseEntries('{')).toBeUndefined();
  expect(parseEntries('[{"node":"a"}]')).toBeUndefined();
});
