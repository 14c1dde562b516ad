import { beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VirtualClock } from '../../../sim/clock.ts';
import { askOverHttp, followProbe, untilReady } from '../../../sim/world/probes.ts';

const PROBE = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };

let clock: VirtualClock;
let answer: (signal: AbortSignal) => Promise<boolean>;
let told: (readonly [second: number, well: boolean])[];

beforeEach(() => {
  clock = new VirtualClock();
  answer = async () => true;
  told = [];
});

function follow(probe: object = PROBE, signal = new AbortController().signal): Promise<void> {
  const changed = (well: boolean): void => void told.push([clock.monotonic() / 1000, well]);
  return followProbe({ probe, clock, ask: (asked) => answer(asked), changed }, signal);
}

test('three probes in a row that fail are one change, and one that succeeds is the next', async () => {
  void follow();
  answer = async () => false;
  await clock.advance(25_000);
  answer = async () => true;
  await clock.advance(10_000);
  answer = () => Promise.reject(new Error('refused'));
  await clock.advance(35_000);
  answer = async () => true;
  await clock.advance(100_000);
  expect(told).toEqual([
    [60, false],
    [80, true],
  ]);
});

test('a probe that is not answered in time has failed', async () => {
  void follow();
  answer = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('late'))));
  await clock.advance(60_000);
  expect(told).toEqual([[45, false]]);
});

test('a container has its initial delay', async () => {
  void follow({ ...PROBE, initialDelaySeconds: 7 });
  answer = async () => false;
  await clock.advance(60_000);
  expect(told).toEqual([[37, false]]);
});

test('nobody is asked once the container is gone', async () => {
  const gone = new AbortController();
  const followed = follow(PROBE, gone.signal);
  answer = async () => false;
  await clock.advance(25_000);
  gone.abort(new Error('gone'));
  await followed;
  await clock.advance(60_000);
  expect(told).toEqual([]);
});

test('a container is ready with the first probe that succeeds, whatever its period', async () => {
  let ready = false;
  answer = async () => false;
  const probing = { probe: PROBE, clock, ask: (asked: AbortSignal) => answer(asked) };
  void untilReady(probing, new AbortController().signal).then(() => (ready = true));
  await clock.advance(1000);
  expect(ready).toBe(false);
  answer = async () => true;
  await clock.advance(100);
  expect(ready).toBe(true);
});

test('over HTTP a success is an answer below 400 at the path and the port that the probe names', async () => {
  const server = createServer(({ url }, response) => {
    response.writeHead(Number(url?.slice(1)), { location: '/500' }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = (path: string, named: string): Promise<boolean> =>
    askOverHttp({ httpGet: { path, port: named } }, (name) => (name === 'http' ? port : undefined))(
      new AbortController().signal,
    );
  const answers = await Promise.all(['/200', '/302', '/404', '/503'].map((path) => ask(path, 'http')));
  expect(answers).toEqual([true, true, false, false]);
  expect(await ask('/200', 'api')).toBe(false);
  server.closeAllConnections();
  await once(server.close(), 'close');
  await expect(ask('/200', 'http')).rejects.toThrow('fetch failed');
});
