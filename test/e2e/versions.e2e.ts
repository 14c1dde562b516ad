import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, shadowOf, verdict } from './looks.ts';
import { type Scene, Stage } from './scene.ts';

/** Policies whose `version` a tool applies from git. */

const POOL = 'example.com/pool';
const POOLS = { test: ['node-1', 'node-2'], production: ['node-3', 'node-4'] } as const;
type Pool = keyof typeof POOLS;
const [BEFORE, NEXT, NEWEST] = ['1.38.0', '1.39.0', '1.40.0'] as const;

let stage: Stage;
let scene: Scene;

/** As Argo CD applies it with server-side apply. */
async function commit(pool: Pool, version?: object): Promise<void> {
  const nodeSelector = { matchLabels: { [POOL]: pool } };
  const metadata = { name: pool };
  const object = { apiVersion: POLICY_API_VERSION, kind: POLICY_KIND, metadata, spec: { nodeSelector, version } };
  const file = join(stage.cluster.dir, `${pool}.json`);
  await writeFile(file, JSON.stringify(object));
  await kubectl('apply', '--server-side', '--field-manager=argocd-controller', '-f', file);
}

const lockOf = (node: string): string | undefined =>
  scene.fleet.nodes.get(node)?.host.settings.rendered['version-lock'];

const isLocked = (history: History, node: string, version: string): boolean =>
  shadowOf(history, node)?.status?.version_wish?.ours.version_lock === version && lockOf(node) === version;

const pinned = (pool: Pool, version: string): Promise<unknown> =>
  scene.until((history) => POOLS[pool].every((node) => isLocked(history, node, version)));

const runs = (pool: Pool, version: string): Promise<unknown> =>
  scene.until((history) => POOLS[pool].every((node) => atRest(history, version).includes(node)));

const rebooted = (): readonly string[] => scene.fleet.reboots.map(({ node }) => node).toSorted();

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator(await stage.manifestsWith({ UPDATE_CHECK_INTERVAL_IN_SEC: '20' }));
  for (const pool of ['test', 'production'] as const) await commit(pool, { exact: BEFORE });
  await kubectl(
    'annotate',
    'namespace',
    'brupop-bottlerocket-aws',
    'brupop.bottlerocket.aws/paused=until pools are there',
  );
  scene = await stage.startFleet({ nodes: 4, to: NEXT });
  await scene.until(({ nodes }) => nodes.size === 4);
  for (const [pool, nodes] of Object.entries(POOLS)) await kubectl('label', 'node', ...nodes, `${POOL}=${pool}`);
  await kubectl('annotate', 'namespace', 'brupop-bottlerocket-aws', 'brupop.bottlerocket.aws/paused-');
}, 120_000);

afterAll(() => stage.strike(), 60_000);

test('a pin on what runs locks each host, and nobody starts on what is newer', async () => {
  for (const pool of ['test', 'production'] as const) await pinned(pool, BEFORE);
  await scene.until((history) =>
    Object.values(POOLS)
      .flat()
      .every((node) => ['UpToDate', 'VersionPinned'].includes(verdict(history, node)?.reason ?? '')),
  );
  expect(rebooted()).toEqual([]);
}, 120_000);

test('a pin that moves in git moves the test pool, and production once it moves there, while a newer release is out', async () => {
  await commit('test', { exact: NEXT });
  await runs('test', NEXT);
  expect(rebooted()).toEqual([...POOLS.test]);
  scene.fleet.releases.publish({ version: NEWEST });
  await commit('production', { exact: NEXT });
  await runs('production', NEXT);
  for (const pool of ['test', 'production'] as const) await pinned(pool, NEXT);
  expect(rebooted()).toEqual([...POOLS.test, ...POOLS.production]);
  // An attempt that fails on the way is tried again after two minutes.
}, 400_000);

test('a pin on an older release leads the test pool back to it, drained as for any update', async () => {
  await commit('test', { exact: BEFORE });
  await runs('test', BEFORE);
  expect(POOLS.test.map(lockOf)).toEqual([BEFORE, BEFORE]);
}, 180_000);

test('without pins each host has back what it had, and goes to the newest release', async () => {
  for (const pool of ['test', 'production'] as const) await commit(pool);
  for (const pool of ['test', 'production'] as const) await runs(pool, NEWEST);
  await scene.until(({ shadows }) => [...shadows.values()].every(({ status }) => status?.version_wish == null));
  expect(Object.values(POOLS).flat().map(lockOf)).toEqual(Array(4).fill('latest'));
}, 240_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene, { concurrency: 1 })).toEqual([]);
});
