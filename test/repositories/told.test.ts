import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { type Answer, served } from '../../lab/sim/repository/served.ts';
import { filesOf, newKey, rootText } from '../../lab/sim/repository/signed.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { repositoryFindings } from '../../runtime/cli/doctor/repositories.ts';
import { TrustMemory } from '../../runtime/controller/repositories/memory.ts';
import { RepositoryReader } from '../../runtime/controller/repositories/reader.ts';
import { ControllerMetrics } from '../../runtime/controller/telling/metrics.ts';
import { configMapsOf } from '../../runtime/kube/resources.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { readRepository } from '../../runtime/repositories/read.ts';
import { inTime } from '../in-time.ts';
import { seeded } from '../random.ts';

/** What people are told when a repository that was read well has gone wrong since: by doctor and by the metrics. What it said last stays. */

const FAMILY = 'aws-k8s-1.33/amd64';
const MANIFEST = JSON.stringify({
  updates: [{ variant: 'aws-k8s-1.33', arch: 'x86_64', version: '1.45.0', max_version: '1.45.0', waves: {} }],
});
const TIMESTAMP = '/metadata/timestamp.json';
const QUARTER_MS = 17 * 60_000;

const folder = mkdtempSync(join(tmpdir(), 'told-'));
const server = await served();
const pair = newKey();
const metadata = `${server.url}/metadata/`;
const files = (more: object = {}) => filesOf({ pair, manifest: MANIFEST, version: 2, ...more });
const answering = (answer: Answer) => () =>
  void (server.files = new Map<string, string | Answer>([...files(), [TIMESTAMP, answer]]));
/** What names lead to; the machine's own by default. */
let lookup: ((...words: never[]) => void) | undefined;
/** For a reading: long for a machine that is busy, but where it is to be too short. */
let ms: number;
const found = (address: string) => (_: string, __: object, done: (error: null, all: object[]) => void) =>
  done(null, [{ address, family: 4 }]);
const unknown = (_: string, __: object, done: (error: Error) => void) =>
  done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));

let life: AbortController;
let rig: Awaited<ReturnType<typeof started>>;
beforeEach(async () => {
  life = new AbortController();
  lookup = undefined;
  ms = 20_000;
  server.files = files();
  rig = await started();
});
afterEach(() => life.abort(new Error('over')));
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** A leader that has read the repository well. */
async function started() {
  const clock = new VirtualClock();
  const transport = new EmbeddedCluster({ clock, random: seeded() }).transport(ADMIN);
  const path = '/api/v1/namespaces';
  await transport.request({ method: 'POST', path, body: { metadata: { name: NAMESPACE } } });
  let round = Promise.withResolvers<void>();
  const reader = new RepositoryReader({
    repositories: [{ metadata, targets: `${server.url}/targets`, root: rootText(1, pair), caBundle: server.ca }],
    read: (request) => readRepository(request, { env: {}, lookup: lookup as never, ms }),
    memory: new TrustMemory(configMapsOf(transport, NAMESPACE)),
    families: () => [FAMILY],
    folder,
    clock,
    random: seeded(),
    logger: silentLogger,
    wakeup: { ring: () => round.resolve() },
  });
  const metrics = new ControllerMetrics();
  metrics.collectFrom({ preview: undefined } as never, { repositories: reader, clock } as never);
  const ended = () => inTime('the end of a reading', round.promise);
  void reader.lead(life.signal);
  await ended();
  return {
    reader,
    clock,
    metrics,
    readAgain: async () => {
      round = Promise.withResolvers();
      await clock.advance(QUARTER_MS);
      await ended();
    },
  };
}

const shown = async (name: 'failing' | 'age_seconds') => {
  const metric = await rig.metrics.registry.getSingleMetricAsString(`brupop_controller_repository_${name}`);
  return Number(/\} (\S+)/.exec(metric)?.[1]);
};

const endless: Answer = (_, response) => {
  response.on('error', () => undefined);
  const more = (): boolean => response.write(Buffer.alloc(1024 * 1024, ' ')) && more();
  response.on('drain', more);
  more();
};

test.each<[string, () => unknown, string]>([
  ['is signed by others', () => (server.files = files({ pair: newKey() })), 'sign'],
  [
    'has a root that nobody trusted has signed',
    () => server.files.set('/metadata/2.root.json', rootText(2, newKey())),
    'root',
  ],
  ['has an expired timestamp', () => (server.files = files({ days: -1 })), 'expired'],
  [
    'was rolled back',
    () => (server.files = files({ version: 1 })),
    'it was rolled back: its timestamp is version 1, and was 2',
  ],
  ['has a manifest of another hash', () => (server.files = files({ version: 3, sha256: 'a'.repeat(64) })), 'hash'],
  ['sends without an end', answering(endless), 'a file has more than 4 MiB'],
  [
    'is slow',
    () => {
      ms = 1000;
      answering((_, response) => void response.write(' '))();
    },
    'no answer within 1 s',
  ],
  [
    'redirects',
    answering((_, response) => void response.writeHead(302, { location: '/' }).end()),
    'it redirects (302), which is not followed',
  ],
  [
    'has a name that leads to where a machine is told its secrets',
    () => (lookup = found('169.254.169.254')),
    'localhost is 169.254.169.254, an address that no repository has',
  ],
  ['has a name that nobody knows, for want of egress', () => (lookup = unknown), 'no answer (ENOTFOUND)'],
  ['has a port that nobody answers at', () => (lookup = found('127.0.0.2')), 'no answer (ECONNREFUSED)'],
])('of a repository that %s, doctor says why nothing new is known, and a metric shows it', async (_, break_, why) => {
  const { reader, clock, readAgain } = rig;
  expect(repositoryFindings(reader.states, clock.now())).toMatchObject([{ state: 'ok' }]);
  expect(await shown('failing')).toBe(0);
  break_();
  await readAgain();
  const [finding, ...more] = repositoryFindings(reader.states, clock.now());
  expect(more).toEqual([]);
  expect(finding).toMatchObject({
    check: 'repositories',
    state: 'unknown',
    todo: expect.stringContaining('Updates go on.'),
  });
  expect(finding?.says).toMatch(
    new RegExp(
      `^${metadata} cannot be read, so that nobody is told when releases reach nodes: .* \\(last read 17 min ago\\)$`,
    ),
  );
  expect(finding?.says).toContain(why);
  expect(await shown('failing')).toBe(1);
  expect(await shown('age_seconds')).toBe(QUARTER_MS / 1000);
  expect(reader.published.get(FAMILY)?.has('1.45.0')).toBe(true);
});

test('of a root that was rotated nothing is said: it is followed', async () => {
  const next = newKey();
  server.files = files({ pair: next, version: 3 });
  server.files.set('/metadata/2.root.json', rootText(2, next, pair));
  await rig.readAgain();
  expect(repositoryFindings(rig.reader.states, rig.clock.now())).toMatchObject([{ state: 'ok' }]);
  expect(await shown('failing')).toBe(0);
});
