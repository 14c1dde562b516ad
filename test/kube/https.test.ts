import { describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { ConflictError, isDefinite, UnexpectedAnswerError, UnreachableError } from '../../runtime/kube/errors.ts';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { nodesOf } from '../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { inTime } from '../in-time.ts';
import { identity, serve, server, transportTo } from './scripted.ts';
import { collect, event, json, selfSigned } from './tls-server.ts';

const get = (path: string) => ({ method: 'GET', path }) as const;

describe('a request', () => {
  test('carries method, path, query, body, patch type, token and who asks', async () => {
    const transport = await transportTo((_, response) => json(response, 200, { ok: true }));
    const request = { method: 'PATCH', path: '/api/v1/nodes/n1', query: { a: 'b c' }, body: { spec: null } } as const;
    const answer = await transport.request({ ...request, contentType: 'application/merge-patch+json' });
    expect(answer).toEqual({ ok: true });
    expect(server.seen).toMatchObject([
      {
        method: 'PATCH',
        url: '/api/v1/nodes/n1?a=b+c',
        body: '{"spec":null}',
        headers: {
          'content-type': 'application/merge-patch+json',
          authorization: 'Bearer secret',
          'user-agent': expect.stringMatching(/^brupop-test\/\d/),
        },
      },
    ]);
  });

  test('goes below the path of a server that shares its address with others', async () => {
    const scripted = await serve(({ url }, response) =>
      url.includes('watch=') ? response.end(event('ADDED', '1')) : json(response, 200, {}),
    );
    const access = { ...scripted.access(), server: `${scripted.url}/k8s/clusters/c-1/` };
    const transport = httpsTransport(access, { userAgent: 'test' });
    await transport.request({ ...get('/api/v1/nodes'), query: { limit: '1' } });
    await collect(transport.watch({ path: '/api/v1/nodes' }));
    const below = '/k8s/clusters/c-1/api/v1/nodes';
    expect(scripted.seen.map(({ url }) => url)).toEqual([`${below}?limit=1`, `${below}?watch=true`]);
  });

  test('gives text as it came, where that is asked for', async () => {
    const transport = await transportTo((_, response) => response.end('2026-01-01T00:00:00Z begun\n'));
    const answer = await transport.request({ ...get('/api/v1/namespaces/n/pods/p/log'), text: true });
    expect(answer).toBe('2026-01-01T00:00:00Z begun\n');
    expect(server.seen[0]?.headers.accept).toBe('application/json, */*');
  });

  test('tells the time of the server’s clock', async () => {
    const date = 'Thu, 01 Jan 2026 00:00:07 GMT';
    const transport = await transportTo((_, response) => json(response.setHeader('date', date), 200, {}));
    const dates: number[] = [];
    await transport.request({ ...get('/api/v1/nodes'), onDate: (time) => dates.push(time) });
    expect(dates).toEqual([Date.parse(date)]);
  });

  test('uses the connection of the one before', async () => {
    const transport = await transportTo((_, response) => json(response, 200, {}));
    for (let i = 0; i < 3; i++) await transport.request(get('/api/v1/nodes'));
    expect(server.connections).toBe(1);
  });

  test('reads again once where the server closes a kept connection in the moment of its use', async () => {
    let dropped = 0;
    const transport = await transportTo((seen, response) => {
      if (seen.url === '/second' && dropped++ === 0) response.socket?.destroy();
      else json(response, 200, { url: seen.url });
    });
    await transport.request(get('/first'));
    await expect(transport.request(get('/second'))).resolves.toEqual({ url: '/second' });
  });

  test('never writes twice: a write whose connection broke has an unknown outcome', async () => {
    const transport = await transportTo((seen, response) => {
      if (seen.method === 'POST') response.socket?.destroy();
      else json(response, 200, {});
    });
    await transport.request(get('/first'));
    await expect(transport.request({ method: 'POST', path: '/second', body: {} })).rejects.toThrow(UnreachableError);
    expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('a token that is refused is read again, once', async () => {
    // Longer than what is read ahead.
    const refused = { message: 'x'.repeat(1 << 20) };
    await serve(({ headers }, response) => {
      if (headers.authorization === 'Bearer new') json(response, 200, {});
      else json(response, 401, refused);
    });
    const fresh: boolean[] = [];
    const access = {
      server: server.url,
      credentials: async (again = false) => {
        fresh.push(again);
        return { tls: { ca: identity.cert }, headers: { authorization: again ? 'Bearer new' : 'Bearer old' } };
      },
    };
    // With one connection: what it is answered first is read to its end, or nothing else would ever be sent.
    const transport = httpsTransport(access, { userAgent: 'test', maxRequestSockets: 1 });
    await inTime('the second answer', transport.request({ method: 'POST', path: '/x', body: { a: 1 } }));
    expect(fresh).toEqual([false, true]);
    expect(server.seen.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });
});

describe('a refusal', () => {
  test('is an error of its own class with what the Status says', async () => {
    const status = { kind: 'Status', code: 409, reason: 'Conflict', message: 'changed', details: { name: 'n1' } };
    const transport = await transportTo((_, response) => json(response, 409, status));
    const error = await transport.request(get('/api/v1/nodes/n1')).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({
      call: 'GET /api/v1/nodes/n1',
      status: { reason: 'Conflict', details: { name: 'n1' } },
    });
  });

  test('says when to come back, where the header alone says so', async () => {
    const transport = await transportTo((_, response) => {
      response.writeHead(429, { 'retry-after': '7' }).end('{}');
    });
    const error = await transport.request(get('/x')).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ status: { code: 429, details: { retryAfterSeconds: 7 } } });
  });

  const answer = (code: number, body: string): Promise<KubeTransport> =>
    transportTo((_, response) => response.writeHead(code).end(body));
  const status = (code: number): string => JSON.stringify({ kind: 'Status', code, reason: 'Said', message: 'no' });
  const page = '<html>Not Found</html>';
  test.each([
    ['a 403 of the API server', 403, status(403), true],
    ['its 422', 422, status(422), true],
    ['its 429', 429, status(429), true],
    ['its 500, as of a webhook that fails', 500, status(500), false],
    ['its 504', 504, status(504), false],
    ['its 408', 408, status(408), false],
    ['a 499', 499, status(499), false],
    ["a proxy's 403", 403, page, false],
    ["a proxy's 404", 404, page, false],
    ["a proxy's 409", 409, JSON.stringify({ error: 'conflict' }), false],
  ])('%s: whether it says that nothing was written', async (_name, code, body, definite) => {
    const transport = await answer(code, body);
    const error = await transport.request({ method: 'PATCH', path: '/x', body: {} }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ status: { code } });
    expect(isDefinite(error)).toBe(definite);
  });

  test('of a proxy says nothing of an object: neither that it is gone nor that it has changed', async () => {
    const nodes = nodesOf(await answer(404, page));
    await expect(nodes.get('n1')).rejects.toThrow(UnexpectedAnswerError);
  });

  test('of something that is no API server shows nothing of its body, nor of the query', async () => {
    const transport = await transportTo((_, response) => {
      response.writeHead(502).end('<html>secret page</html>');
    });
    const error = await transport.request({ ...get('/x'), query: { q: 'hidden' } }).catch((caught: unknown) => caught);
    expect(String(error)).toBe('UnexpectedAnswerError: GET /x: 502 Bad Gateway: no message');
  });
});

describe('no answer', () => {
  const failing: Record<string, (response: ServerResponse) => void> = {
    'a connection that breaks': (response) => response.socket?.destroy(),
    'an answer that breaks off': (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"half"');
      setImmediate(() => response.socket?.destroy());
    },
    'an answer that is not JSON': (response) => response.end('token=abc'),
    'an answer that is too large': (response) => json(response, 200, { text: 'x'.repeat(2000) }),
    'an answer that never comes': () => undefined,
    'an answer that never ends': (response) => response.writeHead(200).write('{'),
  };
  test.each(Object.entries(failing))('%s', async (_, fail) => {
    await serve((__, response) => fail(response));
    const transport = httpsTransport(server.access(), { userAgent: 'test', maxBodyBytes: 1000 });
    const error = await transport.request({ ...get('/x'), timeoutMs: 300 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(String(error)).not.toContain('token=abc');
  });

  test('a server whose certificate nobody signed', async () => {
    const other = await selfSigned();
    await serve((_, response) => json(response, 200, {}));
    const access = {
      ...server.access(),
      credentials: async () => ({ tls: { ca: other.cert }, headers: {} }),
    };
    await expect(httpsTransport(access, { userAgent: 'test' }).request(get('/x'))).rejects.toThrow(UnreachableError);
    expect(server.seen).toEqual([]);
  });

  test('an abort ends the request', async () => {
    const cancel = new AbortController();
    const transport = await transportTo(() => cancel.abort(new Error('enough')));
    await expect(transport.request({ ...get('/x'), signal: cancel.signal })).rejects.toThrow(UnreachableError);
  });

  test('an abort is told in words, though a DOMException has a number for its code', async () => {
    const transport = await transportTo(() => undefined);
    const reason = Object.assign(new Error('enough'), { code: DOMException.ABORT_ERR });
    const asked = transport.request({ ...get('/x'), signal: AbortSignal.abort(reason) });
    await expect(asked).rejects.toThrow('GET /x: enough');
    expect(server.seen).toEqual([]);
  });
});
