import { expect, test } from '@jest/globals';
import { ADMIN } from '../../../sim/cluster/cluster.ts';
import { NodePods } from '../../../sim/kubernetes/kubelet/node-pods.ts';
import type { SimPod } from '../../../sim/kubernetes/types.ts';
import { PODS, World } from './world.ts';

test('of the pods of a node only those run that somebody runs here', async () => {
  const world = await World.start();
  const { clock } = world;
  const started: string[] = [];
  const over = new AbortController();
  const pods = new NodePods({
    transport: world.cluster.transport(ADMIN),
    clock,
    random: () => 0.5,
    nodeName: 'n9',
    hooks: { onPodStart: ({ metadata }: SimPod) => void started.push(metadata.name) },
    runs: ({ metadata }) => metadata.name === 'ours',
  });
  const ended = pods.run(over.signal);
  pods.powerOn();
  await world.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n9' } });
  for (const name of ['ours', 'theirs']) {
    const spec = { nodeName: 'n9', containers: [{ name: 'main' }] };
    await world.post(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  }
  await clock.advance(5000);
  expect(started).toEqual(['ours']);
  over.abort(new Error('the test is over'));
  await clock.advanceUntil(ended, 60_000);
  await world.stop();
});
