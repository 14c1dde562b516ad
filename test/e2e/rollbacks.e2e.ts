import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrupopChart } from '../../infra/index.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { certificatesIssued } from './cert-manager.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, shadowOf, verdict } from './looks.ts';
import { Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';

/** Releases that a check or a person finds bad, and nodes that go back from them. */

const NODES = ['node-1', 'node-2', 'node-3'];
const LOCKED = 'node-3';
const [BEFORE, BAD, NEXT] = ['1.38.0', '1.39.0', '1.40.0'] as const;
const SMOKE = 'example.com/Smoke';

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

async function apply(name: string, object: object): Promise<void> {
  const file = join(stage.cluster.dir, name);
  await writeFile(file, JSON.stringify(object));
  await kubectl('apply', '-f', file);
}

/** What the workload says of the release that it runs on. */
async function smoke(status: 'True' | 'False'): Promise<void> {
  const conditions = [{ type: SMOKE, status, reason: 'Tested', message: 'orders answer 500' }];
  const patch = JSON.stringify({ status: { conditions } });
  await kubectl('patch', 'pod', 'smoke', '--subresource', 'status', '--type', 'strategic', '-p', patch);
}

const host = (node: string) => scene.fleet.nodes.get(node)!.host;
const lockOf = (node: string): string => host(node).settings.rendered['version-lock'];

/** As somebody does who is on the host. */
function lockByHand(node: string, lock: string): void {
  const { settings } = host(node);
  const { signal } = new AbortController();
  const query = new URLSearchParams('tx=apiclient-set');
  settings.patch({ query, body: JSON.stringify({ updates: { 'version-lock': lock } }), signal });
  settings.commitAndApply({ query, body: '', signal });
}

const allRest = (version: string, nodes = NODES): Promise<unknown> =>
  scene.until((history) => nodes.every((node) => atRest(history, version).includes(node)));
const rebooted = (): readonly string[] => scene.fleet.reboots.map(({ node }) => node);
const reasonOf = (node: string): string | undefined => verdict(scene.history, node)?.reason;

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.startCertManager();
  const app = new App({ outdir: join(stage.cluster.dir, 'synthesised') });
  const pods = { apiGroups: [''], resources: ['pods'], resourceNames: ['smoke'] };
  new BrupopChart(app, 'operator', {
    agent: { updateCheckIntervalInSec: 20 },
    controller: { checkObjects: [pods] },
  });
  app.synth();
  await kubectl('apply', '--server-side', '-f', app.outdir);
  // No scheduler takes it, so that nobody but us writes its status.
  await apply('smoke.json', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'smoke', namespace: 'default' },
    spec: { schedulingGates: [{ name: SMOKE }], containers: [{ name: 'smoke', image: 'smoke' }] },
  });
  await smoke('False');
  const condition = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'smoke', type: SMOKE };
  await apply('policy.json', {
    apiVersion: POLICY_API_VERSION,
    kind: POLICY_KIND,
    metadata: { name: 'all' },
    spec: {
      nodeSelector: {},
      onFailure: 'Rollback',
      proof: { nodes: 1, checks: [{ name: 'smoke', timeout: '1m', condition }] },
    },
  });
  await certificatesIssued();
  scene = await stage.startFleet({ nodes: NODES.length, from: BEFORE, to: BAD });
}, 240_000);

afterAll(() => stage.strike(), 60_000);

test('a release that a check finds bad halts with the canary, which goes back, and no other node starts on it', async () => {
  await scene.until(() => rebooted().length === 2);
  await allRest(BEFORE);
  const [canary, again] = rebooted();
  expect(again).toBe(canary);
  await scene.until(() => NODES.every((node) => reasonOf(node) === 'RolloutHalted' && lockOf(node) === 'latest'));
  const { stdout } = await kubectl('get', 'brr', '-o', 'json');
  expect(stdout).toContain('orders answer 500');
  expect(rebooted()).toHaveLength(2);
}, 240_000);

test('the next release, which passes the check, goes to all', async () => {
  await smoke('True');
  scene.fleet.releases.publish({ version: NEXT });
  await allRest(NEXT);
}, 240_000);

test('a person takes them back from it, all but the one that somebody else has locked, which says so', async () => {
  lockByHand(LOCKED, NEXT);
  await scene.until((history) => shadowOf(history, LOCKED)?.status?.update_settings?.version_lock === NEXT);
  const preflight = await plugin.run('rollback', NEXT, '--dry-run');
  expect(preflight).toMatchObject({ code: 0, err: '' });
  expect(preflight.out).toMatch(/^ +node-1 +goes back to 1\.38\.0$/m);
  expect(preflight.out).toMatch(
    /^ +node-3 +goes back to 1\.38\.0, if it can: somebody else has locked its host to 1\.40\.0$/m,
  );

  expect(await plugin.run('rollback', NEXT, '--policy', 'all', '--by', 'ann: orders')).toMatchObject({
    code: 0,
    err: '',
  });
  await allRest(BEFORE, ['node-1', 'node-2']);
  await scene.until(() => reasonOf(LOCKED) === 'LockedElsewhere');
  expect(lockOf(LOCKED)).toBe(NEXT);
  expect(rebooted().slice(-2).toSorted()).toEqual(['node-1', 'node-2']);
}, 300_000);

test('that one follows once its host is let go, and none leaves again until people let it', async () => {
  lockByHand(LOCKED, 'latest');
  await allRest(BEFORE);
  await scene.until(() => NODES.every((node) => reasonOf(node) === 'RolloutHalted' && lockOf(node) === 'latest'));
  const before = rebooted().length;
  expect(await plugin.run('allow', NEXT)).toMatchObject({ code: 0, err: '' });
  await scene.until(() => rebooted().length > before);
}, 300_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene, { concurrency: 1 })).toEqual([]);
});
