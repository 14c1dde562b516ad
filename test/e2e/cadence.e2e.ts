import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { RELEASE_SHORT_NAME, releaseObjectName } from '../../runtime/api/release/names.ts';
import type { ReleaseResource } from '../../runtime/api/resources.ts';
import { familyOf } from '../../runtime/api/shadow/semver.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { leftByUpdates } from './left.ts';
import { atRest, verdict } from './looks.ts';
import { Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';
import { haltOf, pause } from './undoing.ts';

/** How fast a release comes to nodes: by type of machine, wider and wider, ahead of the windows, and to none twice. */

const TYPE = 'example.com/type';
const TYPES = { a: ['node-1', 'node-2', 'node-3'], b: ['node-4', 'node-5'] } as const;
const NODES = Object.values(TYPES).flat();
const [NEXT, NEWEST] = ['1.39.0', '1.40.0'] as const;
const POOL = 'example.com/pool';
const LATE = /1\.39\.0 on .* will be late by \d+ h at least: .* goes to Frozen \(freezes\)/;

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator(
    await stage.manifestsWith({ MAX_CONCURRENT_UPDATE: 'unlimited', UPDATE_CHECK_INTERVAL_IN_SEC: '20' }),
  );
  const spec = {
    nodeSelector: { matchLabels: { [POOL]: 'all' } },
    maxConcurrent: 'unlimited',
    minInterval: '24h',
    completeWithin: '1s',
    windows: [{ start: '0 0 1 1 *', duration: '1m' }],
    freezes: [{ from: '2020-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z', reason: 'a fair', exceptExpedited: true }],
    proof: { per: TYPE, soak: '15s', widen: 1 },
  };
  const file = join(stage.cluster.dir, 'all.json');
  const object = { apiVersion: POLICY_API_VERSION, kind: POLICY_KIND, metadata: { name: 'all' }, spec };
  await writeFile(file, JSON.stringify(object));
  await kubectl('apply', '-f', file);
  // Until pools are there.
  await pause.say();
  scene = await stage.startFleet({ nodes: NODES.length, to: NEXT });
  await scene.until(({ nodes }) => nodes.size === NODES.length);
  for (const [type, nodes] of Object.entries(TYPES))
    await kubectl('label', 'node', ...nodes, `${TYPE}=${type}`, `${POOL}=all`);
  await pause.takeBack();
}, 120_000);

afterAll(() => stage.strike(), 60_000);

const says = (reason: string): Promise<unknown> =>
  scene.until((history) => NODES.every((node) => verdict(history, node)?.reason === reason));

const rebooted = (): readonly string[] => scene.fleet.reboots.map(({ node }) => node);

async function ledger(version: string): Promise<ReleaseResource> {
  const [node] = scene.history.nodes.values();
  const name = releaseObjectName({ family: node ? familyOf(node) : '', version });
  return JSON.parse((await kubectl('get', RELEASE_SHORT_NAME, name, '-o', 'json')).stdout) as ReleaseResource;
}

test('a release in a freeze goes nowhere until it is expedited, and the command says what undoes it', async () => {
  await says('Frozen');
  expect(rebooted()).toEqual([]);
  await kubectl('wait', 'bup', 'all', '--for=condition=WillMissDeadline', '--timeout=60s');
  const { stdout } = await kubectl(
    'get',
    'bup',
    'all',
    '-o',
    'jsonpath={.status.conditions[?(@.type=="WillMissDeadline")].message}',
  );
  expect(stdout).toMatch(LATE);
  expect((await plugin.run('why', 'node-1')).out).toMatch(LATE);
  expect((await plugin.page()).sections.policies).toMatchObject([{ late: expect.stringMatching(LATE) }]);
  const { code, out } = await plugin.run('expedite', NEXT, '--policy', 'all');
  expect([code, out]).toEqual([0, expect.stringMatching(/is expedited under policy all[^]*undo: kubectl patch brr/)]);
}, 120_000);

test('nodes of one type prove it first, each type proves it for itself, and all are updated in the end', async () => {
  const waiting = await scene.until((history) => NODES.find((node) => verdict(history, node)?.reason === 'Unproven'));
  const unproven = /Unproven +1\.39\.0 is yet to be proven/;
  expect((await plugin.run('why', waiting)).out).toMatch(unproven);
  expect((await plugin.run('plan')).out).toMatch(unproven);
  expect((await plugin.page()).nodes.map(({ reason }) => reason)).toContain('Unproven');
  await scene.until((history) => NODES.every((node) => atRest(history, NEXT).includes(node)));
  const { status } = await ledger(NEXT);
  const { provenFor, provenAt } = status?.policies?.['all'] ?? {};
  expect([provenFor?.values.toSorted(), provenAt]).toEqual([['a', 'b'], expect.any(String)]);
}, 300_000);

test('the next release waits for its interval, though the one before was expedited, and why says so', async () => {
  scene.fleet.releases.publish({ version: NEWEST });
  await says('Frozen');
  const kept = await plugin.run('why', 'node-1');
  expect(kept.out).toContain('its last update was finished at');
  await kubectl('patch', 'bup', 'all', '--type', 'merge', '--patch', '{"spec":{"freezes":[]}}');
  await says('RecentlyUpdated');
  expect((await plugin.run('plan')).out).toMatch(/node-1 +RecentlyUpdated +its last update was finished at/);
  const { nodes } = await plugin.page();
  expect(nodes.map(({ reason }) => reason)).toEqual(NODES.map(() => 'RecentlyUpdated'));
  for (const [reason, word] of Object.entries({ Paused: pause, RolloutHalted: haltOf(NEWEST) })) {
    await word.say();
    await says(reason);
    expect(leftByUpdates(scene.history)).toEqual([]);
    await word.takeBack();
    await says('RecentlyUpdated');
  }
  expect(rebooted()).toHaveLength(NODES.length);
}, 180_000);

test('without the policy the nodes go by the variables, and nothing of ours is left on any', async () => {
  await kubectl('delete', 'bup', 'all');
  await scene.until((history) => NODES.every((node) => atRest(history, NEWEST).includes(node)));
  expect(leftByUpdates(scene.history)).toEqual([]);
}, 300_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene, { concurrency: NODES.length })).toEqual([]);
});
