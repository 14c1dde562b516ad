import { expect, test } from '@jest/globals';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { contextsOf, kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import { folder } from '../folder.ts';

const apiVersion = 'client.authentication.k8s.io/v1';

function kubeconfig(user: object): string {
  const path = join(folder, 'config');
  const cluster = { server: 'https://kube:1', 'certificate-authority-data': 'Y2E=' };
  const context = { cluster: 'c', user: 'u' };
  const named = { clusters: [{ name: 'c', cluster }], users: [{ name: 'u', user }] };
  writeFileSync(path, JSON.stringify({ 'current-context': 'here', contexts: [{ name: 'here', context }], ...named }));
  return path;
}

/** A plug-in in the kubeconfig's folder, whose token is what it was told of the request. */
function plugin(): object {
  const script = `#!/bin/sh\nprintf '{"status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 | tr -d '\\n')"\n`;
  const path = join(folder, 'plugin.sh');
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return { apiVersion, command: './plugin.sh', provideClusterInfo: true, interactiveMode: 'IfAvailable' };
}

test('an exec plug-in is found in the folder of its kubeconfig, and is told of the cluster and of the terminal', async () => {
  const { access } = await kubeconfigAccess(kubeconfig({ exec: plugin() }));
  const { headers } = await access.credentials();
  const token = String(headers['Authorization']).replace('Bearer ', '');
  expect(JSON.parse(Buffer.from(token, 'base64').toString())).toEqual({
    apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: isatty(0),
      cluster: { server: 'https://kube:1', 'certificate-authority-data': 'Y2E=' },
    },
  });
});

test('a server and a token that are given take the place of those of the kubeconfig', async () => {
  const user = { exec: { apiVersion, command: 'no-such-plug-in' } };
  const { access } = await kubeconfigAccess(kubeconfig(user), { server: 'https://other:1', token: 'given' });
  expect(access.server).toBe('https://other:1');
  expect((await access.credentials()).headers).toEqual({ Authorization: 'Bearer given' });
});

test('its contexts are known by name', async () => {
  expect(await contextsOf(kubeconfig({}))).toEqual(['here']);
});
