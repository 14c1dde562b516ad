import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { selects } from '../../runtime/lib/selector.ts';
import { labelSelector } from '../../lab/sim/cluster/selector.ts';
import { runs } from '../random.ts';

const word = fc.constantFrom('a', 'b', 'c');
const values = fc.array(word, { minLength: 1, maxLength: 2 });
const requirement = fc.oneof(
  fc.record({ key: word, operator: fc.constantFrom('In' as const, 'NotIn' as const), values }),
  fc.record({ key: word, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
);
const selector = fc.option(
  fc.record(
    { matchLabels: fc.dictionary(word, word), matchExpressions: fc.array(requirement, { maxLength: 3 }) },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);

test('a selector selects what the API server would', () => {
  fc.assert(
    fc.property(selector, fc.dictionary(word, word), (wanted, labels) => {
      expect(selects(wanted, labels)).toBe(labelSelector(wanted)(labels));
    }),
    runs(500),
  );
});

test('an operator that nobody knows selects nothing', () => {
  expect(selects({ matchExpressions: [{ key: 'a', operator: 'Near' }] }, { a: 'b' })).toBe(false);
});

test('a label that is called as what every object inherits is a label like any other', () => {
  const exists = { matchExpressions: [{ key: 'constructor', operator: 'Exists' as const }] };
  expect([selects(exists, {}), selects(exists, { constructor: 'x' })]).toEqual([false, true]);
});
