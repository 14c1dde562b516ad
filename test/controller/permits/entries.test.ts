import { BAD_ENDS } from '../../../runtime/api/release/model.ts';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { bytesOf } from '../../../runtime/controller/plan/facts/permit.ts';
import {
  formatEntries,
  parseEntries,
  type PermitEntry,
  permitsOn,
  PERMITS_ANNOTATION,
  withoutFreed,
  withTaken,
} from '../../../runtime/controller/permits/entries.ts';
import { runs } from '../../random.ts';
import { olderPermits } from '../older-controller.ts';

const NOW = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:01:00Z';
const a = { shadow: 'brs-a', nodeUid: '1' };
const b = { shadow: 'brs-b', nodeUid: '2' };
const TERMS = { family: 'aws-k8s-1.33/x86_64', version: '1.1.0', policy: { name: 'p', uid: 'u' }, zone: 'z' };

let ids = 0;
const at = (now: string) => ({ now, newId: () => `id-${ids++}` });

const viewsOf = (text: string) =>
  permitsOn({ metadata: { name: 'l', annotations: { [PERMITS_ANNOTATION]: text } } } as never);

test('a permit that is taken once more changes the text all the same', () => {
  const once = withTaken([], [a], at(NOW));
  const twice = withTaken(once, [a], at(LATER));
  expect(twice).toHaveLength(1);
  expect(formatEntries(twice)).not.toBe(formatEntries(once));
});

test('permits survive the annotation', () => {
  const entries = withTaken([], [{ ...a, ...TERMS }, b], at(NOW));
  expect(parseEntries(formatEntries(entries))).toEqual(entries);
  expect(parseEntries('[{"shadow":"brs-a","nodeUid":"1"}]')).toEqual([{ ...a, starts: 1 }]);
});

test('a permit says for as long as it is held that it was given to a machine that had just joined', () => {
  const text = formatEntries(withTaken([], [{ ...a, arriving: true }, b], at(NOW)));
  expect(viewsOf(text).map(({ arriving }) => arriving)).toEqual([true, undefined]);
  expect(viewsOf(text.replace('"arriving":true', '"arriving":"x"'))[0]).not.toHaveProperty('arriving');
});

test('a permit that is taken once more remembers when its update began', () => {
  expect(withTaken(withTaken([], [a], at(NOW)), [a], at(LATER))).toMatchObject([{ ...a, starts: 2, since: NOW }]);
});

test('a permit that is taken once more is another attempt, of which nothing is noted yet', () => {
  const [before] = withTaken([], [{ ...a, ...TERMS }], at(NOW));
  const noted = { ...before!, rebootAskedAt: NOW, ended: 'BootFailed' } as const;
  const [after] = withTaken([noted], [{ ...a, ...TERMS, version: '1.2.0' }], at(LATER));
  expect(after).toMatchObject({ ...TERMS, version: '1.2.0' });
  expect(after!.id).not.toBe(before!.id);
  expect(after).not.toHaveProperty('rebootAskedAt');
  expect(after).not.toHaveProperty('ended');
});

test('a permit is given back by shadow and node, so that of a former node stays', () => {
  const entries = withTaken([], [a, { ...a, nodeUid: '9' }], at(NOW));
  expect(withoutFreed(entries, [a])).toMatchObject([{ nodeUid: '9' }]);
});

test('a text that is none of ours is told from none', () => {
  expect(parseEntries(undefined)).toEqual([]);
  expect(parseEntries('{')).toBeUndefined();
  expect(parseEntries('[{"node":"a"}]')).toBeUndefined();
});

const time = fc
  .date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })
  .map((one) => one.toISOString());
const ascii = fc.stringMatching(/^[A-Za-z0-9._/-]{0,80}$/);
const entry: fc.Arbitrary<PermitEntry> = fc.record(
  {
    shadow: ascii,
    nodeUid: ascii,
    starts: fc.integer({ min: 1, max: 1_000_000 }),
    since: time,
    id: fc.stringMatching(/^[0-9a-f]{16}$/),
    family: ascii,
    version: ascii,
    policy: fc.record({ name: ascii, uid: ascii }),
    zone: ascii,
    rebootAskedAt: time,
    ended: fc.constantFrom(...BAD_ENDS),
  },
  { requiredKeys: ['shadow', 'nodeUid', 'starts'] },
);
const list = fc.uniqueArray(entry, { selector: ({ nodeUid }) => nodeUid, maxLength: 6 });

const throughOlder = (text: string): string => JSON.stringify(olderPermits.parse(JSON.parse(text)));

describe('the list', () => {
  test('comes back from an older controller with every permit, each under an id that stays', () => {
    fc.assert(
      fc.property(list, (entries) => {
        const once = throughOlder(formatEntries(entries));
        const permits = viewsOf(once);
        expect(permits.map(({ shadow, nodeUid }) => ({ shadow, nodeUid }))).toEqual(
          entries.map(({ shadow, nodeUid }) => ({ shadow, nodeUid })),
        );
        expect(new Set(permits.map(({ id }) => id)).size).toBe(permits.length);
        expect(permits.filter(({ version, policy }) => version !== undefined || policy !== undefined)).toEqual([]);
        // What ours writes of it without a change of a permit is what it found.
        const ours = formatEntries(parseEntries(once) ?? []);
        expect(viewsOf(throughOlder(ours)).map(({ id }) => id)).toEqual(permits.map(({ id }) => id));
      }),
      runs(200),
    );
  });

  test('is readable whatever stands in the fields that a permit need not have', () => {
    const junk = fc.dictionary(
      fc.constantFrom('starts', 'since', 'id', 'family', 'version', 'policy', 'zone', 'rebootAskedAt', 'ended', 'new'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(junk, (fields) => {
        expect(viewsOf(JSON.stringify([{ ...fields, ...a }]))).toMatchObject([a]);
      }),
      runs(300),
    );
  });

  test('is never longer than what is counted for its permits', () => {
    fc.assert(
      fc.property(list, (entries) => {
        const counted = entries.reduce((sum, one) => sum + bytesOf(one), 0);
        expect(formatEntries(entries).length - 2).toBeLessThanOrEqual(counted);
      }),
      runs(200),
    );
  });
});
