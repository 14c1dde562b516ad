import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrupopChart } from '../../infra/index.ts';
import { PLATFORM } from '../../lab/sim/hosts/host.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import { type ServedRepository, serveReleases } from '../../lab/sim/repository/releases.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { COMPONENT_LABEL, COMPONENTS, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { DAY_MS, rfc3339, systemClock } from '../../runtime/lib/clock.ts';
import { certificatesIssued } from './cert-manager.ts';
import { comesTrue } from './come-true.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, shadowOf, verdict } from './looks.ts';
import { operatorRuns } from './operator.ts';
import { type Plan, Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';

/** A release that reaches three hosts in waves: what people are told before and after each, and that nothing else depends on it. */

const NODES = ['node-1', 'node-2', 'node-3'];
const SEEDS = [1, 512, 1844];
const [FROM, TO] = ['1.38.0', '1.39.0'];
/** Of the names of releases, after their version. */
const FAMILY = '.aws-k8s-1.33.amd64';
/** By the last seed before each of seven waves, as most releases have: when it begins, days from the publication. */
const WAVES = { 0: 1, 20: 1.125, 102: 2, 307: 3, 819: 5, 1228: 6, 1843: 7 };
/** When the release comes to each of the hosts by these, likewise: the first has a twentieth of its wave before itself. */
const OPENS = [1.00625, 5, 7];
/** Days after the publication by which it has come to none of the hosts, to one, to two and to all. */
const LATER = [0, 2, 5.5, 8];
const WORDS = ['first', 'fourth', 'seventh'];

let stage: Stage;
let scene: Scene;
let plugin: Plugin;
let repository: ServedRepository;
const releases = new Releases([FROM]);
/** When the release was published, milliseconds since the Unix epoch. */
let publishedAt: number;

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.startCertManager();
  repository = await serveReleases(releases, PLATFORM);
  const app = new App({ outdir: join(stage.cluster.dir, 'synthesised') });
  new BrupopChart(app, 'operator', {
    agent: { updateCheckIntervalInSec: 20 },
    repositories: [repository.settings],
  });
  app.synth();
  await kubectl('apply', '--server-side', '-f', app.outdir);
  const policy = {
    apiVersion: POLICY_API_VERSION,
    kind: POLICY_KIND,
    metadata: { name: 'all' },
    spec: { nodeSelector: {}, maxConcurrent: 1 },
  };
  const file = join(stage.cluster.dir, 'all.json');
  await writeFile(file, JSON.stringify(policy));
  await kubectl('apply', '-f', file);
  await certificatesIssued();
  const settings = (index: number) => ({ ...repository.urls, seed: SEEDS[index] ?? 0 });
  scene = await stage.startFleet({ nodes: NODES.length, speed: 20, from: FROM, to: TO, releases, settings });
  await operatorRuns(scene);
  await scene.until((history) => NODES.every((node) => verdict(history, node)?.reason === 'UpToDate'));
  await scene.until((history) => NODES.every((node) => shadowOf(history, node)?.status?.update_settings));
  await daysPass(0);
}, 240_000);

afterAll(async () => {
  await stage.strike();
  await repository.close();
}, 60_000);

/**
 * Nobody waits for days: the publication goes back by them, for hosts as for the repository. The leader that comes next reads that at once, and
 * remembers what the one before has trusted.
 */
async function daysPass(come: number): Promise<void> {
  publishedAt = Math.floor(systemClock.now() / 1000) * 1000 - (LATER[come] ?? 0) * DAY_MS;
  const waves = Object.fromEntries(Object.entries(WAVES).map(([seed, days]) => [seed, publishedAt + days * DAY_MS]));
  releases.publish({ version: TO, waves });
  repository.sign();
  await kubectl('delete', 'pod', '-n', NAMESPACE, '-l', `${COMPONENT_LABEL}=${COMPONENTS.controller}`);
  const first = '{.status.published.repositories[0].waves[0].time}';
  const read = async () => (await plugin.kubectl('get', 'brr', `${TO}${FAMILY}`, '-o', `jsonpath=${first}`)).out;
  await comesTrue(async () => (await read()) === rfc3339(publishedAt + DAY_MS));
}

const opensAt = (index: number): number => publishedAt + (OPENS[index] ?? 0) * DAY_MS;
const why = async (node: string): Promise<string> => (await plugin.run('why', node)).out;
const reached = async (): Promise<string> => (await plugin.run('releases', TO)).out;
const wait = (...words: readonly string[]) => kubectl('wait', '--timeout=60s', ...words);
const upToDate = (...nodes: readonly string[]) =>
  wait('-n', NAMESPACE, '--for=condition=UpToDate', ...nodes.map((node) => `brs/${shadowName(node)}`));
/** Why no update of the policy goes on. */
const progress = async (): Promise<string> =>
  (await kubectl('get', 'bup', 'all', '-o', 'jsonpath={.status.conditions[?(@.type=="Progressing")].reason}')).stdout;
const completed = () => wait('--for=jsonpath={.status.policies.all.completedAt}', `brr/${TO}${FAMILY}`);

/** What is foreseen of the nodes from this place of the fleet on: none starts before its wave. */
async function foreseenFrom(index: number): Promise<void> {
  const { starts } = await plugin.json<Plan>(['plan', '--until-done']);
  const ahead = NODES.slice(index);
  expect(starts.map(({ node }) => node)).toEqual(ahead);
  for (const [place, { at }] of starts.entries()) expect(Date.parse(at)).toBeGreaterThanOrEqual(opensAt(index + place));
}

/** What people are told of the nodes from this place of the fleet on. */
async function toldFrom(index: number): Promise<void> {
  for (const [place, node] of NODES.entries()) {
    const told = `${TO} is out; it reaches this node on `;
    if (place < index) expect(await why(node)).not.toContain(told);
    else
      expect(await why(node)).toMatch(new RegExp(`${told}.*\\(${WORDS[place]} wave of seven, seed ${SEEDS[place]}\\)`));
  }
  const all = index === NODES.length ? '' : `${index} of 3 nodes may have it now`;
  expect(await reached()).toContain(all);
}

test('before its waves a release is told of to every node, and all is done nonetheless', async () => {
  await upToDate(...NODES);
  await comesTrue(async () => (await progress()) === 'UpToDate');
  await toldFrom(0);
  await foreseenFrom(0);
  expect((await plugin.run('status')).out).toContain('0 of 3 nodes may have it now');
}, 90_000);

test.each([1, 2])(
  'with the wave of %i of them these update, and the others go on waiting',
  async (come) => {
    const done = NODES.slice(0, come);
    await daysPass(come);
    await scene.until((history) => done.every((node) => atRest(history, TO).includes(node)));
    await upToDate(...done);
    expect(scene.fleet.reboots.map(({ node }) => node)).toEqual(done);
    await toldFrom(come);
    await foreseenFrom(come);
  },
  150_000,
);

test('after its last wave all run it, the policy is complete, and nothing is said of waves any more', async () => {
  await daysPass(3);
  await scene.rolledOver();
  await upToDate(...NODES);
  await completed();
  await comesTrue(async () => (await progress()) === 'UpToDate');
  expect(scene.fleet.reboots.map(({ node }) => node)).toEqual(NODES);
  await toldFrom(3);
  expect(await reached()).not.toContain('waves:');
  expect(await invariants(scene)).toEqual([]);
}, 150_000);
