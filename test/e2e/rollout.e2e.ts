import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeList, KubeObject } from '../../runtime/kube/objects.ts';
import { collectionPath } from '../../runtime/kube/paths.ts';
import { GROUP, NAMESPACE, PLURAL } from '../../runtime/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/shadow/semver.ts';
import { eventually } from '../contract/eventually.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { DIST, Stage } from './scene.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.startCertManager();
}, 60_000);

afterAll(() => stage.strike(), 60_000);

test('the API server takes every manifest without an error and without a warning', async () => {
  // A dry run makes none for the rest to be in.
  await kubectl('create', 'namespace', NAMESPACE, '--save-config');
  const { stdout, stderr } = await kubectl('apply', '--dry-run=server', '--validate=strict', '-f', DIST);
  expect(stderr).toBe('');
  expect(
    stdout
      .trim()
      .split('\n')
      .every((line) => line.endsWith('(server dry run)')),
  ).toBe(true);
});

test('cert-manager issues every certificate, and the injector gives the CRD the authority that signed them', async () => {
  await stage.installOperator();
}, 90_000);

test('five nodes roll over one at a time, each empty when it goes down; a cordon that was there stays', async () => {
  const scene = await stage.startFleet({ nodes: 5 });
  await eventually(() => kubectl('cordon', 'node-5'));
  await scene.rolledOver();

  const nodes = [...scene.history.nodes.values()];
  expect(nodes.map(({ status }) => versionOfOsImage(status?.nodeInfo?.osImage))).toEqual(Array(5).fill('1.39.0'));
  expect(nodes.filter(({ spec }) => spec?.unschedulable).map(({ metadata }) => metadata.name)).toEqual(['node-5']);
  expect(new Set(scene.fleet.reboots.map(({ node }) => node)).size).toBe(5);
  expect(await invariants(scene)).toEqual([]);
}, 240_000);

test('who still reads v1 is answered through the conversion webhook, under the certificate that cert-manager issued', async () => {
  const path = collectionPath({ group: GROUP, version: 'v1', plural: PLURAL, namespace: NAMESPACE });
  const { items } = JSON.parse((await kubectl('get', '--raw', path)).stdout) as KubeList<KubeObject>;
  expect(items.map(({ apiVersion }) => apiVersion)).toEqual(Array(5).fill(`${GROUP}/v1`));
});
