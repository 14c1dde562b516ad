import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { DashboardServer } from '../../../runtime/cli/dashboard/server.ts';
import { Messages } from '../../../runtime/cli/dashboard/stream.ts';
import type { Model, NodeRow } from '../../../runtime/cli/dashboard/wire.ts';
import { inTime, until } from '../../in-time.ts';

/** Who gets what from the dashboard's server, and what becomes of those who listen badly. */

const TOKEN = 'secret-token';
const TICKET = 'secret-ticket';
const NOW = 7000;
const FILES = new Map([['/', { type: 'text/html', text: '<p>page</p>' }]]);

const row = (name: string, message = ''): NodeRow =>
  ({ name, family: 'f', standing: 'waiting', reason: 'WaitingForSlot', message }) as const;

/** Only the rows matter here. */
const model = (...nodes: readonly NodeRow[]): Model => ({
  sections: { events: [] } as unknown as Model['sections'],
  nodes,
});

let messages: Messages;
let server: DashboardServer;
beforeEach(async () => {
  messages = new Messages();
  messages.changed(model(row('a')), 1000);
  server = await DashboardServer.listening({
    port: 0,
    token: TOKEN,
    ticket: TICKET,
    files: FILES,
    whole: () => messages.whole,
    now: () => NOW,
    pastOf: async (node) => {
      if (node === 'gone') throw new Error('the cluster has no node gone');
      return { notKnown: [node], moments: [] };
    },
    explain: (error) => (error instanceof Error ? error.message : ''),
  });
});
afterEach(() => server.close());

interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const KNOWN = { authorization: `Bearer ${TOKEN}` };

async function begun(path: string, { method = 'GET', headers = KNOWN }: Asking = {}): Promise<IncomingMessage> {
  const asked = request({ port: server.port, host: '127.0.0.1', path, method, headers });
  asked.end();
  const [response] = (await inTime(`an answer to ${path}`, once(asked, 'response'))) as [IncomingMessage];
  return response;
}

async function answer(path: string, asking?: Asking) {
  const response = await begun(path, asking);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text, headers: response.headers };
}

describe('data', () => {
  test.each([
    ['without a token', 401, {}],
    ['with another token', 401, { authorization: 'Bearer secret-tokem' }],
    ['with the token as somebody else’s scheme', 401, { authorization: `Basic ${TOKEN}` }],
    ['under another name of this machine, as by DNS rebinding', 403, { ...KNOWN, host: 'evil.example' }],
    ['for a page of another origin', 403, { ...KNOWN, origin: 'http://evil.example' }],
    ['for another port of this machine', 403, { ...KNOWN, origin: 'http://127.0.0.1:1' }],
    ['for another site, as the browser says', 403, { ...KNOWN, 'sec-fetch-site': 'cross-site' }],
    ['for another port, as the browser says', 403, { ...KNOWN, 'sec-fetch-site': 'same-site' }],
  ])('is not there %s', async (_, status, headers) => {
    for (const path of ['/api/stream', '/api/nodes/a']) {
      const refused = await answer(path, { headers });
      expect(refused).toMatchObject({ status });
      expect(refused.text).not.toContain('WaitingForSlot');
    }
  });

  test('is served with the token, as 127.0.0.1 and as localhost', async () => {
    for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`]) {
      const headers = { ...KNOWN, host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
      expect(await answer('/api/nodes/a%2Fb', { headers })).toMatchObject({
        status: 200,
        text: JSON.stringify({ notKnown: ['a/b'], moments: [] }),
      });
    }
  });

  test('that cannot be had is said so, in words', async () => {
    expect(await answer('/api/nodes/gone')).toMatchObject({ status: 502, text: 'the cluster has no node gone\n' });
    expect(await answer('/api/nodes/%E0%A4%A')).toMatchObject({ status: 400 });
  });
});

test('the page says nothing of the cluster, and is not there under a name that is not this machine’s', async () => {
  expect(await answer('/', { headers: {} })).toMatchObject({ status: 200, text: '<p>page</p>' });
  expect(await answer('/?x', { headers: {} })).toMatchObject({ status: 200 });
  // A browser sends the cookies of all that runs on this machine, whatever its port.
  expect(await answer('/', { headers: { cookie: 'a'.repeat(12_000) } })).toMatchObject({ status: 200 });
  expect(await answer('/', { headers: { host: 'evil.example' } })).toMatchObject({ status: 403 });
  expect(await answer('/', { headers: { host: `127.0.0.1:${server.port + 1}` } })).toMatchObject({ status: 403 });
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])('nothing can be changed by %s', async (method) => {
  for (const path of ['/', '/api/stream', '/api/nodes/a'])
    expect(await answer(path, { method })).toMatchObject({ status: 405, headers: { allow: 'GET' } });
});

test.each(['/api', '/api/', '/api/nodes', '/index.html', '/..', '/.git/config', '//', '/%00'])(
  '%s is nothing',
  async (path) => {
    expect(await answer(path)).toMatchObject({ status: 404 });
  },
);

test('every answer keeps scripts of others out, and stays in no cache, no frame and no referrer', async () => {
  for (const path of ['/', '/api/nodes/a', '/nothing']) {
    const { headers } = await answer(path);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('it listens on this machine alone', () => {
  expect(server.url).toBe(`http://127.0.0.1:${server.port}/#token=${TOKEN}`);
});

test('a ticket gives the token once, is no token itself, and is as secret', async () => {
  expect(server.urlForOnce).toBe(`http://127.0.0.1:${server.port}/#ticket=${TICKET}`);
  const headers = { authorization: `Bearer ${TICKET}` };
  expect((await answer('/api/stream', { headers })).status).toBe(401);
  expect((await answer('/api/token')).status).toBe(401);
  expect((await answer('/api/token', { headers: { ...headers, origin: 'http://evil.example' } })).status).toBe(403);
  expect(await answer('/api/token', { headers })).toMatchObject({ status: 200, text: TOKEN });
  for (const again of [headers, {}, KNOWN]) expect((await answer('/api/token', { headers: again })).status).toBe(404);
});

/** Messages as they come. */
async function listening() {
  const response = await begun('/api/stream');
  const heard: { whole?: true; nodes: { name: string }[]; trouble?: string }[] = [];
  let text = '';
  response.on('data', (chunk: Buffer) => {
    const events = (text + chunk.toString()).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) heard.push(JSON.parse(event.replace('data: ', '')) as (typeof heard)[number]);
  });
  await until('the first message', () => heard.length > 0);
  return { heard, response };
}

describe('who listens', () => {
  test('is told all once, and then what has changed', async () => {
    const { heard, response } = await listening();
    expect(heard).toMatchObject([{ whole: true, at: 1000, nodes: [{ name: 'a' }] }]);
    server.send(messages.changed(model(row('a'), row('b')), 2000));
    server.send(messages.changed(model(row('b', 'other')), 3000));
    server.send(messages.failed('the cluster does not answer'));
    await until('four messages', () => heard.length === 4);
    expect(heard.slice(1)).toEqual([
      { now: NOW, at: 2000, sections: {}, nodes: [row('b')], gone: [] },
      { now: NOW, at: 3000, sections: {}, nodes: [row('b', 'other')], gone: ['a'] },
      { now: NOW, at: 3000, trouble: 'the cluster does not answer', sections: {}, nodes: [], gone: [] },
    ]);
    response.destroy();
  });

  test('and goes away is forgotten, so that others have room', async () => {
    for (let round = 0; round < 3; round++) {
      const all = await Promise.all(Array.from({ length: 16 }, listening));
      expect((await answer('/api/stream')).status).toBe(503);
      for (const { response } of all) response.destroy();
      await until('a place for another', async () => {
        const next = await begun('/api/stream');
        next.destroy();
        return next.statusCode !== 503;
      });
    }
  });

  test('and reads nothing holds no more than a message back, and is told all of it once it reads on', async () => {
    const socket = await unread();
    const large = 'x'.repeat(100_000);
    for (let at = 0; at < 2000; at++) server.send(messages.changed(model(row('a', `${at} ${large}`)), at));
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await until('the newest state', () => text.includes('"message":"1999 '));
    expect(text.length).toBeLessThan(20_000_000);
    expect(text.slice(text.lastIndexOf('data: '))).toContain('"whole":true');
    socket.destroy();
  });

  async function unread(): Promise<Socket> {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `GET /api/stream HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`,
    );
    await once(socket, 'readable');
    return socket;
  }

  test('is let go at the end', async () => {
    const { response } = await listening();
    const ended = once(response, 'close');
    await server.close();
    await inTime('the end of the stream', ended);
    // For what runs after each test.
    server = await DashboardServer.listening({ ...NOTHING });
  });
});

const NOTHING = {
  port: 0,
  token: TOKEN,
  ticket: TICKET,
  files: FILES,
  whole: () => messages.whole,
  now: () => NOW,
  pastOf: async () => ({ notKnown: [], moments: [] }),
  explain: () => '',
} as const;

test('a port that is taken is named', async () => {
  await expect(DashboardServer.listening({ ...NOTHING, port: server.port })).rejects.toThrow(
    `127.0.0.1:${server.port}`,
  );
});
