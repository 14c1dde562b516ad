import { beforeEach, expect, test } from '@jest/globals';
import type { Disturbed } from '../../sim/cluster/cluster.ts';
import { fields } from '../../sim/cluster/object.ts';
import { type Replica, World } from './world.ts';

/** What people learn where an admission policy refuses what is written to a Node, and when that ends an attempt. */

const DENIED = 'admission webhook "nodes.example" denied the request: frozen';
const SAID = `403 Forbidden: ${DENIED}`;

let world: World;
let replica: Replica;

beforeEach(async () => {
  world = await World.create();
  replica = world.replica({ timeoutSec: 50 });
});

const cordons = (body: unknown): boolean => fields(fields(body)['spec'])['unschedulable'] === true;
const proves = (body: unknown): boolean => JSON.stringify(body).includes('proof');

function refuse(where: Disturbed['where']): () => void {
  const policy = { kind: 'refuse', code: 403, reason: 'Forbidden', message: DENIED } as const;
  return world.cluster.disturb({ resource: 'nodes', ...(where && { where }) }, policy);
}

/** `ok`, or the code of the refusal. */
async function drain(): Promise<unknown> {
  const draining = replica.service.cordonAndDrain(await world.agent()).then(() => 'ok', codeOf);
  await world.clock.advance(1000);
  return draining;
}
const release = async (): Promise<unknown> => replica.service.uncordon(await world.agent()).then(() => 'ok', codeOf);
const codeOf = (error: { readonly status: number | { readonly code: number } }): number =>
  typeof error.status === 'number' ? error.status : error.status.code;
const stated = async () => (await world.shadow()).status?.drain;

test('a cordon that is refused is told, in whose words and since when, and its time runs from the first try', async () => {
  await world.addPod('web-1');
  const over = refuse(cordons);
  expect(await drain()).toBe(403);
  const first = await stated();
  expect(first).toMatchObject({
    pods_left: 1,
    blocked_by: [expect.stringContaining(`the cordon is refused: ${SAID} (since `)],
  });
  expect(await world.events()).toEqual(['WriteRefused']);
  await world.clock.advance(30_000);
  expect(await drain()).toBe(403);
  expect(await stated()).toEqual(first);
  await world.clock.advance(20_000);
  await expect(replica.service.cordonAndDrain(await world.agent())).rejects.toMatchObject({
    status: 504,
    reason: 'DrainTimeout',
    message: expect.stringContaining(SAID),
  });
  expect(await world.events()).toContain('DrainFailed');
  expect((await world.node()).spec?.unschedulable).toBeUndefined();
  over();
});

test('a cordon that is taken in the end leaves no word of its refusal', async () => {
  const over = refuse(cordons);
  expect(await drain()).toBe(403);
  const began = (await stated())?.started_at;
  over();
  expect(await drain()).toBe('ok');
  expect(await stated()).toEqual({ started_at: began, pods_left: 0, blocked_by: [] });
});

test('a proof that is refused is told, and ends with the deadline of its drain', async () => {
  const over = refuse(proves);
  expect(await drain()).toBe(403);
  const first = await stated();
  expect(first?.blocked_by).toEqual([expect.stringContaining(`the proof is refused: ${SAID} (since `)]);
  expect(await drain()).toBe(403);
  expect(await stated()).toEqual(first);
  expect(await world.events()).toContain('WriteRefused');
  await world.clock.advance(50_000);
  expect(await drain()).toBe(504);
  over();
});

test('a proof that is taken in the end leaves no word of its refusal', async () => {
  const over = refuse(proves);
  expect(await drain()).toBe(403);
  over();
  expect(await drain()).toBe('ok');
  expect((await stated())?.blocked_by).toEqual([]);
});

test('a release that is refused is told until it is taken', async () => {
  expect(await drain()).toBe('ok');
  await world.reboot('n1', { bootID: 'boot-2', version: '1.39.0' });
  const over = refuse(() => true);
  expect(await release()).toBe(403);
  expect((await stated())?.blocked_by).toEqual([expect.stringContaining(`the release is refused: ${SAID} (since `)]);
  expect(await world.events()).toContain('WriteRefused');
  over();
  expect(await release()).toBe('ok');
  expect((await stated())?.blocked_by).toEqual([]);
});
