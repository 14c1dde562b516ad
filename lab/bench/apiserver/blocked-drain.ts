import { addBudget } from '../../../test/apiserver/budgets.ts';
import { evictions, started, World } from '../../../test/apiserver/world.ts';
import type { Bench, Figure } from '../bench.ts';

const PODS = 10;
/** How long one request of an agent lasts. */
const REQUEST_MS = 60_000;
const WARM_UP = 5;
/** Within the deadline of the drain. */
const MINUTES = 20;

export const blockedDrain: Bench = {
  name: 'blocked drain',
  what: `evictions for ${PODS} pods that a budget blocks, in virtual time, while their agent asks one replica after the other`,
  async run() {
    const figures: Figure[] = [];
    for (const count of [1, 2, 3])
      figures.push({ name: `replicas: ${count}`, value: await evictionsAMinute(count), unit: 'a minute' });
    return figures;
  },
};

async function evictionsAMinute(count: number): Promise<number> {
  const world = await World.create();
  for (let index = 0; index < PODS; index++) await world.addPod(`web-${index}`, { labels: { app: 'web' } });
  await addBudget(world, 'web');
  const replicas = Array.from({ length: count }, () => world.replica());
  const asked = (): number => replicas.flatMap(evictions).length;
  let before = 0;
  for (let minute = 0; minute < WARM_UP + MINUTES; minute++) {
    if (minute === WARM_UP) before = asked();
    const gone = new AbortController();
    const agent = await world.agent();
    const drain = replicas[minute % count]?.service.cordonAndDrain(agent, gone.signal);
    if (drain) void started(drain);
    await world.clock.advance(REQUEST_MS);
    gone.abort(new Error('the request has ended'));
  }
  return (asked() - before) / MINUTES;
}
