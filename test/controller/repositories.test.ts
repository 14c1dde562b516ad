import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { REPOSITORIES_STATE } from '../../runtime/api/waves/names.ts';
import {
  parseRepositories,
  platformOf,
  PUBLIC_REPOSITORY,
  type Repository,
} from '../../runtime/api/waves/repositories.ts';
import { readInChild } from '../../runtime/controller/repositories/child.ts';
import { TrustMemory } from '../../runtime/controller/repositories/memory.ts';
import { RepositoryReader } from '../../runtime/controller/repositories/reader.ts';
import { configMapsOf } from '../../runtime/kube/resources.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { Wakeup } from '../../runtime/lib/wakeup.ts';
import type { Reading, Request } from '../../runtime/repositories/protocol.ts';
import { NOTHING_SEEN } from '../../runtime/repositories/protocol.ts';
import { ROOT } from '../documents.ts';
import { seeded } from '../random.ts';
import { served } from '../../lab/sim/repository/served.ts';
import { filesOf, newKey, rootText } from '../../lab/sim/repository/signed.ts';

const FAMILY = 'aws-k8s-1.33/amd64';
const MIRROR: Repository = {
  metadata: 'https://mirror.example/{variant}/{arch}/',
  targets: 'https://mirror.example/targets/',
  root: 'the first root',
};
const METADATA = 'https://mirror.example/aws-k8s-1.33/x86_64/';
const good = (version: number): Reading => ({
  kind: 'read',
  versions: [{ version: '1.45.0', maxVersion: '1.45.0', waves: [{ seed: 0, at: 0 }] }],
  root: `root ${version}`,
  seen: { timestamp: version, snapshot: version, targets: version },
});

async function rig(
  cluster = new EmbeddedCluster({ clock: new VirtualClock(), random: seeded() }),
  repositories: readonly Repository[] = [MIRROR],
) {
  const clock = new VirtualClock();
  const transport = cluster.transport(ADMIN);
  await transport
    .request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } })
    .catch(() => undefined);
  const configMaps = configMapsOf(transport, NAMESPACE);
  const asked: Request[] = [];
  const answers: Reading[] = [];
  const reader = new RepositoryReader({
    repositories,
    read: async (request) => {
      asked.push(request);
      return answers.shift() ?? { kind: 'failed', why: 'no answer (ENOTFOUND)' };
    },
    memory: new TrustMemory(configMaps),
    families: () => [FAMILY],
    folder: '/tmp',
    clock,
    random: seeded(),
    logger: silentLogger,
    wakeup: new Wakeup(),
  });
  const life = new AbortController();
  const lead = (): void => void reader.lead(life.signal);
  return { cluster, clock, reader, asked, answers, configMaps, lead, end: () => life.abort(new Error('over')) };
}

const QUARTER_MS = 17 * 60_000;

describe('the reader of repositories', () => {
  test('reads each family every quarter of an hour, and says what is listed', async () => {
    const { clock, reader, asked, answers, lead, end } = await rig();
    answers.push(good(1), good(2));
    lead();
    await clock.advance(1000);
    expect(reader.published.get(FAMILY)?.get('1.45.0')).toEqual({
      maxVersion: '1.45.0',
      repositories: [{ metadata: METADATA, waves: [{ seed: 0, time: '1970-01-01T00:00:00Z' }] }],
    });
    await clock.advance(QUARTER_MS);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({ metadata: METADATA, root: 'the first root', seen: NOTHING_SEEN });
    expect(asked[1]).toMatchObject({ root: 'root 1', seen: { timestamp: 1 } });
    end();
  });

  test('keeps the last good answer, and says how old it is and why there is no newer one', async () => {
    const { clock, reader, answers, lead, end } = await rig();
    answers.push(good(1));
    lead();
    await clock.advance(1000);
    const readAt = clock.now() - 1000;
    await clock.advance(QUARTER_MS);
    expect(reader.states).toEqual([{ family: FAMILY, metadata: METADATA, readAt, why: 'no answer (ENOTFOUND)' }]);
    expect(reader.published.get(FAMILY)?.size).toBe(1);
    answers.push(good(2));
    await clock.advance(QUARTER_MS);
    expect(reader.states[0]?.why).toBeUndefined();
    end();
  });

  test('says nothing of a family that it has never read', async () => {
    const { clock, reader, lead, end } = await rig();
    lead();
    await clock.advance(1000);
    expect(reader.published.size).toBe(0);
    expect(reader.states).toMatchObject([{ why: 'no answer (ENOTFOUND)' }]);
    end();
  });

  test('trusts after a change of leaders what was trusted before, however late a write comes', async () => {
    const first = await rig();
    first.answers.push(good(7));
    first.lead();
    await first.clock.advance(1000);
    first.end();
    const second = await rig(first.cluster);
    second.lead();
    await second.clock.advance(1000);
    expect(second.asked[0]).toMatchObject({ root: 'root 7', seen: { timestamp: 7, snapshot: 7, targets: 7 } });
    second.end();
    const late = new TrustMemory(first.configMaps);
    const key = `${METADATA} `;
    const signal = new AbortController().signal;
    await late.note(key, { root: 'root 9', seen: { timestamp: 9, snapshot: 9, targets: 9 } }, signal);
    await new TrustMemory(first.configMaps).note(
      key,
      { root: 'root 8', seen: { timestamp: 8, snapshot: 8, targets: 8 } },
      signal,
    );
    await late.recall(signal);
    expect(late.of(key)).toMatchObject({ root: 'root 9', seen: { timestamp: 9 } });
  });

  test('begins anew where the settings name another root', async () => {
    const first = await rig();
    first.answers.push(good(7));
    first.lead();
    await first.clock.advance(1000);
    first.end();
    const second = await rig(first.cluster, [{ ...MIRROR, root: 'another root' }]);
    second.lead();
    await second.clock.advance(1000);
    expect(second.asked[0]).toMatchObject({ root: 'another root', seen: NOTHING_SEEN });
    second.end();
  });

  test('names each repository that lists a version', async () => {
    const { clock, reader, answers, lead, end } = await rig(undefined, [
      MIRROR,
      { ...MIRROR, metadata: 'https://second.example/' },
    ]);
    answers.push(good(1), good(1));
    lead();
    await clock.advance(1000);
    const { repositories = [] } = reader.published.get(FAMILY)?.get('1.45.0') ?? {};
    expect(repositories.map(({ metadata }) => metadata)).toEqual([METADATA, 'https://second.example/']);
    end();
  });

  test('remembers the newest where not all that it trusts fits', async () => {
    const { configMaps } = await rig();
    const signal = new AbortController().signal;
    const memory = new TrustMemory(configMaps);
    const seen = { timestamp: 1, snapshot: 1, targets: 1 };
    for (const key of ['a', 'b']) await memory.note(key, { root: key.repeat(250_000), seen }, signal);
    await memory.recall(signal);
    expect(['a', 'b'].map((key) => memory.of(key)?.seen)).toEqual([undefined, seen]);
  });

  test('reads nothing while it is not known what was trusted', async () => {
    const { clock, asked, answers, configMaps, lead, end } = await rig();
    answers.push(good(1));
    configMaps.get = () => Promise.reject(new Error('forbidden'));
    lead();
    await clock.advance(1000);
    expect(asked).toEqual([]);
    end();
  });

  test('survives whatever people write into its ConfigMap', async () => {
    const { clock, asked, configMaps, lead, end } = await rig();
    const data = { 'state.json': '{"roots":[],"read":{"x":7}}' };
    await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: REPOSITORIES_STATE }, data });
    lead();
    await clock.advance(1000);
    expect(asked).toHaveLength(1);
    end();
  });
});

describe('settings', () => {
  test("public is Bottlerocket's repository, and an empty list none", () => {
    expect(parseRepositories('public')).toEqual([PUBLIC_REPOSITORY]);
    expect(parseRepositories('[]')).toEqual([]);
    expect(parseRepositories(JSON.stringify([MIRROR]))).toEqual([MIRROR]);
  });

  test.each([
    ['no JSON', 'x'],
    ['plain HTTP', JSON.stringify([{ ...MIRROR, metadata: 'http://mirror.example/' }])],
    ['a password', JSON.stringify([{ ...MIRROR, metadata: 'https://me:secret@mirror.example/' }])],
    ['no root', JSON.stringify([{ ...MIRROR, root: undefined }])],
    ['two roots', JSON.stringify([{ ...MIRROR, rootSha512: 'a'.repeat(128) }])],
  ])('%s is refused', (_, text) => {
    expect(parseRepositories(text)).toBeUndefined();
  });

  test('a node cannot lead a reading to another place by the name of its image', () => {
    expect(platformOf('aws-k8s-1.33/arm64')).toEqual({ variant: 'aws-k8s-1.33', arch: 'aarch64' });
    for (const family of ['../amd64', 'a/../b', 'x?y/amd64', 'X/amd64', '/amd64', 'a%2f/amd64']) {
      expect(platformOf(family)).toBeUndefined();
    }
  });
});

describe('the process that reads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reader-'));
  const program = join(ROOT, 'runtime/main/repository.ts');
  const signal = new AbortController().signal;
  afterAll(() => rmSync(folder, { recursive: true }));

  test('reads a signed repository', async () => {
    const server = await served();
    const pair = newKey();
    const manifest = JSON.stringify({ updates: [{ variant: 'v', arch: 'a', version: '1.0.0', waves: {} }] });
    server.files = filesOf({ pair, manifest });
    const [metadata, targets] = [`${server.url}/metadata`, `${server.url}/targets`];
    const request = {
      metadata,
      targets,
      root: rootText(1, pair),
      variant: 'v',
      arch: 'a',
      seen: NOTHING_SEEN,
      folder,
      ca: server.ca,
    };
    const reading = await readInChild(systemClock, program)(request, signal);
    expect(reading).toMatchObject({ kind: 'read', versions: [{ version: '1.0.0', waves: [] }] });
    await server.close();
  });

  test('is believed nothing where it ends without an answer', async () => {
    const request = {
      metadata: '',
      targets: '',
      root: '',
      variant: '',
      arch: '',
      seen: NOTHING_SEEN,
      folder: '/nowhere',
    };
    const why = async (file: string) => await readInChild(systemClock, file)(request, signal);
    const said = (text: string) => ({ kind: 'failed', why: expect.stringContaining(text) });
    expect(await why(program)).toEqual(said('no place to read it into: ENOENT'));
    expect(await why('/nowhere.mjs')).toEqual(said('its reader has ended with 1 and no answer'));
    const full = join(folder, 'full.mjs');
    writeFileSync(full, "process.kill(process.pid, 'SIGKILL')");
    expect(await why(full)).toEqual(said('ended by SIGKILL: the repository is too large'));
  });
});
