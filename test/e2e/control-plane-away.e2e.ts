import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import type { Shadow } from '../../runtime/api/shadow/model.ts';
import { PLURAL } from '../../runtime/api/shadow/names.ts';
import { auditOf } from './audit.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, verdict } from './looks.ts';
import { type Scene, Stage } from './scene.ts';

/** The parts of a control plane that an update depends on. */

const NODES = ['node-1', 'node-2'];
const POOL = 'example.com/pool';
const CONTROL_PLANE = 'kube-controller-manager';

let stage: Stage;
let scene: Scene;
let shut: string;

async function file(name: string, object: object): Promise<string> {
  const path = join(stage.cluster.dir, name);
  await writeFile(path, JSON.stringify(object));
  return path;
}

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  shut = await file('shut.json', {
    apiVersion: POLICY_API_VERSION,
    kind: POLICY_KIND,
    metadata: { name: 'shut' },
    spec: { nodeSelector: { matchLabels: { [POOL]: 'all' } }, windows: [{ start: '0 0 1 1 *', duration: '1m' }] },
  });
  await kubectl('apply', '-f', shut);
  scene = await stage.startFleet({ nodes: NODES.length });
  await kubectl('label', 'node', '--all', `${POOL}=all`);
  await say('OutsideWindow');
}, 90_000);

afterAll(() => stage.strike(), 60_000);

/** Resolves when the controller says so of every node. */
async function say(reason: string): Promise<void> {
  await scene.until((history) => NODES.every((node) => verdict(history, node)?.reason === reason));
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

test('nothing starts while nobody leads the controllers that replace evicted pods, and the rollout goes on with them', async () => {
  const spec = { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' };
  const metadata = { name: CONTROL_PLANE, namespace: 'kube-system' };
  const lease = await file('lease.json', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  await kubectl('apply', '-f', lease);
  await kubectl('delete', '-f', shut);
  await scene.until((history) => NODES.some((node) => verdict(history, node)?.reason === 'ControlPlaneAway'));
  expect(await begun()).toEqual([]);
  await kubectl('delete', '-f', lease);
  await scene.until((history) => atRest(history, scene.options.to).length === NODES.length);
  expect(await invariants(scene)).toEqual([]);
}, 150_000);
