import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type ClientRequest, request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { connect as plainConnect } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { MemoryBound } from '../../runtime/apiserver/http/memory-bound.ts';
import { LIMITS, serveTls } from '../../runtime/apiserver/serve.ts';
import { apiStatusError, UnreachableError } from '../../runtime/kube/errors.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { createLogger } from '../../runtime/lib/log.ts';
import { VirtualClock } from '../../sim/clock.ts';
import { ca, HttpsWorld, type HttpsSettings, refusal, RESOURCE, SERVICE, servingCertificate } from './https-world.ts';

let https: HttpsWorld | undefined;

async function open(settings: HttpsSettings = {}): Promise<HttpsWorld> {
  https = await HttpsWorld.create(settings);
  return https;
}

afterEach(async () => {
  await https?.close();
  https = undefined;
});

async function socketTo({ server }: HttpsWorld): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: ca.certPem, servername: SERVICE });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** All that the server sends until it closes the connection. */
async function answerOn(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await once(socket, 'close');
  return text;
}

/** Refusals with this reason, as the metric counts them. */
async function counted(world: HttpsWorld | undefined, reason: string): Promise<number | undefined> {
  const refusals = await world?.replica.metrics.refusals.get();
  return refusals?.values.find(({ labels }) => labels.reason === reason)?.value;
}

/** A conversion that is refused while it is still sent; its sender may see nothing but the end of the connection. */
const REFUSED = 503;

/** Sends a part of a conversion, which is over once `outgoing` ends. */
function convertPart({ server }: HttpsWorld, part: Buffer): { outgoing: ClientRequest; status: Promise<number> } {
  const target = { host: '127.0.0.1', port: server.port, servername: SERVICE, ca: ca.certPem, agent: false };
  const outgoing = request({ ...target, method: 'POST', path: '/crdconvert' });
  const status = new Promise<number>((resolve) => {
    outgoing.on('response', (incoming) => resolve(incoming.resume().statusCode ?? 0));
    outgoing.on('error', () => resolve(REFUSED));
  });
  outgoing.write(part);
  return { outgoing, status };
}

const HEAD = `PUT ${RESOURCE} HTTP/1.1\r\nHost: a\r\n`;
const IMPATIENT = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };

describe('a client that', () => {
  test('sends its headers slowly is cut off', async () => {
    const socket = await socketTo(await open({ limits: IMPATIENT }));
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
    const socket = await socketTo(world);
    socket.write(sent);
    const [head = '', body = ''] = (await answerOn(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(body)).toEqual({ error: expect.any(String), reason });
    expect(await counted(world, reason)).toBe(1);
    expect(lines.filter((line) => line.includes('connection refused'))).toHaveLength(1);
  });

  test('sends its body slowly is cut off', async () => {
    const world = await open({ limits: IMPATIENT });
    const socket = await socketTo(world);
    const headers = Object.entries(world.identity()).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${HEAD}${headers.join('')}Content-Length: 100\r\n\r\n{`);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('never finishes its handshake is cut off', async () => {
    const { server } = await open({ limits: { handshakeTimeout: 50 } });
    const socket = plainConnect({ host: '127.0.0.1', port: server.port });
    socket.on('error', () => undefined);
    await once(socket, 'close');
    expect(await counted(https, 'Handshake')).toBe(1);
  });

  test('is held to the bounds that are documented, where a server is given no others', async () => {
    const servers: object[] = [];
    const { replica } = await open();
    const refuseStrangers = (made: object): void => void servers.push(made);
    const certificate = await servingCertificate();
    const plain = await serveTls({ handle: replica.handle, refuseStrangers, host: '127.0.0.1', port: 0, certificate });
    await plain.close(systemClock, 0);
    expect(servers).toMatchObject([{ headersTimeout: 10_000, requestTimeout: 30_000, maxConnections: 1_500 }]);
    expect(LIMITS).toMatchObject({
      handshakeTimeout: 10_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16 * 1024,
    });
  });

  test('comes when there are as many as memory allows is turned away, and those before it go on', async () => {
    const world = await open({ limits: { maxConnections: 2 } });
    const [first, second] = [await socketTo(world), await socketTo(world)];
    await expect(world.send('GET', '/ping')).rejects.toThrow();
    expect(await counted(world, 'Busy')).toBe(1);
    first.write('GET /ping HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await answerOn(first)).toMatch(/^HTTP\/1\.1 200 /);
    expect((await world.send('GET', '/ping')).status).toBe(200);
    second.destroy();
  });

  test('speaks no TLS gets nothing', async () => {
    const { server } = await open();
    const asked = plainRequest({ host: '127.0.0.1', port: server.port, path: '/ping' }).end();
    const [error] = (await once(asked, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toMatch(/ECONNRESET|HPE_INVALID_CONSTANT/);
  });

  test('states the length of its body in two ways is refused', async () => {
    const socket = await socketTo(await open());
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

test('what the Kubernetes API says of itself while a token is reviewed is for the log, and not for the stranger who sent it', async () => {
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

describe('conversions, which anybody may ask for,', () => {
  test('keep no more in memory than the bound, and give it back', async () => {
    const bound = new MemoryBound(100);
    const first = Promise.withResolvers<void>();
    const holding = bound.run(async (keep) => {
      keep(60);
      await first.promise;
    });
    await expect(bound.run(async (keep) => keep(60))).rejects.toMatchObject({ status: 503, reason: 'Busy' });
    await bound.run(async (keep) => keep(40));
    first.resolve();
    await holding;
    await bound.run(async (keep) => keep(100));
  });

  test('that are refused make way at once, so that not all are refused together', async () => {
    const bound = new MemoryBound(100);
    const refused = bound.run(async (keep) => {
      keep(60);
      expect(() => keep(60)).toThrow('too many large requests');
      await bound.run(async (other) => other(100));
      throw new Error('the end');
    });
    await expect(refused).rejects.toThrow('the end');
    await bound.run(async (keep) => keep(100));
  });

  test('are refused while others hold the memory, and answered once those are gone', async () => {
    const world = await open({ limits: { requestTimeout: 300_000 } });
    const most = Buffer.alloc(32 << 20, ' ');
    // Two of the three fit. Whichever comes to the bound first is refused, and makes way for the others.
    const uploads = [0, 1, 2].map(() => convertPart(world, most));
    expect(await Promise.race(uploads.map(({ status }) => status))).toBe(REFUSED);
    for (const { outgoing } of uploads) outgoing.end();
    const statuses = await Promise.all(uploads.map(({ status }) => status));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, REFUSED]);
    expect((await world.send('POST', '/crdconvert', { body: ' '.repeat(most.length) })).status).toBe(200);
    const refusals = (await world.replica.metrics.refusals.get()).values;
    expect(refusals).toContainEqual({ labels: { reason: 'Busy' }, value: 1 });
    // A hundred megabytes over TLS, in one process: a busy machine takes its time.
  }, 60_000);
});
