import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CustomResourceDefinition, KubeList, KubeObject, Node } from '../../runtime/kube/objects.ts';
import { collectionPath } from '../../runtime/kube/paths.ts';
import {
  COMPONENTS,
  CONVERSION_DATA_ANNOTATION,
  CRD_NAME,
  GROUP,
  MANAGED_LABEL,
  MANAGED_LABEL_VALUE,
  NAMESPACE,
  PLURAL,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { registration } from '../../lab/sim/kubernetes/kubelet/node-status.ts';
import { applyAll } from '../../lab/sim/world/manifests.ts';
import { eventually } from '../contract/eventually.ts';
import { comesTrue } from './come-true.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { shadowOf, versionOf } from './looks.ts';
import { CRD_OF_V1 } from './older-crd.ts';
import { createShadow, type OlderShadow } from './older-shadow.ts';
import { type Scene, Stage } from './scene.ts';

const NODES = ['node-1', 'node-2', 'node-3'];
const IDLE: OlderShadow = {
  version: 'v1',
  spec: { state: 'Idle', state_transition_timestamp: null, version: null },
  status: { current_version: '1.38.0', target_version: '1.38.0', current_state: 'Idle' },
};
/** In the middle of an update, in a state that v2 has not. */
const UNDER_WAY: OlderShadow = {
  version: 'v1',
  spec: { state: 'PerformedUpdate', state_transition_timestamp: '2026-01-01T00:00:00.5Z', version: '1.39.0' },
  status: { current_version: '1.38.0', target_version: '1.39.0', current_state: 'StagedUpdate' },
};

let stage: Stage;
let scene: Scene;
const uids: string[] = [];

beforeAll(async () => {
  stage = await Stage.set();
  const { transport } = stage.cluster;
  await kubectl('create', 'namespace', NAMESPACE, '--save-config');
  await applyAll(transport, [CRD_OF_V1]);
  await kubectl('wait', '--for=condition=Established', 'crd', CRD_NAME);
  for (const name of NODES) {
    const body = registration(name, { [MANAGED_LABEL]: MANAGED_LABEL_VALUE });
    const node = (await transport.request({ method: 'POST', path: '/api/v1/nodes', body })) as Node;
    uids.push(await eventually(() => createShadow(transport, node, name === 'node-2' ? UNDER_WAY : IDLE)));
  }
});

afterAll(() => stage.strike(), 60_000);

test('shadows that are stored as v1 cannot be read while no apiserver runs, and agents and controller wait for it', async () => {
  await stage.installOperator();
  await kubectl('scale', '-n', NAMESPACE, 'deployment/brupop-apiserver', '--replicas=0');
  scene = await stage.startFleet({ nodes: 3 });
  await comesTrue(() => waiting().length === 4);
  const started = waiting();
  await expect(kubectl('get', '--raw', pathOf('v2'))).rejects.toThrow('conversion webhook');
  expect((await crd()).status?.storedVersions).toEqual(['v1', 'v2']);
  await kubectl('scale', '-n', NAMESPACE, 'deployment/brupop-apiserver', '--replicas=3');
  await comesTrue(() => scene.fleet.pods.pids(COMPONENTS.apiserver).length === 3);
  expect(waiting()).toEqual(started);
});

test('once it runs, the rollout goes on where it stood, and everything is stored as v2', async () => {
  await scene.rolledOver();
  expect([...scene.history.nodes.values()].map(versionOf)).toEqual(Array(3).fill('1.39.0'));
  expect(NODES.map((name) => shadowOf(scene.history, name)?.metadata.uid)).toEqual(uids);
  await comesTrue(async () => (await crd()).status?.storedVersions?.length === 1);
  expect((await crd()).status?.storedVersions).toEqual(['v2']);
}, 240_000);

test('who reads and writes v1 still can, and what v2 says of the node stays true', async () => {
  const v1 = `${PLURAL}.v1.${GROUP}`;
  const before = shadowOf(scene.history, 'node-1')?.status;
  expect(before?.conditions).toHaveLength(1);
  await kubectl('annotate', v1, shadowName('node-1'), '-n', NAMESPACE, 'example.com/by=v1');
  const { items } = JSON.parse((await kubectl('get', '--raw', pathOf('v1'))).stdout) as KubeList<KubeObject>;
  expect(items.map(({ apiVersion, metadata: { uid } }) => [apiVersion, uid])).toEqual(
    uids.map((uid) => [`${GROUP}/v1`, uid]),
  );
  const shadow = await scene.until((history) => {
    const found = shadowOf(history, 'node-1');
    return found?.metadata.annotations?.['example.com/by'] === 'v1' && found;
  });
  expect(shadow.status).toMatchObject({ current_version: '1.39.0', current_state: 'Idle', crash_count: 0 });
  // A condition that had been lost and written anew would be of another time.
  expect(shadow.status).toEqual(before);
  expect(Object.keys(shadow.metadata.annotations ?? {})).not.toContain(CONVERSION_DATA_ANNOTATION);
  expect(shadow.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'node-1' }]);
});

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene)).toEqual([]);
});

/** Process ids of the agents and the controller. */
function waiting(): readonly number[] {
  return [COMPONENTS.agent, COMPONENTS.controller].flatMap((component) => scene.fleet.pods.pids(component));
}

function pathOf(version: string): string {
  return collectionPath({ group: GROUP, version, plural: PLURAL, namespace: NAMESPACE });
}

async function crd(): Promise<CustomResourceDefinition> {
  return JSON.parse((await kubectl('get', 'crd', CRD_NAME, '-o', 'json')).stdout) as CustomResourceDefinition;
}
