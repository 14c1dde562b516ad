import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { GoneError, UnreachableError } from '../../runtime/kube/errors.ts';
import { httpsTransport } from '../../runtime/kube/https.ts';
import type { WatchEvent } from '../../runtime/kube/transport.ts';
import { inTime } from '../in-time.ts';
import { serve, server, transportTo } from './scripted.ts';
import { collect, event, json } from './tls-server.ts';

/** Until the system asks whether the other end of our connection to `port` is there, by its own table of connections. */
function keepaliveSeconds(port: number): number {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/self/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const timer = rows.find(([, , to, state]) => to === remote && state === '01')?.[5];
  const [kind, ticks = ''] = timer?.split(':') ?? [];
  if (kind !== '02') throw new Error(`no keepalive timer on a connection to ${remote}: ${timer}`);
  return Number.parseInt(ticks, 16) / 100;
}

describe('a watch', () => {
  test('reads events however they are cut, multi-byte letters included', async () => {
    const bytes = Buffer.from(event('ADDED', '1') + event('MODIFIED', '2', 'nöde-✓') + event('BOOKMARK', '3'));
    const transport = await transportTo((_, response) => {
      void (async () => {
        for (const byte of bytes) {
          response.write(Buffer.from([byte]));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      })();
    });
    const events = await collect(transport.watch({ path: '/api/v1/nodes', query: { resourceVersion: '0' } }));
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'BOOKMARK']);
    expect(events[1]).toMatchObject({ object: { metadata: { name: 'nöde-✓' } } });
    expect(server.seen[0]?.url).toBe('/api/v1/nodes?resourceVersion=0&watch=true');
  });

  test('whose version is too old says so, as an answer or as an event', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    const transport = await transportTo(({ url }, response) => {
      if (url.startsWith('/answer')) json(response, 410, status);
      else response.end(JSON.stringify({ type: 'ERROR', object: status }));
    });
    await expect(collect(transport.watch({ path: '/answer' }))).rejects.toThrow(GoneError);
    await expect(collect(transport.watch({ path: '/event' }))).rejects.toThrow(GoneError);
  });

  test('that falls silent is dead', async () => {
    const transport = await transportTo((_, response) => response.write(event('ADDED', '1')));
    const seen: WatchEvent[] = [];
    const watching = (async () => {
      for await (const one of transport.watch({ path: '/x', inactivityMs: 200 })) seen.push(one);
    })();
    await expect(inTime('the end of the watch', watching)).rejects.toThrow(UnreachableError);
    expect(seen).toHaveLength(1);
  });

  test('that is never answered is dead', async () => {
    const transport = await transportTo(() => undefined);
    const watching = collect(transport.watch({ path: '/x', inactivityMs: 200 }));
    await expect(inTime('the end of the watch', watching)).rejects.toThrow(UnreachableError);
  });

  test('whose server accepts the connection and no more is dead', async () => {
    const mute = createServer();
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as AddressInfo;
    const access = { ...(await serve(() => undefined)).access(), server: `https://127.0.0.1:${port}` };
    const watch = httpsTransport(access, { userAgent: 'test' }).watch({ path: '/x', inactivityMs: 200 });
    await expect(inTime('the end of the watch', collect(watch))).rejects.toThrow(UnreachableError);
    mute.close();
  });

  const { platform } = process;
  (platform === 'linux' ? test : test.skip)('that idles sends next to nothing', async () => {
    const transport = await transportTo((_, response) => response.write(event('ADDED', '1')));
    const watch = transport.watch({ path: '/x' })[Symbol.asyncIterator]();
    await watch.next();
    const port = Number(new URL(server.url).port);
    expect(keepaliveSeconds(port)).toBeGreaterThan(15);
    await watch.return?.(undefined);
  });

  test('says when it is open, and has a new connection: a load balancer leads that to a server that is ready', async () => {
    const opened: number[] = [];
    const transport = await transportTo(({ url }, response) => {
      if (url.startsWith('/refused')) json(response, 503, { kind: 'Status', code: 503 });
      else response.end(event('ADDED', '1'));
    });
    const onOpen = (): void => void opened.push(server.connections);
    for (const path of ['/a', '/b']) await collect(transport.watch({ path, onOpen }));
    await expect(collect(transport.watch({ path: '/refused', onOpen }))).rejects.toThrow();
    expect(opened).toEqual([1, 2]);
  });

  test('whose connection breaks is no answer, not an end', async () => {
    const transport = await transportTo((_, response) => {
      response.write(event('ADDED', '1'));
      setImmediate(() => response.socket?.destroy());
    });
    await expect(collect(transport.watch({ path: '/x' }))).rejects.toThrow(UnreachableError);
  });

  test('ends quietly at an abort, and closes its connection when its consumer has enough', async () => {
    const closed: Promise<void>[] = [];
    const transport = await transportTo((_, response) => {
      closed.push(new Promise((resolve) => response.on('close', resolve)));
      response.write(event('ADDED', '1'));
    });
    const cancel = new AbortController();
    for await (const one of transport.watch({ path: '/x', signal: cancel.signal })) {
      expect(one.type).toBe('ADDED');
      cancel.abort();
    }
    for await (const one of transport.watch({ path: '/x' })) if (one.type === 'ADDED') break;
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });
});
