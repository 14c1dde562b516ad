import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { releasePatch } from '../../../runtime/api/marks/patches.ts';
import type { Objects } from '../../../test/apiserver/objects.ts';
import type { Bench, Figure } from '../bench.ts';
import { drainAs } from './drain-as.ts';
import { podName } from './metered.ts';
import type { Replica } from './replica.ts';
import { type Identity, type Stand, withStand } from './stand.ts';

const NODES = 50;
const PODS = 30;
/** How long a pod takes to end. */
const ENDING_MS = 5_000;
/** One after the other: what a drain leaves behind would add up. */
const ROUNDS = 4;
/** The apiserver's default. */
const MAX_EVICTIONS = 5;

export const apiserverDrains: Bench = {
  name: 'apiserver drains',
  what: `one replica drains ${NODES} nodes of ${PODS} pods at once, ${ROUNDS} times; each pod takes ${ENDING_MS / 1000} s to end`,
  run: (context) =>
    withStand({ root: context.root, agents: NODES }, async (stand) => {
      const over = new AbortController();
      const ending = endPods(stand.objects, { endingMs: ENDING_MS, signal: over.signal });
      const memory = new MemoryCurve(stand.replica, over.signal);
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        context.progress(`adds ${NODES * PODS} pods and drains, ${round + 1} of ${ROUNDS}`);
        await addPods(stand);
        rounds.push({ seconds: await drainAll(stand), heapMb: await stand.replica.heapMb() });
      }
      over.abort();
      await Promise.all([ending, memory.ended]);
      const cpu = {
        name: 'CPU of the apiserver for a drain',
        value: (1000 * (await stand.replica.cpuSeconds())) / (ROUNDS * NODES),
        unit: 'ms',
      };
      return [...drainFigures(rounds), cpu, ...evictionFigures(stand), ...memoryFigures(rounds, memory)];
    }),
};

interface Round {
  /** Of each node. */
  readonly seconds: readonly number[];
  readonly heapMb: number;
}

function drainFigures(rounds: readonly Round[]): Figure[] {
  const seconds = rounds.flatMap((round) => round.seconds);
  return [
    { name: 'drains that did not finish', value: ROUNDS * NODES - seconds.length, unit: '', atMost: 0 },
    { name: 'slowest drain', value: Math.max(...seconds), unit: 's' },
    { name: 'slowest drain / time of a pod to end', value: (1000 * Math.max(...seconds)) / ENDING_MS, unit: '' },
  ];
}

function evictionFigures({ metered: { evictions } }: Stand): Figure[] {
  const { asked, mostOnNode, mostInAll } = evictions;
  return [
    { name: 'eviction requests for each pod', value: asked / (ROUNDS * NODES * PODS), unit: '', atMost: 1 },
    { name: 'eviction requests in flight for a node, at most', value: mostOnNode, unit: '', atMost: MAX_EVICTIONS },
    { name: 'and for all, at most', value: mostInAll, unit: '', atMost: NODES * MAX_EVICTIONS },
  ];
}

function memoryFigures(rounds: readonly Round[], { megabytes }: MemoryCurve): Figure[] {
  const quarter = megabytes.length / ROUNDS;
  return rounds.flatMap(({ heapMb }, round) => [
    {
      name: `round ${round + 1}: memory at its highest`,
      value: Math.max(...megabytes.slice(round * quarter, (round + 1) * quarter)),
      unit: 'MiB',
      atMost: 200,
    },
    { name: `round ${round + 1}: heap in use afterwards`, value: heapMb, unit: 'MiB' },
  ]);
}

/** Resident memory, once a second. */
class MemoryCurve {
  readonly megabytes: number[] = [];
  readonly ended: Promise<void>;

  constructor(replica: Replica, signal: AbortSignal) {
    this.ended = this.#follow(replica, signal);
  }

  async #follow(replica: Replica, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.megabytes.push((await replica.memoryMb()).now);
      await sleep(1000, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Seconds that each drain took that finished. */
export async function drainAll({ objects, replica, agents }: Stand): Promise<number[]> {
  const began = performance.now();
  const seconds: number[] = [];
  await Promise.all(
    agents.map(async (agent) => {
      if (await drainAs(agent, replica.endpoint)) seconds.push((performance.now() - began) / 1000);
    }),
  );
  for (const agent of agents) await release(objects, agent);
  return seconds;
}

async function addPods({ objects, agents }: Stand): Promise<void> {
  for (const { nodeName: node } of agents)
    for (let index = 0; index < PODS; index++) await objects.addPod(podName(node, index), { node });
}

/** Gives the node back, for its next drain. */
async function release(objects: Objects, { nodeName }: Identity): Promise<void> {
  const patch = releasePatch(await objects.node(nodeName));
  if (patch) await objects.patch(`/api/v1/nodes/${nodeName}`, { ...patch });
}

/** The kubelets: each pod ends a while after its deletion was asked for. */
export async function endPods(
  objects: Objects,
  { endingMs, signal }: { readonly endingMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const ending = new Set<string>();
  for await (const { object } of objects.transport.watch({ path: '/api/v1/pods', signal })) {
    const { uid, name, namespace, deletionTimestamp } = (object as Pod).metadata;
    if (deletionTimestamp === undefined || ending.has(uid)) continue;
    ending.add(uid);
    void sleep(endingMs).then(() => objects.endPod(name, namespace));
  }
}
