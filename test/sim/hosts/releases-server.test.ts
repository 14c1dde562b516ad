import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { GithubReleases } from '../../../runtime/controller/k3os/releases.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { ReleasesServer, type SourceFault } from '../../../sim/hosts/k3os/releases-server.ts';

const server = (): ReleasesServer => new ReleasesServer(() => ['v1.0.0', 'v1.1.0']);
let source: ReleasesServer;
let releases: GithubReleases;
const ask = (tag?: string) => releases.ask({ repository: 'rancher/k3os', tag }, new AbortController().signal);

beforeEach(async () => {
  source = server();
  releases = new GithubReleases({ baseUrl: await source.start(), clock: systemClock, random: Math.random });
});
afterEach(() => source.stop());

test('a source says which release is the newest, and which there are', async () => {
  expect([await ask(), await ask('v1.0.0'), await ask('v9.9.9')]).toMatchObject([
    { kind: 'found', tag: 'v1.1.0' },
    { kind: 'found', tag: 'v1.0.0' },
    { kind: 'missing' },
  ]);
});

describe('what is wrong with a source is known as that', () => {
  test.each<[SourceFault, string]>([
    ['away', 'no answer'],
    ['limited', 'may not be asked for so often'],
    ['garbage', 'no release'],
  ])('%s', async (fault, why) => {
    source.fault = fault;
    expect(await ask()).toMatchObject({ kind: 'failed', message: expect.stringContaining(why) });
  });
});
