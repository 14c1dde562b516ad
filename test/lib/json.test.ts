import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { boundedJson, JsonError, MAX_DEPTH, MAX_VALUES } from '../../runtime/lib/json.ts';
import { runs } from '../random.ts';

const nested = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}${open === '[' ? '' : '0'}${close.repeat(depth)}`;
const list = (values: number, value: string): string => `[${Array<string>(values).fill(value).join(',')}]`;

describe('JSON from outside', () => {
  test('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(boundedJson(text)).toEqual(JSON.parse(text));
        expect(boundedJson(Buffer.from(text))).toEqual(JSON.parse(text));
      }),
      runs(500),
    );
  });

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('may be of %s within each other down to a depth, and no deeper', (_, open, close) => {
    expect(() => boundedJson(nested(MAX_DEPTH, open, close))).not.toThrow();
    expect(() => boundedJson(nested(MAX_DEPTH + 1, open, close))).toThrow('expected at most 100 lists and objects');
  });

  test.each(['0', '[]', '{}', '"[,{"', '"\\\\"', '"\\",["'])(
    'has a bounded number of values, and texts count once: %s',
    (value) => {
      // Less the list itself and the first, before which no sign stands.
      expect(boundedJson(list(MAX_VALUES - 1, value))).toHaveLength(MAX_VALUES - 1);
      expect(() => boundedJson(list(MAX_VALUES + 1, value))).toThrow(JsonError);
    },
  );

  test.each([
    ['UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['JSON', ''],
    ['JSON', '"'],
    ['JSON', '"\\'],
    ['JSON', ']]'],
    ['JSON', '{"a"}'],
  ])('is expected to be %s', (what, bytes) => {
    expect(() => boundedJson(bytes)).toThrow(new JsonError(`expected ${what}`));
  });
});
