import { expect, test } from '@jest/globals';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import { watchOne } from '../../runtime/kube/watch-one.ts';
import { createNode, deleteNode, patchNode, random, type Tapped, world } from './world.ts';

function observe(transport: Tapped, clock: ReturnType<typeof world>['clock'], signal = new AbortController().signal) {
  const outages: number[] = [];
  const options = { path: NODES_PATH, name: 'n1', clock, random, signal };
  const objects = watchOne<Node>(transport, { ...options, onInterrupted: (_, retryMs) => outages.push(retryMs) });
  return { objects, outages };
}

const beat = (admin: ReturnType<typeof world>['admin'], value: string) =>
  patchNode(admin, 'n1', { metadata: { annotations: { beat: value } } });
const shown = (node: Node | undefined) => node && [node.metadata.name, node.metadata.annotations?.['beat']];

test('one object is seen from its creation to its end, and no other', async () => {
  const { clock, admin, tap } = world();
  const { objects } = observe(tap(), clock);
  const next = async () => shown((await objects.next()).value ?? undefined);
  expect(await next()).toBeUndefined();
  await createNode(admin, 'n0');
  await createNode(admin, 'n1');
  expect(await next()).toEqual(['n1', undefined]);
  await beat(admin, '1');
  expect(await next()).toEqual(['n1', '1']);
  await deleteNode(admin, 'n1');
  expect(await next()).toBeUndefined();
});

test('a busy consumer gets the newest state, not those in between', async () => {
  const { clock, admin, tap } = world();
  await createNode(admin, 'n1');
  const { objects } = observe(tap(), clock);
  await objects.next();
  for (const value of ['1', '2', '3']) await beat(admin, value);
  await clock.advance(0);
  expect(shown((await objects.next()).value ?? undefined)).toEqual(['n1', '3']);
});

test('what happened while the API was out is seen after it', async () => {
  const { clock, admin, tap } = world();
  await createNode(admin, 'n1');
  const transport = tap();
  const { objects, outages } = observe(transport, clock);
  await objects.next();
  transport.beforeWatch = () => {
    throw new UnreachableError('refused');
  };
  transport.cut(new UnreachableError('reset'));
  await beat(admin, '1');
  await clock.advance(10_000);
  transport.beforeWatch = () => undefined;
  const next = objects.next();
  await clock.advance(30_000);
  expect(shown((await next).value ?? undefined)).toEqual(['n1', '1']);
  expect(outages.length).toBeGreaterThan(2);
});

test('an abort ends the iteration, and so does a consumer that has enough', async () => {
  const { clock, admin, tap } = world();
  await createNode(admin, 'n1');
  const stop = new AbortController();
  const { objects } = observe(tap(), clock, stop.signal);
  await objects.next();
  const next = objects.next();
  stop.abort();
  await expect(next).resolves.toEqual({ done: true, value: undefined });
  for await (const node of observe(tap(), clock).objects) if (node) break;
});
