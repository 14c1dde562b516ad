import { expect, test } from '@jest/globals';
import { missing } from './requirements.ts';

test.each([
  [{ platform: 'darwin', uid: 0, path: '/bin' }, ['expected Linux, got darwin']],
  [{ platform: 'linux', uid: 1000, path: '/bin' }, [expect.stringContaining('expected to run as root')]],
  [
    { platform: 'linux', uid: 0, path: '/nowhere' },
    ['unshare', 'setpriv', 'ip', 'mount', 'dpkg-deb', 'apt-get'].map((name) => `expected ${name} on the PATH`),
  ],
])('what is missing first is told: %j', (machine, sentences) => {
  expect(missing(machine)).toEqual(sentences);
});
