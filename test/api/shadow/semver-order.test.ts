import { expect, test } from '@jest/globals';
import { compareSemver } from '../../../runtime/api/shadow/semver.ts';

test('versions are ordered as semver 2.0.0 says', () => {
  const ordered = [
    '0.9.10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.9.0',
    '1.10.0',
    '18446744073709551616.0.0',
    '28446744073709551616.0.0',
  ];
  expect(ordered.toReversed().toSorted(compareSemver)).toEqual(ordered);
});

test('build metadata does not count', () => {
  expect(compareSemver('1.0.0+a', '1.0.0+b')).toBe(0);
});
