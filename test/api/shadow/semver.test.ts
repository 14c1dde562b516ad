import { describe, expect, test } from '@jest/globals';
import { isSemver, versionOfOsImage } from '../../../runtime/api/shadow/semver.ts';

describe('semver 2.0.0 without v', () => {
  // Valid and invalid examples follow the grammar on semver.org.
  test.each([
    '0.0.0',
    '1.38.0',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-0.3.7',
    '1.0.0-x-y-z.--',
    '1.0.0+20130313144700',
    '1.0.0-beta+exp.sha.5114f85',
    '1.0.0+0build.1-rc.10000aaa-kk-0.1',
  ])('accepts %s', (text) => expect(isSemver(text)).toBe(true));
  test.each([
    '',
    '1',
    '1.2',
    'v1.38.0',
    '01.1.1',
    '1.01.1',
    '1.1.01',
    '1.2.3-',
    '1.2.3-01',
    '1.2.3-a..b',
    '1.2.3+',
    '1.2.3+a+b',
    '1.2.3.4',
    ' 1.2.3',
    '1.2.3\n',
    '1.2.3-ä',
  ])('refuses %j', (text) => expect(isSemver(text)).toBe(false));
});

describe('the version in osImage', () => {
  test('is read from what Bottlerocket reports', () => {
    expect(versionOfOsImage('Bottlerocket OS 1.38.0 (aws-k8s-1.33)')).toBe('1.38.0');
  });
  test.each([undefined, '', 'Debian GNU/Linux 12', 'Bottlerocket OS', 'Bottlerocket OS x (y)'])(
    '%j names none',
    (osImage) => {
      expect(versionOfOsImage(osImage)).toBeUndefined();
    },
  );
});
