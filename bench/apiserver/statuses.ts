import type { Bench } from '../bench.ts';
import { withStand } from './stand.ts';
import { underLoad } from './under-load.ts';

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
  run: (context) => {
    context.progress(`adds ${AGENTS} nodes`);
    return withStand({ root: context.root, agents: AGENTS }, async (stand) => {
      const load = { root: context.root, rate: RATE, seconds: SECONDS };
      context.progress('puts statuses on kept connections');
      const onKept = await underLoad(stand, { ...load, kept: 1, how: 'kept connections' });
      const afterKept = await stand.replica.memoryMb();
      context.progress('puts each status on a new connection');
      const onNew = await underLoad(stand, { ...load, rate: RATE_NEW, kept: 0, how: 'new connections' });
      const { highest } = await stand.replica.memoryMb();
      return [
        ...onKept,
        { name: 'kept connections: memory at its highest', value: afterKept.highest, unit: 'MB', atMost: MOST_MEMORY },
        ...onNew,
        { name: 'new connections: memory at its highest', value: highest, unit: 'MB', atMost: MOST_MEMORY },
        { name: 'heap in use afterwards', value: await stand.replica.heapMb(), unit: 'MB' },
      ];
    });
  },
};
