import { expect, test } from '@jest/globals';
import { jsonPath } from '../../../sim/cluster/kubectl/json-path.ts';

const object = {
  metadata: { labels: { 'a.b/c': 'slash' }, annotations: { plain: 'yes' } },
  status: {
    current: '1.38.0',
    zero: 0,
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'UpToDate', status: 'False', reason: 'WaitingForSlot' },
    ],
  },
};

test.each([
  ['.status.current', ['1.38.0']],
  ['$.status.current', ['1.38.0']],
  ['{.status.current}', ['1.38.0']],
  ['.status.zero', [0]],
  ['.status.missing.deeper', []],
  [String.raw`.metadata.labels.a\.b/c`, ['slash']],
  [`.metadata.labels['a.b/c']`, ['slash']],
  ['.metadata.annotations["plain"]', ['yes']],
  ['.status.conditions[0].type', ['Ready']],
  ['.status.conditions[-1].type', ['UpToDate']],
  ['.status.conditions[*].type', ['Ready', 'UpToDate']],
  ['.status.conditions[?(@.type=="UpToDate")].reason', ['WaitingForSlot']],
  [`.status.conditions[?(@.type != 'UpToDate')].status`, ['True']],
])('%s reads %j', (path, found) => {
  expect(jsonPath(path)(object)).toEqual(found);
});

test('a path in another dialect is refused, not read as something else', () => {
  expect(() => jsonPath('.a[?(@.b =~ "x")]')).toThrow(SyntaxError);
  expect(() => jsonPath('.a[1:2]')).toThrow('JSONPath ".a[1:2]"');
});
