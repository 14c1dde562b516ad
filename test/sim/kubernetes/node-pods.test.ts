import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ADMIN } from '../../../sim/cluster/cluster.ts';
import { NodePods, type NodePodsOptions } from '../../../sim/kubernetes/kubelet/node-pods.ts';
import type { SimPod } from '../../../sim/kubernetes/types.ts';
import { PODS, World } from './world.ts';

let world: World;
let over: AbortController;
let ended: Promise<void>;
beforeEach(async () => {
  world = await World.start();
  over = new AbortController();
});
afterEach(async () => {
  over.abort(new Error('the test is over'));
  await world.clock.advanceUntil(ended, 60_000);
  await world.stop();
});

/** The pods of a node that is on, which are started by and by. */
async function nodePods(
  options: Pick<NodePodsOptions, 'hooks' | 'runs'>,
  ...names: readonly string[]
): Promise<NodePods> {
  const { clock, cluster } = world;
  const pods = new NodePods({
    transport: cluster.transport(ADMIN),
    clock,
    random: () => 0.5,
    nodeName: 'n9',
    ...options,
  });
  ended = pods.run(over.signal);
  pods.powerOn();
  await world.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n9' } });
  for (const name of names) {
    const spec = { nodeName: 'n9', containers: [{ name: 'main' }] };
    await world.post(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  }
  await clock.advance(5000);
  return pods;
}

test('of the pods of a node only those run that somebody runs here', async () => {
  const started: string[] = [];
  const hooks = { onPodStart: ({ metadata }: SimPod) => void started.push(metadata.name) };
  await nodePods({ hooks, runs: ({ metadata }) => metadata.name === 'ours' }, 'ours', 'theirs');
  expect(started).toEqual(['ours']);
});

test('a node that goes down stops containers that are not ready yet', async () => {
  const stopped: string[] = [];
  const hooks = {
    onPodStart: () => new Promise<void>(() => undefined),
    onPodStop: ({ metadata }: SimPod) => void stopped.push(metadata.name),
  };
  const pods = await nodePods({ hooks }, 'slow');
  await world.clock.advanceUntil(pods.powerOff(), 1000);
  expect(stopped).toEqual(['slow']);
});
