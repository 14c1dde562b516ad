import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer as createProxy, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NOTHING_SEEN, type Reading, READING_MS, type Request } from '../../runtime/repositories/protocol.ts';
import { readRepository } from '../../runtime/repositories/read.ts';
import { type Answer, served } from '../../lab/sim/repository/served.ts';
import { filesOf, newKey, rootText } from '../../lab/sim/repository/signed.ts';

const folder = mkdtempSync(join(tmpdir(), 'repositories-'));
const server = await served();
const pair = newKey();
const MANIFEST = JSON.stringify({
  updates: [
    {
      variant: 'aws-k8s-1.33',
      arch: 'x86_64',
      version: '1.45.0',
      max_version: '1.45.0',
      waves: { 20: '2026-08-25T21:00:00Z', 0: '2026-08-25T18:00:00Z' },
      images: {},
    },
    { variant: 'aws-k8s-1.33', arch: 'x86_64', version: '1.44.0', max_version: '1.45.0', waves: {} },
    { variant: 'aws-k8s-1.33', arch: 'aarch64', version: '1.46.0', max_version: '1.46.0', waves: {} },
    { variant: 'aws-k8s-1.33', arch: 'x86_64', version: 'not one', waves: {} },
    { variant: 'aws-k8s-1.33', arch: 'x86_64', version: '1.47.0', waves: { 0: 'soon' } },
  ],
});

const request = (more: Partial<Request> = {}): Request => ({
  metadata: `${server.url}/metadata/`,
  targets: `${server.url}/targets`,
  root: rootText(1, pair),
  variant: 'aws-k8s-1.33',
  arch: 'x86_64',
  seen: NOTHING_SEEN,
  folder,
  ca: server.ca,
  ...more,
});

const read = (more?: Partial<Request>): Promise<Reading> => readRepository(request(more), { env: {} });
const files = (more: Partial<Parameters<typeof filesOf>[0]> = {}) => filesOf({ pair, manifest: MANIFEST, ...more });
const failed = (why: string) => ({ kind: 'failed', why: expect.stringContaining(why) });

beforeEach(() => {
  server.files = files();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('of a signed repository', () => {
  test('the versions of one variant and architecture are read, and nothing is left in the folder', async () => {
    expect(await read()).toMatchObject({
      kind: 'read',
      versions: [
        {
          version: '1.45.0',
          maxVersion: '1.45.0',
          waves: [
            { seed: 0, at: Date.parse('2026-08-25T18:00:00Z') },
            { seed: 20, at: Date.parse('2026-08-25T21:00:00Z') },
          ],
        },
        { version: '1.44.0', waves: [] },
      ],
      seen: { timestamp: 1, snapshot: 1, targets: 1 },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a rotated root is followed, and remembered', async () => {
    const next = newKey();
    const second = rootText(2, next, pair);
    server.files = new Map([...filesOf({ pair: next, manifest: MANIFEST }), ['/metadata/2.root.json', second]]);
    const reading = await read();
    expect(reading).toMatchObject({ kind: 'read', root: second });
    server.files = filesOf({ pair: next, manifest: MANIFEST });
    expect(await read({ root: second })).toMatchObject({ kind: 'read' });
  });

  test('the root at an address is taken by its SHA-512 alone', async () => {
    const text = rootText(1, pair);
    server.files = new Map([...files(), ['/root.json', text]]);
    const url = `${server.url}/root.json`;
    const sha512 = createHash('sha512').update(text).digest('hex');
    expect(await read({ root: { url, sha512 } })).toMatchObject({ kind: 'read' });
    expect(await read({ root: { url, sha512: 'f'.repeat(128) } })).toEqual(failed('is not that of rootSha512'));
  });
});

const with1 = (path: string, answer: string | Answer) => () => {
  server.files = new Map([...files(), [path, answer]]);
};
const TIMESTAMP = '/metadata/timestamp.json';
const chunk = Buffer.alloc(1024 * 1024, ' ');
const endless: Answer = (_, response) => {
  response.writeHead(200);
  let sent = 0;
  const more = (): void => {
    while (sent < 100) {
      sent += 1;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
};

describe('nothing is believed of a repository', () => {
  test.each<[string, () => void, string, Partial<Request>?]>([
    [
      'whose root is signed by others',
      () => (server.files = new Map([...files(), ['/metadata/2.root.json', rootText(2, newKey())]])),
      'root',
    ],
    ['that others have signed', () => (server.files = filesOf({ pair: newKey(), manifest: MANIFEST })), 'sign'],
    ['whose timestamp has expired', () => (server.files = files({ days: -1 })), 'expired'],
    [
      'that was rolled back',
      () => undefined,
      'rolled back: its timestamp is version 1, and was 2',
      { seen: { timestamp: 2, snapshot: 1, targets: 1 } },
    ],
    ['whose manifest has another hash', () => (server.files = files({ sha256: 'a'.repeat(64) })), 'hash'],
    ['with a file of 100 MB', with1(TIMESTAMP, endless), 'more than 4 MiB'],
    [
      'that redirects',
      with1(TIMESTAMP, (_, response) => response.writeHead(302, { location: '/elsewhere' }).end()),
      'it redirects (302)',
    ],
    ['that is out of order', with1(TIMESTAMP, (_, response) => response.writeHead(503).end()), 'timestamp.json: 503'],
    ['that has no manifest', with1(TIMESTAMP, '{'), 'JSON'],
    ['over plain HTTP', () => undefined, 'https:// alone', { metadata: 'http://localhost/metadata' }],
    [
      'at an address of the machine',
      () => undefined,
      'an address that no repository has',
      { metadata: 'https://169.254.169.254/metadata' },
    ],
    ['whose certificate nobody vouches for', () => undefined, 'no answer (', { ca: undefined }],
    [
      'that nobody answers for',
      () => undefined,
      'no answer (ECONNREFUSED)',
      { metadata: 'https://localhost:1/metadata' },
    ],
  ])('%s', async (...row) => {
    const [, prepare, why, more] = row;
    prepare();
    expect(await read(more)).toEqual(failed(why));
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254', 'fe80::1'])(
    'whose name leads to %s',
    async (address) => {
      const found = [
        { address: '192.0.2.1', family: 4 },
        { address, family: address.includes(':') ? 6 : 4 },
      ];
      const lookup = ((_: string, __: object, done: (error: null, all: typeof found) => void) =>
        done(null, found)) as never;
      const reading = await readRepository(request({ metadata: 'https://updates.example/' }), { env: {}, lookup });
      expect(reading).toEqual(failed(`updates.example is ${address}, an address that no repository has`));
    },
  );

  test('that gives each file by and by, for longer than a reading may take', async () => {
    const slowly: Answer = (_, response) => {
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    };
    server.files = new Map<string, string | Answer>([...files(), [TIMESTAMP, slowly]]);
    expect(await readRepository(request(), { env: {}, ms: 400 })).toEqual(failed('no answer within 0.4 s'));
    expect(READING_MS).toBe(30_000);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that has more than 16 newer roots at once', async () => {
    const roots = Array.from(
      { length: 17 },
      (_, index) => [`/metadata/${index + 2}.root.json`, rootText(index + 2, pair)] as const,
    );
    server.files = new Map([...files(), ...roots]);
    server.asked.length = 0;
    await read();
    expect(server.asked.filter((path) => path.endsWith('root.json'))).toHaveLength(16);
  });
});

describe('a proxy of the environment', () => {
  const asked: string[] = [];
  const proxy = createProxy().on('connect', ({ url = '' }: IncomingMessage, client: Socket) => {
    asked.push(url);
    const upstream = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    for (const end of [client, upstream]) end.on('error', () => undefined);
  });
  beforeAll(() => new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve)));
  beforeEach(() => void (asked.length = 0));
  afterAll(() => void proxy.close());
  const env = () => ({ HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  const found = { kind: 'read', seen: { timestamp: 1 } };

  test('is on the way to a repository, and looks its name up', async () => {
    const lookup = (() => expect(true).toBe(false)) as never;
    expect(await readRepository(request(), { env: env(), lookup })).toMatchObject(found);
    expect(new Set(asked)).toEqual(new Set([new URL(server.url).host]));
  });

  test('is passed by where NO_PROXY names the repository', async () => {
    expect(await readRepository(request(), { env: { ...env(), NO_PROXY: 'localhost' } })).toMatchObject(found);
    expect(asked).toEqual([]);
  });

  test('that is away is why nothing is known', async () => {
    const away = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    expect(await readRepository(request(), { env: away })).toEqual(failed('no answer (ECONNREFUSED)'));
  });
});
