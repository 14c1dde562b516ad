import { describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import { evictionPort } from '../../runtime/kube/evictions.ts';
import { httpsTransport } from '../../runtime/kube/https.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { inTime, until } from '../in-time.ts';
import { serve, server } from './scripted.ts';
import { event, json } from './tls-server.ts';

const get = (path: string) => ({ method: 'GET', path }) as const;

describe('a request', () => {
  test('beyond the bound on connections waits in line, whatever watches there are', async () => {
    const asked: ServerResponse[] = [];
    const scripted = await serve(({ url }, response) => {
      if (!url.startsWith('/watched')) asked.push(response);
      else response.write(event('ADDED', '1'));
    });
    const transport = httpsTransport(scripted.access(), { userAgent: 'test', maxRequestSockets: 2 });
    const watches = [0, 1, 2].map(() => transport.watch({ path: '/watched' })[Symbol.asyncIterator]());
    await Promise.all(watches.map((watch) => watch.next()));
    const requests = [0, 1, 2, 3].map(() => transport.request(get('/asked')));
    const answerNext = async (): Promise<number> => {
      await until('a request', () => asked.length > 0);
      const waiting = asked.length;
      json(asked.shift()!, 200, {});
      return waiting;
    };
    for (let answered = 0; answered < 4; answered++) expect(await answerNext()).toBeLessThanOrEqual(2);
    await Promise.all(requests);
    expect(server.connections).toBe(5);
    for (const watch of watches) await watch.return?.();
  });

  test('waits for no eviction, of which there are only so many at a time', async () => {
    const late: ServerResponse[] = [];
    const scripted = await serve(({ url }, response) => {
      if (url.endsWith('/eviction')) late.push(response);
      else json(response, 200, {});
    });
    const bounds = { maxRequestSockets: 1, maxSlowSockets: 2 };
    const transport = httpsTransport(scripted.access(), { userAgent: 'test', ...bounds });
    const answerAll = (): void => late.splice(0).forEach((response) => json(response, 200, {}));
    const pods = ['a', 'b', 'c'].map((name) => ({ namespace: 'shop', name, uid: name }));
    const evictions = Promise.allSettled(pods.map((pod) => evictionPort(transport).evict(pod)));
    await until('two evictions', () => late.length === 2);
    await inTime('a request beside them', transport.request(get('/soon')));
    expect(server.connections).toBe(3);
    expect(late).toHaveLength(2);
    answerAll();
    await until('the third eviction', () => late.length > 0);
    answerAll();
    const accepted = { status: 'fulfilled', value: { kind: 'accepted' } };
    expect(await evictions).toEqual([accepted, accepted, accepted]);
    expect(server.connections).toBe(3);
  });
});

describe('a request in line for a connection', () => {
  /** After so long the one that has the connection is given up: what is over before has not waited for it. */
  const LONG_MS = 5_000;

  const givenUp: Record<string, (request: KubeRequest) => { request: KubeRequest; giveUp: () => void }> = {
    'its deadline': (request) => ({ request: { ...request, timeoutMs: 100 }, giveUp: () => undefined }),
    'an abort': (request) => {
      const cancel = new AbortController();
      return { request: { ...request, signal: cancel.signal }, giveUp: () => cancel.abort(new Error('enough')) };
    },
  };
  test.each(Object.entries(givenUp))('is over at %s, and is never sent', async (_, limited) => {
    const arrived = Promise.withResolvers<ServerResponse>();
    const scripted = await serve(({ url }, response) => {
      if (url === '/first') arrived.resolve(response);
      else json(response, 200, {});
    });
    const transport = httpsTransport(scripted.access(), { userAgent: 'test', maxRequestSockets: 1 });
    const { request, giveUp } = limited({ method: 'POST', path: '/second', body: {} });
    const first = transport.request({ ...get('/first'), timeoutMs: LONG_MS });
    const response = await inTime('the first request', arrived.promise);
    const second = expect(transport.request(request)).rejects.toThrow(UnreachableError);
    const others = Promise.all([first, transport.request(get('/third')), second]);
    setImmediate(giveUp);
    await Promise.race([second, others]);
    json(response, 200, {});
    await others;
    expect(server.seen.map(({ url }) => url)).toEqual(['/first', '/third']);
    expect(server.connections).toBe(1);
  });
});
