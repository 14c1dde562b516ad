import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { join } from 'node:path';
import { BrupopChart } from '../../infra/index.ts';
import { CHANNEL_NAMESPACE } from '../../runtime/api/k3os/names.ts';
import { ReleasesServer } from '../../lab/sim/hosts/k3os/releases-server.ts';
import { certificatesIssued } from './cert-manager.ts';
import { comesTrue } from './come-true.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest } from './looks.ts';
import { operatorRuns } from './operator.ts';
import { type Scene, Stage } from './scene.ts';

const K3OS = ['node-1', 'node-4'];

const source = new ReleasesServer(() => ['v1.38.0', 'v1.39.0']);
let stage: Stage;
let scene: Scene;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.startCertManager();
}, 60_000);

afterAll(async () => {
  await stage.strike();
  await source.stop();
}, 60_000);

/** What people see of the channels. */
const described = async (): Promise<string> => (await kubectl('describe', 'upchan', '-A')).stdout;

test('nodes of all three kinds get agents of their own, and k3OS a channel that stays at what a node runs, and names that node', async () => {
  const app = new App({ outdir: join(stage.cluster.dir, 'synthesised') });
  new BrupopChart(app, 'operator', {
    agent: { interfaceV1: true, updateCheckIntervalInSec: 20 },
    k3os: { enabled: true, releasesUrl: await source.start() },
  });
  app.synth();
  await kubectl('create', 'namespace', CHANNEL_NAMESPACE);
  await kubectl('apply', '--server-side', '-f', app.outdir);
  await certificatesIssued();
  scene = await stage.startFleet({ nodes: 5, hosts: ['k3os', 'bottlerocket', 'updog'] });
  await operatorRuns(scene);

  await comesTrue(async () => (await described()).includes('github-releases'));
  const before = await described();
  expect(before).toMatch(/^Annotations: +k3os\.io\/node: node-[14]$/m);
  expect(before).toMatch(/^ {2}Concurrency: +1$/m);
  expect(before).toMatch(/^ {2}URL: +github-releases:\/\/rancher\/k3os$/m);
  expect(before).toMatch(/^ {2}Version: +v1\.38\.0$/m);
}, 240_000);

test('who patches it to the latest sees which node polls, and then which one is upgraded', async () => {
  source.fault = 'hangs';
  const latest = JSON.stringify({ spec: { version: 'latest' } });
  await kubectl('-n', CHANNEL_NAMESPACE, 'patch', 'upchan', 'github-releases', '--type', 'merge', '--patch', latest);
  await comesTrue(async () => /^ {2}Polling: +node-[14]$/m.test(await described()));
  expect(scene.fleet.reboots.filter(({ node }) => K3OS.includes(node))).toEqual([]);
  source.fault = undefined;
  await comesTrue(async () => /^ {2}Version: +v1\.39\.0\n[^]*^ {2}Upgrading:\s+node-[14]$/m.test(await described()));
}, 240_000);

test('all go over in one rollout, one at a time whatever runs on them, each with one reboot, by its own tools', async () => {
  const { fleet, history } = scene;
  await scene.rolledOver();
  expect(atRest(history, '1.39.0')).toEqual([...history.nodes.keys()].toSorted());
  expect(fleet.reboots.map(({ node }) => node).toSorted()).toEqual([...history.nodes.keys()].toSorted());
  const asked = (name: string): readonly string[] => [...(fleet.nodes.get(name)?.host.requests.keys() ?? [])];
  for (const name of K3OS) expect(asked(name).toSorted()).toEqual(['init TERM', 'k3os ops']);
  for (const name of ['node-2', 'node-5']) expect(asked(name)).toContain('POST /actions/reboot');
  expect(asked('node-3')).toEqual(expect.arrayContaining(['updog update-image', 'updog update-apply', 'shutdown -r']));
  await comesTrue(async () => !/^ {2}(Polling: +\S|Upgrading:\s+node-)/m.test(await described()));
  expect(await invariants(scene)).toEqual([]);
}, 400_000);
