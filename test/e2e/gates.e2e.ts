import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import type { Shadow } from '../../runtime/api/shadow/model.ts';
import { API_VERSION, CONTROLLER_DEPLOYMENT, KIND, PLURAL, shadowName } from '../../runtime/api/shadow/names.ts';
import { auditOf } from './audit.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, verdict } from './looks.ts';
import { Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';

/** What keeps a fleet from its update, and is seen in what others write. */

const NODES = ['node-1', 'node-2'];
/** Joins when the others are there. */
const LATE = 'node-3';
const POOL = 'example.com/pool';
const CONTROL_PLANE = 'kube-controller-manager';
/** As conditions have it: nobody else is in the way here. */
const NEWLY_RULED = 'WaitingForSlot';
/** Where another operator is. */
const ELSEWHERE = 'node-updates';

let stage: Stage;
let scene: Scene;
let plugin: Plugin;
let shut: string;

async function file(name: string, object: object): Promise<string> {
  const path = join(stage.cluster.dir, name);
  await writeFile(path, JSON.stringify(object));
  return path;
}

/** What an operator of the same names, in a namespace of its own, has there. */
function anotherOperator(): object {
  const metadata = (name: string) => ({ name, namespace: ELSEWHERE });
  const labels = { app: 'older' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'older', image: 'example.com/older:1' }] } };
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ELSEWHERE } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: metadata(CONTROLLER_DEPLOYMENT),
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    },
    { apiVersion: API_VERSION, kind: KIND, metadata: metadata(shadowName('node-1')), spec: { state: 'Idle' } },
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator();
  shut = await file('shut.json', {
    apiVersion: POLICY_API_VERSION,
    kind: POLICY_KIND,
    metadata: { name: 'shut' },
    spec: { nodeSelector: { matchLabels: { [POOL]: 'all' } }, windows: [{ start: '0 0 1 1 *', duration: '1m' }] },
  });
  await kubectl('apply', '-f', shut, '-f', await file('another-operator.json', anotherOperator()));
  scene = await stage.startFleet({ nodes: 3, spares: 1 });
  await scene.until(({ nodes }) => nodes.size === NODES.length);
  await kubectl('label', 'node', ...NODES, `${POOL}=all`);
}, 90_000);

afterAll(() => stage.strike(), 60_000);

/** Resolves when the controller says so of each of the nodes. */
async function says(reason: string, nodes: readonly string[] = NODES): Promise<void> {
  await scene.until((history) => nodes.every((node) => verdict(history, node)?.reason === reason));
}

/** Names of the shadows whose update was begun so far, disturbing anybody or not. */
async function begun(): Promise<readonly string[]> {
  const written = (await auditOf(stage.cluster)).filter(
    ({ objectRef, verb }) => objectRef?.resource === PLURAL && verb === 'patch',
  );
  const started = written.filter(({ responseObject }) => {
    const { state } = (responseObject as Partial<Shadow> | undefined)?.spec ?? {};
    return state !== undefined && state !== 'Idle';
  });
  return started.map(({ objectRef }) => objectRef?.name ?? '');
}

test('nothing starts beside another operator, which doctor and status name, until it is gone', async () => {
  await says('OtherOperator');
  const objects = `Deployment ${ELSEWHERE}/${CONTROLLER_DEPLOYMENT}, shadows in ${ELSEWHERE}`;
  expect((await plugin.run('doctor')).out).toContain(
    `BAD other operators: there is another one beside this: ${objects}`,
  );
  expect((await plugin.run('status')).out.replaceAll(/\s+/g, ' ')).toContain(
    `OtherOperator: another operator has shadows in ${ELSEWHERE}`,
  );
  await kubectl('delete', 'namespace', ELSEWHERE);
  await says('OutsideWindow');
}, 150_000);

test('a policy that is made anew, its label that is away, and one that comes after its node let nothing start', async () => {
  await kubectl('replace', '--force', '-f', shut);
  await kubectl('wait', '--for=condition=Accepted', 'bup/shut', '--timeout=60s');
  await kubectl('label', 'node', ...NODES, `${POOL}-`);
  await says(NEWLY_RULED);
  await kubectl('label', 'node', ...NODES, `${POOL}=all`);
  scene.fleet.powerOn(LATE);
  await says(NEWLY_RULED, [LATE]);
  await kubectl('label', 'node', LATE, `${POOL}=all`);
  await says('OutsideWindow', [...NODES, LATE]);
  expect(await begun()).toEqual([]);
}, 150_000);

test('nothing starts while nobody leads the controllers that replace evicted pods, and the rollout goes on with them', async () => {
  const spec = { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' };
  const metadata = { name: CONTROL_PLANE, namespace: 'kube-system' };
  const lease = await file('lease.json', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  await kubectl('apply', '-f', lease);
  await kubectl('delete', '-f', shut);
  await scene.until((history) => NODES.some((node) => verdict(history, node)?.reason === 'ControlPlaneAway'));
  expect(await begun()).toEqual([]);
  await kubectl('delete', '-f', lease);
  await scene.until((history) => atRest(history, scene.options.to).length === 3);
  expect(await invariants(scene)).toEqual([]);
}, 180_000);
