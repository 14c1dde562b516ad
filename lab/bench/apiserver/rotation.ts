import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { type Stand, withStand } from './stand.ts';
import { underLoad } from './under-load.ts';

const AGENTS = 1_000;
/** Far below what the machine bears: a request that is lost is lost to the rotation. */
const RATE = 100;
const SECONDS = 60;
/** Above the five seconds at which the apiserver looks at its files, so that it sees each certificate. */
const EVERY_SECONDS = 6;
const ROTATIONS = SECONDS / EVERY_SECONDS - 1;

export const apiserverRotation: Bench = {
  name: 'apiserver rotation',
  what: `${AGENTS} agents put ${RATE} statuses a second for ${SECONDS} s, half of them on new connections, while key and certificate are replaced every ${EVERY_SECONDS} s`,
  run: (context) => {
    context.progress(`adds ${AGENTS} nodes`);
    return withStand({ root: context.root, agents: AGENTS }, async (stand) => {
      context.progress('puts statuses and replaces certificates');
      const [figures] = await Promise.all([
        underLoad(stand, { root: context.root, rate: RATE, seconds: SECONDS, kept: 0.5, how: 'rotation' }),
        rotate(stand),
      ]);
      return [...figures, { name: 'certificates replaced', value: ROTATIONS, unit: '' }];
    });
  },
};

async function rotate({ replica }: Stand): Promise<void> {
  for (let rotation = 0; rotation < ROTATIONS; rotation++) {
    await sleep(EVERY_SECONDS * 1000);
    await replica.rotate();
  }
}
