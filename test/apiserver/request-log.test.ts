import { afterEach, expect, test } from '@jest/globals';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import { createLogger } from '../../runtime/lib/log.ts';
import { settle, VirtualClock } from '../../lab/sim/clock.ts';
import { addBudget } from './budgets.ts';
import { HttpsWorld, RESOURCE } from './https-world.ts';
import { started, World } from './world.ts';

const lines: Record<string, unknown>[] = [];
const logger = createLogger({
  format: 'json',
  ansi: false,
  level: 'debug',
  clock: new VirtualClock(),
  write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
});
const saying = (message: string): unknown[] => lines.filter((line) => line['message'] === message);

afterEach(() => void lines.splice(0));

test('what is logged of a drain bears the identity that the answer to its request bears', async () => {
  const https = await HttpsWorld.create({ logger });
  await https.world.addPod('web-1', { labels: { app: 'web' }, phase: 'Failed' });
  const reply = await https.send('POST', `${RESOURCE}/cordon-and-drain`, { headers: https.identity() });
  expect(saying('node drained')).toMatchObject([{ node: 'n1', request: reply.headers['x-request-id'] }]);
  await https.close();
});

test('a drain that several requests wait for is logged under the one that began it, and its end under each', async () => {
  const world = await World.create();
  await world.addPod('web-1', { labels: { app: 'web' } });
  await addBudget(world, 'web');
  const { service, tap } = world.replica({ logger });
  const drains = [];
  for (const request of ['first', 'second']) {
    drains.push(started(service.cordonAndDrain(await world.agent(), undefined, request)));
    await settle();
  }
  tap.cut(new UnreachableError('cut'));
  await settle();
  await world.endPod('web-1');
  await world.clock.advance(10_000);
  await Promise.all(drains);
  const drain = (await world.marks())?.id;
  expect(saying('drain blocked')).toMatchObject([
    { drain, request: 'first', blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'] },
  ]);
  expect(saying('watch interrupted')).toMatchObject([{ node: 'n1', request: 'first' }]);
  expect(saying('node drained')).toMatchObject([
    { drain, request: 'first' },
    { drain, request: 'second' },
  ]);
});
