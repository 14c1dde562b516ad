import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GithubReleases } from '../../../runtime/controller/k3os/releases.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { seeded } from '../../random.ts';

const repository = 'rancher/k3os';
const NOW = Date.parse('2026-01-10T12:00:00Z');
/** It stands still; only sleeps are real. */
const clock = { ...systemClock, now: () => NOW, monotonic: () => 0, sleep: systemClock.sleep.bind(systemClock) };
let server: Server;
let asked: string[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  answer = (_, response) => response.writeHead(status, headers).end(JSON.stringify(body));
};
const source = (baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`) =>
  new GithubReleases({ baseUrl, clock, random: () => 0.5 });
const ask = (tag?: string, releases = source()) => releases.ask({ repository, tag }, new AbortController().signal);
const waits = (result: object) => (result as { retryAt: number }).retryAt - NOW;

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test('the newest release is asked for as GitHub has it, and so is one by its tag', async () => {
  json(200, { tag_name: 'v0.12.0' });
  expect(await ask()).toEqual({ kind: 'found', tag: 'v0.12.0' });
  expect(await ask('v0.12.0')).toEqual({ kind: 'found', tag: 'v0.12.0' });
  expect(asked).toEqual(['GET /repos/rancher/k3os/releases/latest', 'GET /repos/rancher/k3os/releases/tags/v0.12.0']);
});

test('a repository that was renamed is followed on the same server, and nowhere else', async () => {
  answer = (request, response) => {
    if (request.url?.startsWith('/repositories/')) response.end('{"tag_name":"v0.12.0"}');
    else response.writeHead(301, { location: '/repositories/7/releases/latest' }).end();
  };
  expect(await ask()).toEqual({ kind: 'found', tag: 'v0.12.0' });
  answer = (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
  expect(await ask()).toMatchObject({ kind: 'failed', message: expect.stringContaining('redirects elsewhere') });
  answer = (request, response) => void response.writeHead(302, { location: request.url }).end();
  expect(await ask()).toMatchObject({ kind: 'failed' });
});

describe('what is not there is known not to be', () => {
  test.each([
    [undefined, 'rancher/k3os has no release'],
    ['v9.9.9', 'rancher/k3os has no release v9.9.9'],
  ])('%s', async (tag, message) => {
    json(404, { message: 'Not Found' });
    const result = await ask(tag);
    expect(result).toMatchObject({ kind: 'missing', message });
    expect(waits(result)).toBe(900_000);
  });

  test('as is a newest release whose name is no version', async () => {
    json(200, { tag_name: 'nightly' });
    expect(await ask()).toMatchObject({ kind: 'missing', message: expect.stringContaining('nightly') });
  });
});

describe('a source that limits requests is left alone for as long as it says', () => {
  const reset = String(NOW / 1000 + 1800);
  test.each<[number, Record<string, string>, number]>([
    [429, { 'retry-after': '120' }, 120_000],
    [403, { 'retry-after': '120' }, 120_000],
    [403, { 'retry-after': new Date(NOW + 120_000).toUTCString() }, 120_000],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, 1_800_000],
    [429, {}, 60_000],
    // Clocks differ, and nobody waits for a year.
    [429, { 'retry-after': '1' }, 60_000],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }, 60_000],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999999' }, 3_600_000],
  ])('%s %j: %s ms', async (status, headers, ms) => {
    json(status, {}, headers);
    const result = await ask();
    expect(result).toMatchObject({ kind: 'failed', message: expect.stringContaining('may not be asked for so often') });
    expect(waits(result)).toBe(ms);
  });
});

describe('an answer that says nothing is no answer', () => {
  test.each<[string, () => void]>([
    ['500', () => json(500, {})],
    ['403 without a limit', () => json(403, { message: 'Forbidden' })],
    ['no JSON', () => (answer = (_, response) => void response.end('<html>'))],
    ['no tag', () => json(200, { tag_name: 7 })],
    ['null', () => json(200, null)],
    ['cut off', () => (answer = (_, response) => void response.writeHead(200, { 'content-length': '99' }).end('{'))],
    ['reset', () => (answer = (request) => void request.socket.destroy())],
  ])('%s', async (_, prepare) => {
    prepare();
    expect(await ask()).toMatchObject({ kind: 'failed', message: expect.stringContaining('cannot be read') });
  });

  test('a release of another name', async () => {
    json(200, { tag_name: 'v0.11.0' });
    expect(await ask('v0.12.0')).toMatchObject({ kind: 'failed' });
  });

  test('an endless one', async () => {
    answer = (_, response) => {
      const more = (): void => void (response.destroyed || response.write('x'.repeat(1024 * 1024), more));
      more();
    };
    expect(await ask()).toMatchObject({ kind: 'failed', message: expect.stringContaining('too long') });
  });

  test('and after each the next comes later, until there is one', async () => {
    const releases = source();
    json(500, {});
    const pauses = [await ask(undefined, releases), await ask(undefined, releases), await ask(undefined, releases)];
    expect(pauses.map(waits)).toEqual([5000, 10_000, 20_000]);
    json(200, { tag_name: 'v0.12.0' });
    await ask(undefined, releases);
    json(500, {});
    expect(waits(await ask(undefined, releases))).toBe(5000);
  });
});

test('a source that hangs is given up after ten seconds, and its words stay the same', async () => {
  const virtual = new VirtualClock();
  let isAsked = (): void => undefined;
  const arrives = new Promise<void>((resolve) => (isAsked = resolve));
  answer = () => isAsked();
  const { port } = server.address() as AddressInfo;
  const releases = new GithubReleases({ baseUrl: `http://127.0.0.1:${port}`, clock: virtual, random: seeded(1) });
  const result = ask(undefined, releases);
  await arrives;
  await virtual.advance(10_000);
  expect(await result).toMatchObject({ kind: 'failed', message: expect.stringContaining('no answer in time') });
});

test('nobody listens', async () => {
  const releases = source();
  server.close();
  expect(await ask(undefined, releases)).toMatchObject({
    kind: 'failed',
    message: 'the releases of rancher/k3os cannot be read: no answer (ECONNREFUSED)',
  });
});
