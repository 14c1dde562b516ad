import { describe, expect, test } from '@jest/globals';
import { proxyFromEnvironment } from '../../runtime/kube/proxy.ts';

const PROXY = 'http://proxy:3128';

describe('a proxy of the environment is on the way to a server', () => {
  test.each([
    ['https://kube.example.com', ''],
    ['https://kube.example.com', 'example.org, other.example.com,:443,'],
    ['https://notexample.com', 'example.com'],
    // A name that begins with a dot is not below itself.
    ['https://example.com', '.example.com'],
    ['https://example.com', '*.example.com'],
    ['https://example.com:6443', 'example.com:443'],
    ['https://10.0.0.1', '10.0.0.2,10.1.0.0/16,10.0.0.0/33,x/8'],
    ['https://[fd00::1]', 'fd01::/16,10.0.0.0/8'],
    ['https://localhost.example.com', 'none'],
  ])('%s, where NO_PROXY is %j', (server, exempt) => {
    expect(proxyFromEnvironment(server, { HTTPS_PROXY: PROXY, NO_PROXY: exempt })).toBe(PROXY);
  });
});

describe('it is not on the way', () => {
  test.each([
    ['https://kube.example.com', 'example.com'],
    ['https://example.com', 'example.com'],
    ['https://kube.example.com.', 'none, EXAMPLE.com'],
    ['https://kube.example.com', '.example.com'],
    ['https://kube.example.com', '*.example.com'],
    ['https://example.com', 'example.com:443'],
    ['https://anything', '*'],
    ['https://10.0.0.1', '10.0.0.1'],
    ['https://10.0.0.1', '10.0.0.0/8'],
    ['https://[fd00::1]:6443', '[fd00::1]:6443'],
    ['https://[fd00::1]', 'fd00::/16'],
    ['https://localhost:6443', ''],
    ['https://127.1.2.3', ''],
    ['https://[::1]', ''],
  ])('to %s, where NO_PROXY is %j', (server, exempt) => {
    expect(proxyFromEnvironment(server, { HTTPS_PROXY: PROXY, NO_PROXY: exempt })).toBeUndefined();
  });

  test('where the environment names none, or one for HTTP', () => {
    expect(proxyFromEnvironment('https://kube', {})).toBeUndefined();
    expect(proxyFromEnvironment('https://kube', { HTTP_PROXY: PROXY, HTTPS_PROXY: '' })).toBeUndefined();
  });
});

test('lower case counts where upper case is not set, and a scheme may be left out', () => {
  const env = { https_proxy: 'proxy:3128', no_proxy: 'none.example.com' };
  expect(proxyFromEnvironment('https://kube', env)).toBe(PROXY);
  expect(proxyFromEnvironment('https://none.example.com', env)).toBeUndefined();
  expect(proxyFromEnvironment('https://none.example.com', { ...env, NO_PROXY: 'x' })).toBe(PROXY);
});
