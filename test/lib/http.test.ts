import { afterEach, expect, test } from '@jest/globals';
import { type Fields, silentLogger } from '../../runtime/lib/log.ts';
import { probeRoutes, serveHttp, textAnswer } from '../../runtime/lib/http.ts';

const end = new AbortController();
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
