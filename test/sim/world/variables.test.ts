import { expect, test } from '@jest/globals';
import { pathVariables } from '../../../sim/world/variables.ts';

const MOUNTS = {
  '/etc/keys': '/pod/keys',
  '/var/run/secrets/tokens': '/pod/tokens',
  '/run/api.sock': '/host/api.sock',
  '/.bottlerocket/rootfs': '/host/root',
};

test('a path that the pod states, or that is its default, leads to what is mounted there', () => {
  const stated = { TLS_DIR: '/etc/keys', AGENT_TOKEN_PATH: '/var/run/secrets/tokens/mine' };
  expect(pathVariables(stated, MOUNTS, '/nowhere')).toMatchObject({
    TLS_DIR: '/pod/keys',
    AGENT_TOKEN_PATH: '/pod/tokens/mine',
    BOTTLEROCKET_API_SOCKET: '/host/api.sock',
    HOST_ROOT: '/host/root',
  });
});

test('a path that nothing is mounted at leads nowhere', () => {
  expect(pathVariables({ TLS_DIR: '/etc/keys-of-another' }, MOUNTS, '/nowhere')).toMatchObject({
    TLS_DIR: '/nowhere/etc/keys-of-another',
    SERVICE_ACCOUNT_DIR: '/nowhere/var/run/secrets/kubernetes.io/serviceaccount',
  });
});
