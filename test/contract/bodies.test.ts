import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, request } from 'node:https';
import { type Contract, contract } from './cluster.ts';

/** What goes over the wire, and no well-behaved client sends. */

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Without the administrator's identity. */
  readonly anonymous?: boolean;
}

/** The status of the answer. */
async function send({ path, method = 'GET', headers = {}, body, anonymous = false }: Sent): Promise<number> {
  const { tls, headers: identity } = await cluster.access.credentials();
  const agent = new Agent(anonymous ? { ca: tls.ca } : tls);
  return new Promise((resolve, reject) => {
    const options = { method, agent, headers: { ...headers, ...(!anonymous && identity) } };
    const sent = request(`${cluster.access.server}${path}`, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test.each([
  ['no JSON', 'application/json', '{', 400],
  ['of a type that nobody knows', 'application/x-kubernetes', 'k8s', 415],
  ['more than 3 MiB', 'application/json', JSON.stringify({ a: 'x'.repeat(3 * 1024 * 1024) }), 413],
])('a body that is %s is refused', async (_, contentType, body, status) => {
  const headers = { 'content-type': contentType };
  expect(await send({ path: '/api/v1/nodes', method: 'POST', headers, body })).toBe(status);
});

test.each([
  ['may ask whether the server is well', '/healthz', {}, 200],
  ['may not read', '/api/v1/nodes', {}, 403],
  ['and bears a wrong token is refused everything', '/healthz', { authorization: 'Bearer wrong' }, 401],
])('whoever has no identity %s', async (_, path, headers, status) => {
  expect(await send({ path, headers, anonymous: true })).toBe(status);
});

test.each(['/healthz', '/livez', '/readyz'])('%s says that the server is well', async (path) => {
  expect(await send({ path })).toBe(200);
});
