import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { connect as plainConnect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { LIMITS, serveTls } from '../../runtime/apiserver/serve.ts';
import { apiStatusError, UnreachableError } from '../../runtime/kube/errors.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { createLogger } from '../../runtime/lib/log.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { eventually } from '../contract/eventually.ts';
import { inTime } from '../in-time.ts';
import {
  ca,
  counted,
  HttpsWorld,
  type HttpsSettings,
  refusal,
  RESOURCE,
  SERVICE,
  servingCertificate,
} from './https-world.ts';

let https: HttpsWorld | undefined;

async function open(settings: HttpsSettings = {}): Promise<HttpsWorld> {
  https = await HttpsWorld.create(settings);
  return https;
}

afterEach(async () => {
  await https?.close();
  https = undefined;
});

/** All that the server sends until it closes the connection, in whichever way. */
async function answerOn(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  // In whichever way: an error is followed by the end.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await inTime('the end of the connection', closed);
  return text;
}

const HEAD = `PUT ${RESOURCE} HTTP/1.1\r\nHost: a\r\n`;
const IMPATIENT = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };

describe('a client that', () => {
  test('sends its headers slowly is cut off', async () => {
    const socket = await (await open({ limits: IMPATIENT })).socket();
    socket.write(HEAD);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test.each([
    ['sends its headers slowly', HEAD, 408, 'TooSlow'],
    ['sends headers that are too large', `${HEAD}X-Large: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'TooLarge'],
    ['says two lengths', `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, 400, 'BadRequest'],
    ['speaks no HTTP', 'EHLO a\r\n\r\n', 400, 'BadRequest'],
  ])('%s is told so as any other, and is counted and logged', async (_, sent, status, reason) => {
    const lines: string[] = [];
    const logger = createLogger({
      format: 'json',
      ansi: false,
      level: 'info',
      clock: new VirtualClock(),
      write: (line) => lines.push(line),
    });
    const world = await open({ limits: IMPATIENT, logger });
    const socket = await world.socket();
    socket.write(sent);
    const [head = '', body = ''] = (await answerOn(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(body)).toEqual({ error: expect.any(String), reason });
    expect(await counted(world, reason)).toBe(1);
    expect(lines.filter((line) => line.includes('connection refused'))).toHaveLength(1);
  });

  test('sends its body slowly is cut off', async () => {
    const world = await open({ limits: IMPATIENT });
    const socket = await world.socket();
    const headers = Object.entries(world.identity()).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${HEAD}${headers.join('')}Content-Length: 100\r\n\r\n{`);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('never finishes its handshake is cut off', async () => {
    const world = await open({ limits: { handshakeTimeout: 50 } });
    const socket = plainConnect({ host: '127.0.0.1', port: world.server.port });
    socket.on('error', () => undefined);
    await inTime('the end of the connection', once(socket, 'close'));
    expect(await counted(world, 'Handshake')).toBe(1);
  });

  test('is held to the bounds that are documented, where a server is given no others', async () => {
    const servers: object[] = [];
    const { replica } = await open();
    const guard = (made: object, maxConnections: number): void => void servers.push({ made, maxConnections });
    const certificate = await servingCertificate();
    const plain = await serveTls({ handle: replica.handle, guard, host: '127.0.0.1', port: 0, certificate });
    await plain.close(systemClock, 0);
    const times = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 100_000 };
    // In seconds: of a caller whose machine or network is gone no end would come.
    const probing = { keepAlive: true, keepAliveInitialDelay: 30 };
    expect(servers).toMatchObject([{ maxConnections: 1_500, made: { ...times, ...probing } }]);
    expect(LIMITS).toMatchObject({
      handshakeTimeout: 10_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16 * 1024,
    });
  });

  test('comes when there are as many as memory allows has room at the cost of the address with the most', async () => {
    const world = await open({ limits: { maxConnections: 3 } });
    const other = await world.socket('127.0.0.3');
    const [oldest, next] = [await world.socket('127.0.0.2'), await world.socket('127.0.0.2')];
    expect((await world.send('GET', '/ping')).status).toBe(200);
    await eventually(() => expect(oldest.destroyed).toBe(true));
    expect(await counted(world, 'Busy')).toBe(1);
    for (const socket of [other, next]) {
      socket.write('GET /ping HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 200 /);
    }
    await eventually(async () => expect(await world.connections()).toBe(0));
    expect(await counted(world, 'Busy')).toBe(1);
  });

  test('is none of those with the most is turned away where all have one', async () => {
    const world = await open({ limits: { maxConnections: 2 } });
    const kept = [await world.socket('127.0.0.2'), await world.socket('127.0.0.3')];
    await expect(world.send('GET', '/ping')).rejects.toThrow();
    expect(kept.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    for (const socket of kept) socket.destroy();
  });

  test('sends requests without waiting for answers is cut off at once, and has one begun at most', async () => {
    const world = await open();
    await world.world.addPod('web-1');
    const headers = Object.entries(world.identity()).map(([name, value]) => `${name}: ${value}\r\n`);
    const drain = `POST ${RESOURCE}/cordon-and-drain HTTP/1.1\r\nHost: a\r\n${headers.join('')}Content-Length: 0\r\n\r\n`;
    const socket = await world.socket();
    socket.write(drain.repeat(3_000));
    expect(await answerOn(socket)).toBe('');
    expect(await counted(world, 'TooManyRequests')).toBe(1);
    expect(world.replica.tap.requests.filter(({ path }) => path.endsWith('/tokenreviews')).length).toBeLessThanOrEqual(
      1,
    );
  });

  test('goes on with a request that is answered already gets no second answer to it', async () => {
    const socket = await (await open({ limits: IMPATIENT })).socket();
    socket.write(`${HEAD}Content-Length: 100\r\n\r\n{`);
    const answers = (await answerOn(socket)).match(/HTTP\/1\.1 \d+/g);
    expect(answers).toEqual(['HTTP/1.1 401']);
  });

  test('speaks no TLS gets nothing', async () => {
    const { server } = await open();
    const asked = plainRequest({ host: '127.0.0.1', port: server.port, path: '/ping' }).end();
    const [error] = (await inTime('the end of the connection', once(asked, 'error'))) as [NodeJS.ErrnoException];
    expect(error.code).toMatch(/ECONNRESET|HPE_INVALID_CONSTANT/);
  });

  test('states the length of its body in two ways is refused', async () => {
    const socket = await (await open()).socket();
    socket.write(`${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('sends a huge body is answered 413, and 401 before anything of it is read where nobody knows it', async () => {
    const world = await open();
    const body = ' '.repeat(8 << 20);
    const upload = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const target = {
          host: '127.0.0.1',
          port: world.server.port,
          servername: SERVICE,
          ca: ca.certPem,
          agent: false,
        };
        const outgoing = request({ ...target, method: 'PUT', path: RESOURCE, headers }, (incoming) => {
          resolve(incoming.resume().statusCode ?? 0);
          outgoing.destroy();
        });
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    expect(await upload(world.identity())).toBe(413);
    expect(await upload({ ...world.identity(), BrupopK8sAuthToken: 'x' })).toBe(401);
  });

  test('names a node as a path, or itself in headers that others believe, is not believed', async () => {
    const world = await open();
    const identity = world.identity();
    const traversal = { ...identity, BrupopNodeName: '../pods/x' };
    expect(await refusal(world.send('POST', RESOURCE, { headers: traversal }))).toBe('400 BadRequest');
    const forged = { 'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters', 'X-Remote-User': 'admin' };
    const { BrupopK8sAuthToken: _, ...nameless } = identity;
    const headers = { ...nameless, ...forged, Authorization: `Bearer ${world.token}` };
    expect(await refusal(world.send('POST', RESOURCE, { headers }))).toBe('401 Unauthorized');
    expect(await world.send('POST', RESOURCE, { headers: { ...identity, ...forged } })).toMatchObject({ status: 200 });
    expect(JSON.stringify(world.replica.tap.requests)).not.toMatch(/masters|admin/);
  });
});

describe('while tokens cannot be reviewed', () => {
  test.each([
    ['no answer', new UnreachableError('out'), '503 KubernetesUnavailable'],
    ['an internal error', apiStatusError('POST', { code: 500 }), '503 KubernetesUnavailable'],
    ['too many requests', apiStatusError('POST', { code: 429 }), '503 KubernetesUnavailable'],
    ['no permission', apiStatusError('POST', { code: 403 }), '502 KubernetesRefused'],
  ])('with %s nobody is let in, also who was known ten seconds ago', async (_, error, expected) => {
    const world = await open();
    const ask = () => world.send('POST', RESOURCE, { headers: world.identity() });
    expect(await ask()).toMatchObject({ status: 200 });
    world.replica.tap.before = ({ path }) => {
      if (path.endsWith('/tokenreviews')) throw error;
    };
    await world.world.clock.advance(10_000);
    expect(await refusal(ask())).toBe(expected);
  });
});

test('an error of the Kubernetes API during a token review goes to the log, and not to the caller', async () => {
  const lines: string[] = [];
  const write = (line: string): number => lines.push(line);
  const logger = createLogger({ format: 'json', ansi: false, level: 'trace', clock: new VirtualClock(), write });
  const world = await open({ logger });
  world.replica.tap.before = ({ path }) => {
    if (path.endsWith('/tokenreviews')) throw apiStatusError('POST', { code: 500, message: 'webhook at 10.0.3.7' });
  };
  const { body } = await world.send('POST', RESOURCE, { headers: world.identity() });
  const error = 'the Kubernetes API cannot say whose the token is';
  expect(JSON.parse(body)).toEqual({ error, reason: 'KubernetesUnavailable' });
  expect(lines.filter((line) => line.includes('webhook at 10.0.3.7'))).toHaveLength(1);
});

test('no token, and nothing of a body, is in any log line, whatever is refused', async () => {
  const lines: string[] = [];
  const write = (line: string): number => lines.push(line);
  const logger = createLogger({ format: 'json', ansi: false, level: 'trace', clock: new VirtualClock(), write });
  const world = await open({ logger });
  const headers = world.identity();
  await world.send('POST', RESOURCE, { headers: { ...headers, BrupopNodeUid: 'x' } });
  await world.send('PUT', RESOURCE, { headers, body: '{"secret-body": 1}' });
  await world.send('PUT', RESOURCE, { headers, body: '{"secret-body' });
  world.replica.tap.before = () => {
    throw new TypeError('unexpected');
  };
  await world.send('POST', `${RESOURCE}/cordon-and-drain`, { headers });
  const text = lines.join('');
  expect(lines.length).toBeGreaterThanOrEqual(4);
  expect(text).not.toContain(world.token);
  expect(text).not.toContain('secret-body');
});

test('a flood of refusals, and a request as long as it may be, leave the log short', async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): number => lines.push(JSON.parse(line) as Record<string, unknown>);
  const logger = createLogger({ format: 'json', ansi: false, level: 'trace', clock: new VirtualClock(), write });
  const world = await open({ logger });
  const long = { headers: { BrupopNodeName: 'n'.repeat(6_000) } };
  const flood = async (): Promise<void> => {
    for (let index = 0; index < 30; index++) await world.send('POST', `/${'p'.repeat(6_000)}`, long);
  };
  await flood();
  expect(lines).toHaveLength(20);
  expect(Math.max(...lines.map((line) => JSON.stringify(line).length))).toBeLessThan(1_000);
  await world.world.clock.advance(20_000);
  await world.send('GET', '/nothing');
  expect(lines.slice(20)).toMatchObject([{ path: '/nothing', reason: 'NotFound', left_out: 10 }]);
  // One that tells of a fleet is not crowded out by another.
  expect(await refusal(world.send('POST', RESOURCE))).toBe('401 Unauthorized');
  expect(lines.at(-1)).toMatchObject({ reason: 'Unauthorized' });
  expect(await counted(world, 'NotFound')).toBe(31);
});
