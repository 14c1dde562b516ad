import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { GROUP, PLURAL } from '../../runtime/api/shadow/names.ts';
import { WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { certificatesIssued } from './cert-manager.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { isCordoned, shadowOf, versionOf } from './looks.ts';
import { OLDER_APISERVER, olderInstallation } from './older-installation.ts';
import { createShadow } from './older-shadow.ts';
import { operatorRuns } from './operator.ts';
import { type Scene, Stage } from './scene.ts';

const BRUPOP = fileURLToPath(new URL('../../build/kubectl-brupop.mjs', import.meta.url));
const IDLE = { current_version: '1.38.0', target_version: '1.38.0', current_state: 'Idle', crash_count: 0 };
const STAGED = { ...IDLE, target_version: '1.39.0', current_state: 'StagedAndPerformedUpdate' };
const REBOOT = { state: 'RebootedIntoUpdate', version: '1.39.0', state_transition_timestamp: '2026-01-01T00:00:00Z' };

let stage: Stage;
let scene: Scene;
let manifests: string;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.startCertManager();
  const file = join(stage.cluster.dir, 'older.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: olderInstallation() }));
  await kubectl('apply', '-f', file);
  scene = await stage.startFleet({ nodes: 3 });
  await scene.until(({ nodes, pods }) => nodes.size === 3 && [...pods.values()].filter(isPlaced).length === 6);
});

afterAll(() => stage.strike(), 60_000);

test('an older installation is left in the middle of a rollout', async () => {
  const { transport } = stage.cluster;
  const shadow = (name: string, spec: object, status: object): Promise<string> =>
    createShadow(transport, nodeOf(name), { version: 'v2', spec, status });
  await shadow('node-1', { state: 'Idle' }, IDLE);
  await shadow('node-2', REBOOT, STAGED);
  await shadow('node-3', REBOOT, STAGED);
  // As the older agent does it: the update is activated, then the apiserver cordons and drains, then the host reboots.
  for (const name of ['node-2', 'node-3']) {
    for (const step of ['refresh-updates', 'prepare-update', 'activate-update']) await host(name, step);
    await kubectl('cordon', name, `--as=${OLDER_APISERVER}`);
  }
  await kubectl('drain', 'node-3', '--ignore-daemonsets', '--timeout=60s');
  await host('node-3', 'reboot');
  await scene.until(({ nodes }) => versionOf(nodes.get('node-3')) === '1.39.0');
  expect(isCordoned(scene.history, 'node-3')).toBe(true);
}, 90_000);

test('the manifests go over it as they are, and the rollout goes on to its end', async () => {
  const uid = shadowOf(scene.history, 'node-2')?.metadata.uid;
  manifests = await stage.shortHold();
  const { stderr } = await kubectl('apply', '-f', manifests);
  expect(stderr).toBe('');
  await certificatesIssued();
  await scene.rolledOver();

  expect([...scene.history.nodes.values()].map(versionOf)).toEqual(Array(3).fill('1.39.0'));
  // Also where the older programs had asked for the last reboot, and it was seen to be over by ours.
  expect(['node-1', 'node-3'].map((name) => isCordoned(scene.history, name))).toEqual([false, false]);
  expect(shadowOf(scene.history, 'node-2')?.metadata.uid).toBe(uid);
  expect(scene.fleet.reboots.map(({ node }) => node).toSorted()).toEqual(['node-1', 'node-2', 'node-3']);
  expect(await invariants(scene)).toEqual([]);
  await operatorRuns(scene);
});

test('a cordon of the older apiserver that ours found in its own drain stays, and can be found', async () => {
  // It cannot be told from an administrator's.
  expect(isCordoned(scene.history, 'node-2')).toBe(true);
  const { stdout } = await promisify(execFile)(process.execPath, [BRUPOP, 'leftovers']);
  expect(stdout).toMatch(/^node-2 +unknown +cordoned without marks/);
});

test('nothing of the older installation remains that the manifests know', async () => {
  const crd = await kubectl('get', 'crd', `${PLURAL}.${GROUP}`, '-o', 'jsonpath={.metadata.annotations}');
  expect(crd.stdout).not.toContain('root-certificate');
  const { stderr, stdout } = await kubectl('diff', '-f', manifests);
  expect([stdout, stderr]).toEqual(['', '']);
});

function nodeOf(name: string): Node {
  const node = scene.history.nodes.get(name);
  if (!node) throw new Error(`there is no node ${name}`);
  return node;
}

function isPlaced({ metadata, spec }: Pod): boolean {
  return metadata.namespace === WORKLOAD_NAMESPACE && spec?.nodeName !== undefined;
}

/** Has the host do something, and waits until it is done. */
async function host(name: string, action: string): Promise<void> {
  const simulated = scene.fleet.nodes.get(name)?.host;
  const answer = await simulated?.handle({ method: 'POST', path: `/actions/${action}` });
  expect(answer).toMatchObject({ kind: 'answer', status: 204 });
  if (action === 'reboot') return;
  const status = async (): Promise<string> =>
    JSON.stringify(await simulated?.handle({ method: 'GET', path: '/updates/status' }));
  while (!(await status()).includes(`\\"cmd_type\\":\\"${action.split('-')[0]}\\"`)) await systemClock.sleep(100);
}
