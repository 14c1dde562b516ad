import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrupopChart, UpdatePolicy } from '../../infra/index.ts';
import type { PolicyObject } from '../../runtime/api/policy/model.ts';
import { POLICY_API_VERSION, POLICY_CRD_NAME, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { RELEASE_API_VERSION, RELEASE_KIND, releaseObjectName } from '../../runtime/api/release/names.ts';
import type { ReleaseResource } from '../../runtime/api/resources.ts';
import { familyOf } from '../../runtime/api/shadow/semver.ts';
import { certificatesIssued } from './cert-manager.ts';
import { comesTrue } from './come-true.ts';
import { breaches, invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, shadowOf, verdict } from './looks.ts';
import { type Scene, Stage } from './scene.ts';

const POOL = 'example.com/pool';
const ZONE = 'topology.kubernetes.io/zone';
const TEST = ['node-1', 'node-2'];
/** By zone. */
const PRODUCTION = { a: ['node-3', 'node-4'], b: ['node-5', 'node-6'] };
const BAD = '1.39.0';
const GOOD = '1.39.1';
const BLOCKED = '1.39.2';

let stage: Stage;
let scene: Scene;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.startCertManager();
});

afterAll(() => stage.strike(), 60_000);

/** As people write it, and apply it with kubectl. */
const policy = (name: string, spec: object): object => ({
  apiVersion: POLICY_API_VERSION,
  kind: POLICY_KIND,
  metadata: { name },
  spec,
});

async function written(name: string, object: object): Promise<string> {
  const file = join(stage.cluster.dir, `${name}.json`);
  await writeFile(file, JSON.stringify(object));
  return file;
}

const apply = async (name: string, object: object) => kubectl('apply', '-f', await written(name, object));

const releaseObject = (name: string, spec: object): object => ({
  apiVersion: RELEASE_API_VERSION,
  kind: RELEASE_KIND,
  metadata: { name },
  spec,
});

/** Undefined where there is none. */
const ledger = (name: string): Promise<ReleaseResource | undefined> =>
  kubectl('get', 'brr', name, '-o', 'json').then(
    ({ stdout }) => JSON.parse(stdout) as ReleaseResource,
    () => undefined,
  );

async function stored(name: string): Promise<PolicyObject> {
  const { stdout } = await kubectl('get', 'bup', name, '-o', 'json');
  return JSON.parse(stdout) as PolicyObject;
}

/** Resolves when a condition of the policy has this status. */
const condition = (name: string, type: string, status: string): Promise<void> =>
  comesTrue(async () => {
    const { conditions } = (await stored(name)).status ?? {};
    return conditions?.some((one) => one.type === type && one.status === status) ?? false;
  });

/** What the watches saw of two nodes that bore marks at once. */
function together(...names: readonly string[]): readonly string[] {
  const { sightings } = scene.history;
  return breaches(
    sightings.filter(({ object }) => names.includes(object.metadata.name)),
    [],
    { concurrency: 1 },
  );
}

const productionNodes = (): readonly string[] => Object.values(PRODUCTION).flat();
const hosts = () => [...scene.fleet.nodes.values()].map(({ host }) => host);

test('one policy out of cdk8s, the others by kubectl: all are accepted, and a node that only a pause selects does not start', async () => {
  const app = new App({ outdir: join(stage.cluster.dir, 'synthesised') });
  const chart = new BrupopChart(app, 'operator', {
    controller: { maxConcurrentUpdate: 'unlimited' },
    agent: { updateCheckIntervalInSec: 20 },
  });
  new UpdatePolicy(chart, 'Production', {
    name: 'production',
    nodeSelector: { matchLabels: { [POOL]: 'production' } },
    priority: 10,
    maxConcurrent: 2,
    zones: { atOnce: 1 },
    after: ['test'],
  });
  app.synth();
  // As docs/deploying.md says: kubectl finds no kind whose definition comes with the same command.
  await kubectl('apply', '--server-side', '-f', app.outdir).catch(() => undefined);
  await kubectl('wait', '--for=condition=Established', `crd/${POLICY_CRD_NAME}`);
  await kubectl('apply', '--server-side', '-f', app.outdir);
  await apply('everywhere', policy('everywhere', { nodeSelector: {}, paused: true }));
  const selector = { matchExpressions: [{ key: POOL, operator: 'In', values: ['test'] }] };
  await apply('test', policy('test', { nodeSelector: selector, priority: 10, maxFailed: 1 }));
  await certificatesIssued();

  scene = await stage.startFleet({ nodes: 6, to: BAD });
  for (const host of hosts()) host.inject('boot');
  const { until } = scene;
  for (const name of ['everywhere', 'production', 'test']) await condition(name, 'Accepted', 'True');
  await until((history) => [...history.nodes.keys()].every((node) => verdict(history, node)?.reason === 'Paused'));
}, 240_000);

test('a bad release stops with the canary of the test pool, and production waits for that pool', async () => {
  const { history, until, fleet } = scene;
  // A pool without nodes proves nothing, and nobody waits for it: so its nodes come first.
  for (const node of TEST) await kubectl('label', 'node', node, `${POOL}=test`);
  for (const [zone, nodes] of Object.entries(PRODUCTION)) {
    for (const node of nodes) await kubectl('label', 'node', node, `${POOL}=production`, `${ZONE}=${zone}`);
  }
  await until(() => TEST.some((node) => verdict(history, node)?.reason === 'RolloutHalted'));
  await condition('test', 'Halted', 'True');
  await until(() => productionNodes().every((node) => verdict(history, node)?.reason === 'WaitingForPolicy'));
  expect(fleet.reboots.filter(({ node }) => !TEST.includes(node))).toEqual([]);
  expect(new Set(fleet.reboots.map(({ node }) => node)).size).toBe(1);
  const { stdout } = await kubectl('get', 'bup');
  expect(stdout.split('\n').map((line) => line.split(/\s+/)[0])).toEqual([
    'NAME',
    'everywhere',
    'production',
    'test',
    '',
  ]);
}, 240_000);

test('the release that replaces it goes through the test pool first, then through production, one zone after the other', async () => {
  const { history, until, fleet } = scene;
  const failed = fleet.reboots[0]?.node ?? '';
  const before = fleet.reboots.length;
  for (const host of hosts()) host.clear('boot');
  fleet.releases.publish({ version: GOOD });
  await until(() => productionNodes().every((node) => atRest(history, GOOD).includes(node)));

  const order = fleet.reboots.slice(before).map(({ node }) => node);
  const [canary = ''] = order;
  expect(TEST).toContain(canary);
  expect(canary).not.toBe(failed);
  const zones = order.filter((node) => !TEST.includes(node)).map((node) => (PRODUCTION.a.includes(node) ? 'a' : 'b'));
  expect([
    ['a', 'a', 'b', 'b'],
    ['b', 'b', 'a', 'a'],
  ]).toContainEqual(zones);
  expect(PRODUCTION.a.flatMap((one) => PRODUCTION.b.flatMap((other) => together(one, other)))).toEqual([]);
  await condition('test', 'Halted', 'False');
  for (const name of ['test', 'production']) {
    // Told a moment later: statuses are written at a pace of their own.
    await comesTrue(async () => {
      const release = (await stored(name)).status?.releases?.find(({ version }) => version === GOOD);
      return release?.provenAt != null && release.completedAt != null;
    });
  }
}, 240_000);

test('without policies the nodes are ruled by the variables again, and the node that failed tries again after its pause', async () => {
  const { history, until } = scene;
  await kubectl('delete', 'bup', '--all');
  await until(() => [...history.nodes.keys()].every((node) => atRest(history, GOOD).includes(node)));
  expect([...history.nodes.keys()].map((node) => shadowOf(history, node)?.status?.crash_count)).toEqual(
    Array(6).fill(0),
  );
}, 240_000);

test('a release that git has blocked before any host is offered it is started on no node, as Argo CD and Flux apply it, until both have pruned it', async () => {
  const { until, fleet, history } = scene;
  const [node] = history.nodes.values();
  const family = node ? familyOf(node) : '';
  // By Flux under the very name of the controller's own, which bears the ledger; by Argo CD under another one, for all families.
  const own = releaseObjectName({ family, version: BLOCKED });
  const objects = {
    'kustomize-controller': releaseObject(own, { family, version: BLOCKED, decision: 'Halt' }),
    'argocd-controller': releaseObject('blocked', { family: '*', version: BLOCKED, decision: 'Halt' }),
  };
  const synced = await Promise.all(
    Object.entries(objects).map(async ([manager, object]) => {
      const file = await written(manager, object);
      return ['--server-side', '--force-conflicts', `--field-manager=${manager}`, '-f', file];
    }),
  );
  for (const how of synced) await kubectl('apply', ...how);
  const before = fleet.reboots.length;
  fleet.releases.publish({ version: BLOCKED });
  await until(() => [...history.nodes.keys()].every((name) => verdict(history, name)?.reason === 'RolloutHalted'));
  await comesTrue(async () => (await ledger(own))?.status?.firstOfferedAt != null);
  // What is in git says nothing of the status, and is no drift.
  for (const how of synced) await kubectl('apply', ...how);
  for (const how of synced) await kubectl('diff', ...how);

  await kubectl('delete', 'brr', own);
  await comesTrue(async () => {
    const { spec, status } = (await ledger(own)) ?? {};
    return spec?.decision === 'Automatic' && status?.state === 'Halted';
  });
  expect(fleet.reboots.slice(before)).toEqual([]);
  await kubectl('delete', 'brr', 'blocked');
  await until(() => [...history.nodes.keys()].some((name) => verdict(history, name)?.reason === 'Updating'));
}, 240_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene, { concurrency: 2 })).toEqual([]);
});
