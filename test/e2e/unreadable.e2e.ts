import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Node } from '../../runtime/kube/objects.ts';
import { CRD_NAME, GROUP, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { registration } from '../../lab/sim/kubernetes/kubelet/node-status.ts';
import { applyAll } from '../../lab/sim/world/manifests.ts';
import { eventually } from '../contract/eventually.ts';
import { examples } from '../documents.ts';
import { shell } from '../shell.ts';
import { kubectl } from './kubectl.ts';
import { CRD_OF_V1 } from './older-crd.ts';
import { createShadow } from './older-shadow.ts';
import { Plugin } from './plugin.ts';
import { DIST, Stage } from './scene.ts';

/** A shadow that is stored as v1, where no apiserver ever runs that could convert it. */

let stage: Stage;
let plugin: Plugin;

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  const { transport } = stage.cluster;
  await kubectl('create', 'namespace', NAMESPACE, '--save-config');
  await applyAll(transport, [CRD_OF_V1]);
  await kubectl('wait', '--for=condition=Established', 'crd', CRD_NAME);
  const node = (await transport.request({
    method: 'POST',
    path: '/api/v1/nodes',
    body: registration('node-1', {}),
  })) as Node;
  const status = { current_version: '1.38.0', target_version: '1.38.0', current_state: 'Idle' };
  await eventually(() => createShadow(transport, node, { version: 'v1', spec: { state: 'Idle' }, status }));
  await stage.installOperator();
}, 90_000);

afterAll(() => stage.strike(), 60_000);

const shellHere = (commands: string) => {
  const { kubeconfig, dir: home } = stage.cluster;
  return shell(commands, { kubeconfig, home });
};

test('the documented way to take the operator away stops before the webhook goes', async () => {
  const [, commands = ''] = examples('docs/deploying.md', 'sh').find(([title]) => title === 'Taking it away') ?? [];
  const lines = commands.trim().split('\n');
  const removal = lines.findIndex((line) => line.startsWith('kubectl delete'));
  const check = lines[removal - 1]?.replace(/--timeout=\S+/, '--timeout=1s') ?? '';
  expect(check).toContain('storedVersions');
  expect((await shellHere(check)).code).not.toBe(0);
});

test('no namespace can be deleted, and doctor says why and how that ends', async () => {
  await kubectl('create', 'namespace', 'tenant');
  await kubectl('delete', 'namespace', 'tenant', '--wait=false');
  await kubectl('wait', '--for=condition=NamespaceDeletionContentFailure', 'namespace/tenant', '--timeout=120s');
  const { code, out } = await plugin.run('doctor');
  expect({ code, out }).toEqual({
    code: 3,
    out: expect.stringMatching(/^BAD definitions: shadows are stored as v1, /),
  });
  const [patch = 'no command'] = /kubectl patch crd .*$/m.exec(out) ?? [];
  expect(await shellHere(patch)).toMatchObject({ code: 0 });
  await kubectl('wait', '--for=delete', 'namespace/tenant', '--timeout=120s');
}, 300_000);

test('then everything of the operator can be taken away', async () => {
  await kubectl('delete', '--ignore-not-found', '-f', DIST, '--timeout=120s');
  const { stdout } = await kubectl('get', 'crd,namespace', '-o', 'name');
  expect(stdout).not.toMatch(new RegExp(`${GROUP}|${NAMESPACE}`));
}, 150_000);
