import type { Bench, BenchContext, Figure } from '../bench.ts';
import { drainAll, endPods } from './drains.ts';
import { addHeavyPod } from './heavy-pod.ts';
import { podName } from './metered.ts';
import { type Stand, withStand } from './stand.ts';

const FLEETS = [15, 100];
const PODS = 110;
/** How long a pod takes to end. */
const ENDING_MS = 30_000;
/** Of the 256 MiB that a replica has. */
const MOST_MB = 220;

export const heavyDrains: Bench = {
  name: 'heavy drains',
  what: `one replica drains ${FLEETS.join(' and ')} nodes at once, of ${PODS} pods of 17 KB each, which take ${ENDING_MS / 1000} s to end`,
  async run(context) {
    const figures: Figure[] = [];
    for (const agents of FLEETS) {
      const ofFleet = await withStand({ root: context.root, agents }, (stand) => drainHeavy(stand, context));
      for (const figure of ofFleet) figures.push({ ...figure, name: `${agents} nodes: ${figure.name}` });
    }
    return figures;
  },
};

async function drainHeavy(stand: Stand, context: BenchContext): Promise<Figure[]> {
  const { objects, replica, agents, metered } = stand;
  const over = new AbortController();
  context.progress(`adds ${agents.length * PODS} pods and drains`);
  for (const { nodeName } of agents)
    for (let index = 0; index < PODS; index++) await addHeavyPod(objects, podName(nodeName, index), nodeName);
  const ending = endPods(objects, { endingMs: ENDING_MS, signal: over.signal });
  const requests = metered.requests;
  const cpu = await replica.cpuSeconds();
  const seconds = await drainAll(stand);
  over.abort();
  await ending;
  return [
    { name: 'drains that did not finish', value: agents.length - seconds.length, unit: '', atMost: 0 },
    { name: 'slowest drain', value: Math.max(...seconds), unit: 's' },
    { name: 'slowest drain / time of a pod to end', value: (1000 * Math.max(...seconds)) / ENDING_MS, unit: '' },
    { name: 'memory at its highest', value: (await replica.memoryMb()).highest, unit: 'MiB', atMost: MOST_MB },
    { name: 'heap in use afterwards', value: await replica.heapMb(), unit: 'MiB' },
    { name: 'CPU for a drain', value: (1000 * ((await replica.cpuSeconds()) - cpu)) / agents.length, unit: 'ms' },
    { name: 'requests for a drain', value: (metered.requests - requests) / agents.length, unit: '' },
  ];
}
