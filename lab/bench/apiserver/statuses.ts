import type { Bench, BenchContext, Figure } from '../bench.ts';
import { withStand } from './stand.ts';
import { type UnderLoad, underLoad } from './under-load.ts';

const AGENTS = 1_000;
const RATE = 500;
/** On this machine two cores bear no more: each handshake costs the apiserver, and the load, about a millisecond. */
const RATE_NEW = 200;
const SECONDS = 60;
/** Megabytes. */
const MOST_MEMORY = 200;

export const apiserverStatuses: Bench = {
  name: 'apiserver statuses',
  what: `${AGENTS} agents put ${RATE} statuses a second for ${SECONDS} s to one replica on kept connections, then ${RATE_NEW} on new ones`,
  run: async (context) => [
    ...(await measured(context, { rate: RATE, kept: 1, how: 'kept connections' })),
    ...(await measured(context, { rate: RATE_NEW, kept: 0, how: 'new connections' })),
  ],
};

type Way = Pick<UnderLoad, 'rate' | 'kept' | 'how'>;

/** Each way on a replica of its own: what a process has once needed, it does not give back. */
async function measured(context: BenchContext, way: Way): Promise<readonly Figure[]> {
  const { root } = context;
  context.progress(`adds ${AGENTS} nodes`);
  return withStand({ root, agents: AGENTS }, async (stand) => {
    context.progress(`puts ${way.rate} statuses a second on ${way.how}`);
    const figures = await underLoad(stand, { root, seconds: SECONDS, ...way });
    const { highest } = await stand.replica.memoryMb();
    return [
      ...figures,
      { name: `${way.how}: memory at its highest`, value: highest, unit: 'MiB', atMost: MOST_MEMORY },
      { name: `${way.how}: heap in use afterwards`, value: await stand.replica.heapMb(), unit: 'MiB' },
    ];
  });
}
