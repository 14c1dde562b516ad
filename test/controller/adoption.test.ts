import { afterEach, expect, test } from '@jest/globals';
import { ADOPTED_ANNOTATION, MANAGED_LABEL } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

const LABEL_NODES = { env: { LABEL_NODES: 'true' } };
const label = async (name: string): Promise<string | undefined> =>
  (await stage.nodes.get(name))!.metadata.labels?.[MANAGED_LABEL];

async function join(name: string, osImage: string, labels: object = {}): Promise<void> {
  await stage.create('/api/v1/nodes', { metadata: { name, labels } });
  await stage.patch(`/api/v1/nodes/${name}/status`, { status: { nodeInfo: { osImage } } });
}

test('Bottlerocket nodes get the label, others do not', async () => {
  stage = await Stage.with();
  stage.start(LABEL_NODES);
  await join('a', 'Bottlerocket OS 1.0.0 (aws-k8s-1.33)');
  await join('b', 'Ubuntu 24.04 LTS');
  // Of EKS Auto Mode: AWS replaces them, and lets nobody update them.
  await join('c', 'Bottlerocket (EKS Auto, Standard) 2026.11.9 (aws-k8s-1.33-standard)');
  await stage.pass();
  expect([await label('a'), await label('b'), await label('c')]).toEqual(['2.0.0', undefined, undefined]);
});

test('no node gets it unless that was asked for', async () => {
  stage = await Stage.with();
  stage.start();
  await join('a', 'Bottlerocket OS 1.0.0 (aws-k8s-1.33)');
  await stage.pass();
  expect(await label('a')).toBeUndefined();
});

test.each([
  ['that was given', {}],
  ['that was there before', { [MANAGED_LABEL]: '2.0.0' }],
])('a label %s and that an administrator removes stays removed', async (_name, labels) => {
  stage = await Stage.with();
  stage.start(LABEL_NODES);
  await join('a', 'Bottlerocket OS 1.0.0 (aws-k8s-1.33)', labels);
  await stage.pass();
  await stage.patch('/api/v1/nodes/a', { metadata: { labels: { [MANAGED_LABEL]: null } } });
  await stage.pass(120_000);
  expect(await label('a')).toBeUndefined();
  expect((await stage.nodes.get('a'))!.metadata.annotations?.[ADOPTED_ANNOTATION]).toBeDefined();
});

test('a label with another value is left as it is', async () => {
  stage = await Stage.with();
  stage.start(LABEL_NODES);
  await join('a', 'Bottlerocket OS 1.0.0 (aws-k8s-1.33)', { [MANAGED_LABEL]: 'off' });
  await stage.pass();
  expect(await label('a')).toBe('off');
});
