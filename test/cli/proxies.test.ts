import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectProxy } from '../controller/notifications/receiver.ts';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';
import { allow, deploy } from './deployed.ts';
import { brupop, Reached } from './served.ts';

/** `kubectl brupop` where the cluster is behind a proxy, and as somebody else. */

let stage: Stage;
let reached: Reached;
/** With whose passwords the proxy was asked, and whether it lets anybody through. */
let passwords: (string | undefined)[] = [];
let isOpen: boolean;
const proxy = new ConnectProxy((given) => {
  passwords.push(given);
  return isOpen;
});

beforeAll(async () => {
  stage = await Stage.with('a');
  await deploy(stage);
  reached = await Reached.of(stage.cluster);
  await proxy.listen();
});
afterAll(async () => {
  await reached.close();
  await stage.end();
  proxy.close();
});
beforeEach(() => {
  proxy.asked.splice(0);
  [passwords, isOpen] = [[], true];
});

const address = (userInfo = ''): string => `http://${userInfo}${proxy.address}`;

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
  expect([new Set(proxy.asked), new Set(passwords)]).toEqual([new Set([`0.0.0.0:${port}`]), new Set([password])]);
  proxy.asked.splice(0);
  expect(await brupop(['why'], { env: { ...env, NO_PROXY: 'example.com,0.0.0.0/8' } })).toMatchObject({ code: 0 });
  expect(proxy.asked).toEqual([]);
});

test('proxy-url of the kubeconfig comes before both', async () => {
  const { path, port } = await known('kube.example', { 'proxy-url': address() });
  const env = { KUBECONFIG: path, HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '*' };
  expect(await brupop(['why'], { env })).toMatchObject({ code: 0, err: '' });
  expect(new Set(proxy.asked)).toEqual(new Set([`kube.example:${port}`]));
});

test('a proxy that refuses, and one that is none, are named without their passwords', async () => {
  const { path } = await known('0.0.0.0');
  isOpen = false;
  const refused = await brupop(['why'], { env: { KUBECONFIG: path, HTTPS_PROXY: address('ann:secret@') } });
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('407') });
  const none = await brupop(['why'], { env: { KUBECONFIG: path, HTTPS_PROXY: 'socks5://ann:secret@127.0.0.1' } });
  expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/^HTTPS_PROXY: expected an http:\/\/ or https/) });
  expect(refused.err + none.err).not.toContain('secret');
});

test('--as impersonates a user with the groups that are named, if the caller may impersonate', async () => {
  const vera = ['--as', 'vera', '--as-group', 'viewers', '--as-group', 'others'];
  const seen = await reached.run('why', ...vera);
  expect(seen).toMatchObject({ code: 1, err: expect.stringMatching(/User "vera" cannot list resource/) });
  await allow(stage, { kind: 'Group', name: 'others' }, { verbs: ['get', 'list'] });
  expect(await reached.run('why', ...vera)).toMatchObject({ code: 0 });
  expect(await reached.run('why', '--as-group', 'others')).toMatchObject({ code: 2 });
});
