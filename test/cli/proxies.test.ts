import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';
import { deploy } from './deployed.ts';
import { brupop, Reached } from './served.ts';

/** `kubectl brupop` where the cluster is behind a proxy, and as somebody else. */

let stage: Stage;
let reached: Reached;
/** What the proxy was asked for, and with whose password. */
let asked: (readonly [to: string | undefined, by: string | undefined])[] = [];
/** What it says; undefined where it lets everybody through. */
let refusal: string | undefined;

const proxy = createServer().on('connect', ({ url, headers }: IncomingMessage, client: Duplex) => {
  asked.push([url, headers['proxy-authorization']]);
  client.on('error', () => undefined);
  if (refusal !== undefined) {
    client.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
    return;
  }
  const [host = '', port] = (url ?? '').split(':');
  const server = connect(Number(port), host === 'kube.example' ? '127.0.0.1' : host, () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    server.pipe(client).pipe(server);
  });
  server.on('error', () => client.destroy());
});

beforeAll(async () => {
  stage = await Stage.with('a');
  await deploy(stage);
  reached = await Reached.of(stage.cluster);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await reached.close();
  await stage.end();
  proxy.close();
});
beforeEach(() => {
  asked = [];
  refusal = undefined;
});

const address = (userInfo = ''): string => `http://${userInfo}127.0.0.1:${(proxy.address() as AddressInfo).port}`;

/** The cluster under another name, which only the proxy knows, or no loopback address. */
async function known(host: string, more: object = {}): Promise<{ readonly path: string; readonly port: string }> {
  const config = JSON.parse(await readFile(await reached.kubeconfig(), 'utf8')) as {
    clusters: { cluster: { server: string } }[];
  };
  const { cluster } = config.clusters[0]!;
  const { port } = new URL(cluster.server);
  Object.assign(cluster, { server: `https://${host}:${port}`, 'tls-server-name': 'localhost', ...more });
  const path = join(folder, 'behind-proxy');
  await writeFile(path, JSON.stringify(config));
  return { path, port };
}

test('HTTPS_PROXY is the way to the cluster, its password included, and NO_PROXY an exception', async () => {
  const { path, port } = await known('0.0.0.0');
  const env = { KUBECONFIG: path, HTTPS_PROXY: address('ann:p%40ss@') };
  expect(await brupop(['why'], { env })).toMatchObject({ code: 0, err: '' });
  const password = `Basic ${Buffer.from('ann:p@ss').toString('base64')}`;
  expect(new Set(asked.map(String))).toEqual(new Set([`0.0.0.0:${port},${password}`]));
  asked = [];
  expect(await brupop(['why'], { env: { ...env, NO_PROXY: 'example.com,0.0.0.0/8' } })).toMatchObject({ code: 0 });
  expect(asked).toEqual([]);
});

test('proxy-url of the kubeconfig comes before both', async () => {
  const { path, port } = await known('kube.example', { 'proxy-url': address() });
  const env = { KUBECONFIG: path, HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '*' };
  expect(await brupop(['why'], { env })).toMatchObject({ code: 0, err: '' });
  expect(new Set(asked.map(([to]) => to))).toEqual(new Set([`kube.example:${port}`]));
});

test('a proxy that refuses, and one that is none, are named without their passwords', async () => {
  const { path } = await known('0.0.0.0');
  refusal = '407 Proxy Authentication Required';
  const refused = await brupop(['why'], { env: { KUBECONFIG: path, HTTPS_PROXY: address('ann:secret@') } });
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('407') });
  const none = await brupop(['why'], { env: { KUBECONFIG: path, HTTPS_PROXY: 'socks5://ann:secret@127.0.0.1' } });
  expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/^HTTPS_PROXY: expected an http:\/\/ or https/) });
  expect(refused.err + none.err).not.toContain('secret');
});

test('--as asks as somebody else with the groups that are named, where whoever asks may do that', async () => {
  const vera = ['--as', 'vera', '--as-group', 'viewers', '--as-group', 'others'];
  const seen = await reached.run('why', ...vera);
  expect(seen).toMatchObject({ code: 1, err: expect.stringMatching(/User "vera" cannot list resource/) });
  const group = 'rbac.authorization.k8s.io';
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }];
  await stage.create(`/apis/${group}/v1/clusterroles`, { metadata: { name: 'see' }, rules });
  await stage.create(`/apis/${group}/v1/clusterrolebindings`, {
    metadata: { name: 'viewers' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'see' },
    subjects: [{ kind: 'Group', apiGroup: group, name: 'others' }],
  });
  expect(await reached.run('why', ...vera)).toMatchObject({ code: 0 });
  expect(await reached.run('why', '--as-group', 'others')).toMatchObject({ code: 2 });
});
