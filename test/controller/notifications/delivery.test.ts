import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { delivered } from '../../../runtime/controller/telling/notifications/delivery.ts';
import { type Clock, systemClock } from '../../../runtime/lib/clock.ts';
import type { NotificationTarget } from '../../../runtime/api/notifications/config.ts';
import type { Fact } from '../../../runtime/api/notifications/fact.ts';
import { folder } from '../../folder.ts';
import { inTime } from '../../in-time.ts';
import { type Identity, selfSigned } from '../../kube/tls-server.ts';
import { ConnectProxy, Receiver } from './receiver.ts';

const FACT: Fact = { id: 'i', kind: 'RolloutHalted', severity: 'warning', time: '2026-01-01T00:00:00Z', message: 'm' };
/** What nobody may see but the server that is told. */
const SECRET = 'hunter2';

let ends: (() => void)[];
beforeEach(() => {
  ends = [];
});
afterEach(() => {
  for (const end of ends) end();
});

/** A clock on which each deadline has passed after half a second. */
const hurried: Clock = { ...systemClock, sleep: (_, signal) => systemClock.sleep(500, signal) };

async function answering(answer: RequestListener, identity?: Identity): Promise<Receiver> {
  const receiver = await new Receiver(answer, identity).listen();
  ends.push(() => receiver.close());
  return receiver;
}

async function secret(files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(folder, 'a'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'a', name), text);
}

function told(target: Partial<NotificationTarget> = {}, clock: Clock = systemClock) {
  const full = { name: 'a', format: 'cloudevents', ...target } as const;
  const address = { dir: folder, cluster: 'c', target: full };
  return inTime('an outcome', delivered(FACT, address, { clock, signal: new AbortController().signal }));
}

test('a target gets the fact with the headers of its Secret, each time as the Secret is then', async () => {
  const receiver = await answering((_, response) => response.writeHead(202).end('ok'));
  await secret({
    url: `http://127.0.0.1:${receiver.port}/${SECRET}\n`,
    headers: `Authorization: Bearer ${SECRET}\nX-Team: a:b\nContent-Length: 1\n`,
  });
  expect(await told()).toEqual({ kind: 'accepted', status: 202 });
  await secret({ headers: '' });
  await told();
  const [first, second] = receiver.received;
  expect(first).toMatchObject({
    method: 'POST',
    path: `/${SECRET}`,
    headers: { authorization: `Bearer ${SECRET}`, 'x-team': 'a:b' },
  });
  expect(JSON.parse(first?.body ?? '')).toMatchObject({ specversion: '1.0', id: 'i' });
  expect(second?.headers.authorization).toBeUndefined();
});

describe('a server that is unkind', () => {
  const REDIRECT: RequestListener = (_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:1/${SECRET}` }).end();
  test.each<[string, RequestListener, object]>([
    [
      'fails',
      (_, response) => response.writeHead(500).end(SECRET),
      { kind: 'later', why: 'it answers 500', afterMs: 0 },
    ],
    [
      'is asked too often',
      (_, response) => response.writeHead(429, { 'retry-after': '7' }).end(),
      { kind: 'later', afterMs: 7000 },
    ],
    [
      'asks for a year',
      (_, response) => response.writeHead(503, { 'retry-after': '31536000' }).end(),
      { kind: 'later', afterMs: 3_600_000 },
    ],
    [
      'asks for nonsense',
      (_, response) => response.writeHead(425, { 'retry-after': 'soon' }).end(),
      { kind: 'later', afterMs: 0 },
    ],
    ['refuses', (_, response) => response.writeHead(404).end(SECRET), { kind: 'refused', why: 'it answers 404' }],
    ['redirects', REDIRECT, { kind: 'refused', why: 'it redirects (307), which is not followed' }],
    ['resets', (request) => request.socket.destroy(), { kind: 'later', why: 'no answer (ECONNRESET)' }],
    ['never answers', () => undefined, { kind: 'later', why: 'no answer in time' }],
    [
      'is no HTTP server',
      (request) => request.socket.end('SSH-2.0\r\n\r\n'),
      { kind: 'later', why: 'no answer (HPE_INVALID_CONSTANT)' },
    ],
    [
      'accepts, and resets in mid-body',
      (request, response) => {
        response.writeHead(200, { 'content-length': 10 }).write('ok', () => request.socket.destroy());
      },
      { kind: 'accepted', status: 200 },
    ],
    [
      'accepts, and talks without end',
      (_, response) => {
        response.writeHead(200);
        const talk = (): void =>
          void (response.writable && response.write('x'.repeat(65_536), () => setImmediate(talk)));
        talk();
      },
      { kind: 'accepted', status: 200 },
    ],
    ['accepts, and never ends', (_, response) => response.writeHead(200).write('o'), { kind: 'accepted', status: 200 }],
  ])('%s', async (_what, answer, outcome) => {
    const receiver = await answering(answer);
    await secret({ url: `http://127.0.0.1:${receiver.port}/${SECRET}`, headers: `Authorization: ${SECRET}` });
    const got = await told({}, hurried);
    expect(got).toMatchObject(outcome);
    expect(JSON.stringify(got)).not.toMatch(SECRET);
    expect(receiver.received).toHaveLength(1);
  });

  test('is not there', async () => {
    const receiver = await answering(() => undefined);
    await secret({ url: `http://127.0.0.1:${receiver.port}/${SECRET}` });
    receiver.close();
    expect(await told()).toEqual({ kind: 'later', why: 'nobody listens there', afterMs: 0 });
  });
});

describe('a Secret that cannot be used is told without what stands in it', () => {
  test.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['nothing', {}, /not there, or has no url/],
    ['no URL', { url: SECRET }, /url of its Secret is no URL/],
    ['a file', { url: `file:///${SECRET}` }, /url of its Secret is no URL/],
    ['no header', { url: 'http://x', headers: `A: b\n${SECRET}` }, /line 2 of the headers/],
    ['a header with a line break', { url: 'http://x', headers: `A: ${SECRET}\u0000` }, /line 1 of the headers/],
    ['a proxy that is none', { url: 'http://x', proxy: SECRET }, /proxy of its Secret is no URL/],
  ])('%s', async (_what, files, why) => {
    await secret(files);
    const outcome = await told();
    expect(outcome).toMatchObject({ kind: 'later', why: expect.stringMatching(why) });
    expect(JSON.stringify(outcome)).not.toMatch(SECRET);
  });
});

describe('over TLS', () => {
  test('nobody is told whose authority is not known, and the one that is named is', async () => {
    const [identity, other] = [await selfSigned(), await selfSigned()];
    const receiver = await answering((_, response) => response.end(), identity);
    await secret({ url: `https://127.0.0.1:${receiver.port}/` });
    expect(await told()).toMatchObject({ kind: 'later', why: expect.stringMatching(/CERT/) });
    expect(await told({ ca: other.cert })).toMatchObject({ kind: 'later' });
    expect(receiver.received).toEqual([]);
    expect(await told({ ca: identity.cert })).toEqual({ kind: 'accepted', status: 200 });
  });

  test('a proxy is gone through, which sees neither path nor headers', async () => {
    const identity = await selfSigned();
    const receiver = await answering((_, response) => response.end(), identity);
    const credentials = `Basic ${Buffer.from(`u:${SECRET}`).toString('base64')}`;
    const proxy = await new ConnectProxy((given) => given === credentials).listen();
    ends.push(() => proxy.close());
    await secret({ url: `https://127.0.0.1:${receiver.port}/${SECRET}` });
    const target = { ca: identity.cert, proxy: `http://${proxy.address}` };
    expect(await told(target)).toEqual({ kind: 'later', why: 'the proxy does not let it through', afterMs: 0 });
    await secret({ proxy: `http://u:${SECRET}@${proxy.address}` });
    expect(await told(target)).toEqual({ kind: 'accepted', status: 200 });
    expect(proxy.asked).toEqual([`127.0.0.1:${receiver.port}`, `127.0.0.1:${receiver.port}`]);
    expect(receiver.received).toHaveLength(1);
  });
});
