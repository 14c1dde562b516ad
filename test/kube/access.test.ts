import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../runtime/kube/access.ts';
import { AccessError } from '../../runtime/kube/credentials.ts';
import { inClusterAccess } from '../../runtime/kube/in-cluster.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import { VirtualClock } from '../../sim/clock.ts';
import { json, ScriptedServer, selfSigned } from './tls-server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'access-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const config = (host = '10.0.0.1') => ({
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: '6443',
  SERVICE_ACCOUNT_DIR: folder,
  KUBECONFIG: '',
});

describe('the service account', () => {
  test('gives address, CA and token', async () => {
    write('ca.crt', 'the CA\n');
    write('token', 'one\n');
    const access = inClusterAccess(config());
    expect(access.server).toBe('https://10.0.0.1:6443');
    await expect(access.credentials()).resolves.toEqual({
      tls: { ca: 'the CA' },
      headers: { authorization: 'Bearer one' },
    });
  });

  test('an IPv6 address is put in brackets', () => {
    expect(inClusterAccess(config('fd00::1')).server).toBe('https://[fd00::1]:6443');
  });

  test('a new token is used after a minute, or at once when the old one was refused', async () => {
    const clock = new VirtualClock();
    const access = inClusterAccess(config(), clock);
    const bearer = async (fresh?: boolean) => (await access.credentials(fresh)).headers['authorization'];
    write('ca.crt', 'the CA');
    write('token', 'one');
    await bearer();
    write('token', 'two');
    expect(await bearer()).toBe('Bearer one');
    expect(await bearer(true)).toBe('Bearer two');
    write('token', 'three');
    await clock.advance(60_000);
    expect(await bearer()).toBe('Bearer three');
  });

  test('a CA that was rotated is trusted after a minute', async () => {
    const clock = new VirtualClock();
    const access = inClusterAccess(config(), clock);
    write('token', 'one');
    write('ca.crt', 'the CA');
    await access.credentials();
    write('ca.crt', 'the CA and its successor');
    await clock.advance(60_000);
    expect((await access.credentials()).tls.ca).toBe('the CA and its successor');
  });

  test('a file that is missing while it is replaced does not end what works', async () => {
    write('ca.crt', 'the CA');
    write('token', 'one');
    const access = inClusterAccess(config());
    await access.credentials();
    rmSync(join(folder, 'token'));
    await expect(access.credentials(true)).resolves.toMatchObject({ headers: { authorization: 'Bearer one' } });
  });

  test.each(['missing', 'empty'])('a token that is %s from the start is said by its path', async (how) => {
    write('ca.crt', 'the CA');
    if (how === 'empty') write('token', '\n');
    const refused = inClusterAccess(config()).credentials();
    await expect(refused).rejects.toThrow(AccessError);
    await expect(refused).rejects.toThrow(join(folder, 'token'));
  });

  test('leads to a transport and the namespace of the pod', async () => {
    const identity = await selfSigned();
    const server = new ScriptedServer(identity, (_, response) => json(response, 200, { ok: true }));
    await server.listen();
    write('ca.crt', identity.cert);
    write('token', 'one');
    write('namespace', 'brupop\n');
    const { port } = new URL(server.url);
    const { transport, namespace } = await connect({ ...config('127.0.0.1'), KUBERNETES_SERVICE_PORT: port }, 'test');
    expect(namespace).toBe('brupop');
    await expect(transport.request({ method: 'GET', path: '/x' })).resolves.toEqual({ ok: true });
    server.close();
  });
});

describe('a kubeconfig', () => {
  const kubeconfig = (server: string, user: object, namespace = 'ours'): string =>
    write(
      'kubeconfig',
      JSON.stringify({
        'current-context': 'here',
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace } }],
        clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'ca.crt', 'tls-server-name': 'kube' } }],
        users: [{ name: 'u', user }],
      }),
    );

  test('gives server, CA, client certificate, token and namespace', async () => {
    write('ca.crt', 'the CA');
    const data = (text: string) => Buffer.from(text).toString('base64');
    const user = { token: 'one', 'client-certificate-data': data('cert'), 'client-key-data': data('key') };
    const { access, namespace } = await kubeconfigAccess(kubeconfig('https://kube:1', user));
    expect([access.server, namespace]).toEqual(['https://kube:1', 'ours']);
    const { tls, headers } = await access.credentials();
    expect(headers).toEqual({ Authorization: 'Bearer one' });
    const bytes = { ca: Buffer.from('the CA'), cert: Buffer.from('cert'), key: Buffer.from('key') };
    expect(tls).toEqual({ ...bytes, servername: 'kube' });
  });

  test('with a plain http server, or no readable file, is refused by its path', async () => {
    write('ca.crt', 'the CA');
    await expect(kubeconfigAccess(kubeconfig('http://kube:1', {}))).rejects.toThrow(/expected an https:\/\/ server/);
    await expect(kubeconfigAccess(join(folder, 'none'))).rejects.toThrow(AccessError);
  });

  test('is chosen where the environment names one', async () => {
    write('ca.crt', 'the CA');
    const { namespace } = await connect({ ...config(), KUBECONFIG: kubeconfig('https://kube:1', {}) }, 'test');
    expect(namespace).toBe('ours');
  });
});
