import { describe, expect, test } from '@jest/globals';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { connect } from '../../runtime/kube/kubeconfig.ts';
import { AccessError } from '../../runtime/kube/access.ts';
import { inClusterAccess } from '../../runtime/kube/in-cluster.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ConnectProxy } from '../controller/notifications/receiver.ts';
import { json, ScriptedServer, selfSigned } from './tls-server.ts';
import { folder } from '../folder.ts';

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
    const { transport, namespace } = await connect(
      { ...config('127.0.0.1'), KUBERNETES_SERVICE_PORT: port },
      { userAgent: 'test' },
    );
    expect(namespace).toBe('brupop');
    await expect(transport.request({ method: 'GET', path: '/x' })).resolves.toEqual({ ok: true });
    server.close();
  });
});

describe('a kubeconfig', () => {
  const kubeconfig = (server: string, user: object, cluster: object = {}): string =>
    write(
      'kubeconfig',
      JSON.stringify({
        'current-context': 'here',
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'ours' } }],
        clusters: [
          { name: 'c', cluster: { server, 'certificate-authority': 'ca.crt', 'tls-server-name': 'kube', ...cluster } },
        ],
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

  test('in several files is one: of each name the first counts, and a file that does not exist is passed over', async () => {
    write('ca.crt', 'the CA');
    const second = kubeconfig('https://second:1', { token: 'second' });
    const user = { name: 'u', user: { token: 'first' } };
    const first = write('first', JSON.stringify({ contexts: [], clusters: [], users: [user] }));
    const { access } = await kubeconfigAccess([join(folder, 'none'), first, second].join(delimiter));
    expect(access.server).toBe('https://second:1');
    await expect(access.credentials()).resolves.toMatchObject({ headers: { Authorization: 'Bearer first' } });
    const none = kubeconfigAccess([join(folder, 'none'), join(folder, 'nothing')].join(delimiter));
    await expect(none).rejects.toThrow(/none of these kubeconfigs exists/);
  });

  test('in several files is of the first that names a current context, unless one is asked for', async () => {
    const context = (name: string): string =>
      write(
        name,
        JSON.stringify({
          'current-context': name,
          contexts: [{ name, context: { cluster: name, user: 'u', namespace: `ns-${name}` } }],
          clusters: [{ name, cluster: { server: `https://${name}:1` } }],
          users: [{ name: 'u', user: { token: 't' } }],
        }),
      );
    const paths = [context('staging'), context('production')].join(delimiter);
    const { access, namespace } = await kubeconfigAccess(paths);
    expect([access.server, namespace]).toEqual(['https://staging:1', 'ns-staging']);
    const other = await kubeconfigAccess(paths, { context: 'production' });
    expect([other.access.server, other.namespace]).toEqual(['https://production:1', 'ns-production']);
    await expect(kubeconfigAccess(paths, { context: 'none' })).rejects.toThrow(
      /no context "none", only production, staging/,
    );
  });

  test('has its plug-in run again where its token is refused or the file changes, and not each minute', async () => {
    write('ca.crt', 'the CA');
    const clock = new VirtualClock();
    const status = JSON.stringify({ status: { token: 'from the plug-in' } });
    const script = `echo ran >> ${join(folder, 'runs')}; echo '${status}'`;
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] };
    const runs = (): number => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').length;
    const { access } = await kubeconfigAccess(kubeconfig('https://kube:1', { exec }), { clock });
    await clock.advance(3_600_000);
    await expect(access.credentials()).resolves.toMatchObject({
      headers: { Authorization: 'Bearer from the plug-in' },
    });
    expect(runs()).toBe(1);
    await access.credentials(true);
    expect(runs()).toBe(2);
    kubeconfig('https://kube:1', { exec, token: 'another' });
    await clock.advance(3_600_000);
    await expect(access.credentials()).resolves.toMatchObject({ headers: { Authorization: 'Bearer another' } });
    expect(runs()).toBe(3);
  });

  test('is followed through its proxy, or refused without a word of it', async () => {
    const identity = await selfSigned();
    const server = new ScriptedServer(identity, (_, response) => json(response, 200, { ok: true }));
    await server.listen();
    write('ca.crt', identity.cert);
    const proxy = await new ConnectProxy().listen();
    const proxyUrl = `http://user:secret@${proxy.address}`;
    const path = kubeconfig(server.url, {}, { 'proxy-url': proxyUrl, 'tls-server-name': undefined });
    const { transport } = await connect({ ...config(), KUBECONFIG: path }, { userAgent: 'test' });
    await expect(transport.request({ method: 'GET', path: '/x' })).resolves.toEqual({ ok: true });
    expect(proxy.asked).toEqual([new URL(server.url).host]);
    server.close();
    proxy.close();
    const refused = kubeconfigAccess(kubeconfig('https://kube:1', {}, { 'proxy-url': 'socks5://user:secret@proxy' }));
    await expect(refused).rejects.toThrow(/proxy-url: expected an http:\/\/ or https:\/\/ URL, got another scheme$/);
  });

  test('with a plain http server, or no readable file, is refused by its path', async () => {
    write('ca.crt', 'the CA');
    await expect(kubeconfigAccess(kubeconfig('http://kube:1', {}))).rejects.toThrow(/expected an https:\/\/ server/);
    await expect(kubeconfigAccess(join(folder, 'none'))).rejects.toThrow(AccessError);
  });

  test('that names no namespace gives the one of the caller, or that of kubectl', async () => {
    const path = write(
      'kubeconfig',
      JSON.stringify({
        'current-context': 'here',
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server: 'https://kube:1' } }],
        users: [{ name: 'u', user: {} }],
      }),
    );
    expect((await connect({ ...config(), KUBECONFIG: path, namespace: 'ours' }, { userAgent: 'test' })).namespace).toBe(
      'ours',
    );
    expect((await kubeconfigAccess(path)).namespace).toBe('default');
  });

  test('is chosen where the environment names one', async () => {
    write('ca.crt', 'the CA');
    const { namespace } = await connect(
      { ...config(), KUBECONFIG: kubeconfig('https://kube:1', {}) },
      { userAgent: 'test' },
    );
    expect(namespace).toBe('ours');
  });
});
