import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Fields, silentLogger } from '../../runtime/lib/log.ts';
import {
  type HttpAnswer,
  type HttpRoute,
  probeRoutes,
  retryAfterMs,
  serveHttp,
  textAnswer,
} from '../../runtime/lib/http.ts';
import { eventually } from '../contract/eventually.ts';
import { inTime } from '../in-time.ts';

let end: AbortController;
beforeEach(() => void (end = new AbortController()));
afterEach(() => end.abort());

test('probes and routes are served until the signal aborts', async () => {
  let ready = false;
  const failures: unknown[] = [];
  const logger = { ...silentLogger, error: (message: string, fields?: Fields) => failures.push([message, fields]) };
  const routes = {
    ...probeRoutes(() => ready),
    '/metrics': () => textAnswer(200, 'up 1'),
    '/broken': () => {
      throw new Error('secret');
    },
  };
  const { port } = await serveHttp({ port: 0, host: '127.0.0.1', routes, logger, signal: end.signal });
  const get = async (path: string, method = 'GET'): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  expect(await get('/healthz')).toBe('200 ok');
  expect(await get('/readyz')).toBe('503 not ready');
  ready = true;
  expect(await get('/readyz?verbose')).toBe('200 ok');
  expect(await get('/metrics')).toBe('200 up 1');
  expect(await get('/metrics', 'POST')).toBe('405 only GET and HEAD');
  expect(await get('/nothing')).toBe('404 not found');
  expect(await get('/broken')).toBe('500 failed');
  expect(failures).toEqual([['route failed', { path: '/broken', error: new Error('secret') }]]);
  await expect(serveHttp({ port, host: '127.0.0.1', routes, logger, signal: end.signal })).rejects.toThrow(
    'EADDRINUSE',
  );
  end.abort();
  await expect(get('/healthz')).rejects.toThrow();
});

async function served(routes: Readonly<Record<string, HttpRoute>>): Promise<number> {
  const { port } = await serveHttp({ port: 0, host: '127.0.0.1', routes, logger: silentLogger, signal: end.signal });
  return port;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('a probe is answered however many connections others hold, and as few as are needed are kept', async () => {
  const port = await served(probeRoutes(() => true));
  const held: Socket[] = [];
  for (let index = 0; index < 100; index++) held.push(await connected(port));
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  await eventually(async () => expect(held.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(16));
  for (const socket of held) socket.destroy();
});

test('one request of a connection is answered: what is sent ahead of its answer costs nothing', async () => {
  let asked = 0;
  const answered = Promise.withResolvers<HttpAnswer>();
  const port = await served({
    '/metrics': () => {
      asked++;
      return answered.promise;
    },
  });
  const socket = await connected(port);
  socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
  await eventually(async () => expect(asked).toBe(1));
  answered.resolve(textAnswer(200, 'up 1'));
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await inTime('the end of the connection', once(socket, 'close'));
  expect([text.match(/HTTP\/1\.1 200/g)?.length, asked]).toEqual([1, 1]);
});

test('Retry-After is seconds, or a time that may be over; whatever else it says is nothing', () => {
  const now = Date.parse('2026-01-10T12:00:00Z');
  const read = (text?: string) => retryAfterMs(text, now);
  expect([read('0'), read('7'), read('31536000')]).toEqual([0, 7000, 31_536_000_000]);
  expect([read('Sat, 10 Jan 2026 12:02:00 GMT'), read('Saturday, 10-Jan-26 12:02:00 GMT')]).toEqual([120_000, 120_000]);
  expect(read('Sat, 10 Jan 2026 11:58:00 GMT')).toBe(0);
  for (const text of [undefined, '', '-5', '1.5', 'soon', 'soon 5', 'at noon GMT', '9999999999'])
    expect([text, read(text)]).toEqual([text, undefined]);
});
