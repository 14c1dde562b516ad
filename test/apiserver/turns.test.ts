import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { duplexPair } from 'node:stream';
import { ConnectionGuard } from '../../runtime/apiserver/http/connections.ts';
import { RefusalLog } from '../../runtime/apiserver/http/refusal-log.ts';
import { Metrics } from '../../runtime/apiserver/metrics.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { settle, VirtualClock } from '../../lab/sim/clock.ts';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test('an answer counts until it is read: the next request of the connection waits for that, and another one ends it', async () => {
  const begun: (string | undefined)[] = [];
  const refusals = new RefusalLog({ metrics: new Metrics(), clock: new VirtualClock(), logger: silentLogger });
  const handle = new ConnectionGuard(refusals).inTurn(async ({ url }, response) => {
    begun.push(url);
    response.end('x'.repeat(100_000));
  });
  const server = createServer((request, response) => void handle(request, response));
  const [client, accepted] = duplexPair();
  server.emit('connection', accepted);
  client.on('error', () => undefined).write(get('/1') + get('/2'));
  await settle();
  expect(begun).toEqual(['/1']);
  client.resume();
  await settle();
  expect(begun).toEqual(['/1', '/2']);
  client.pause().write(get('/3') + get('/4'));
  await settle();
  client.write(get('/5'));
  await settle();
  expect([begun.slice(2), accepted.destroyed]).toEqual([['/3'], true]);
});
