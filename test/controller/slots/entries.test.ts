import { expect, test } from '@jest/globals';
import { slotBytes } from '../../../runtime/controller/plan/room.ts';
import {
  capacityOn,
  formatEntries,
  parseEntries,
  SLOTS_ANNOTATION,
  withoutFreed,
  withTaken,
} from '../../../runtime/controller/slots/entries.ts';

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

test('the room on a Lease is what others leave, and leaves them some, whatever the list has by now', () => {
  const leaseWith = (annotations: Readonly<Record<string, string>>) => ({
    metadata: { name: 'l', uid: 'u', resourceVersion: '1', annotations },
  });
  const empty = capacityOn(undefined);
  expect(capacityOn(leaseWith({ [SLOTS_ANNOTATION]: formatEntries(withTaken([], [a, b], NOW)) }))).toBe(empty);
  expect(capacityOn(leaseWith({ more: 'x'.repeat(8000) }))).toBe(empty);
  const list = `${SLOTS_ANNOTATION}[]`.length;
  expect(capacityOn(leaseWith({ é: 'ü', more: 'x'.repeat(9000) }))).toBe(262_144 - list - 'more'.length - 4 - 9000);
});

test('a Lease has room for some 1,600 nodes with names as on EKS', () => {
  const shadow = 'brs-ip-192-168-101-201.us-west-2.compute.internal';
  const slots = Math.floor(capacityOn(undefined) / slotBytes({ shadow, nodeUid: crypto.randomUUID() }));
  expect(slots).toBeGreaterThan(1550);
  expect(slots).toBeLessThan(1650);
});
