import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Disturbed } from '../../lab/sim/cluster/cluster.ts';
import { fields } from '../../lab/sim/cluster/object.ts';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { DrainProgress } from '../../runtime/api/shadow/model.ts';
import { evictions, outcome, type Replica, started, World } from './world.ts';

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
const exclude = async (): Promise<unknown> =>
  replica.service.excludeFromLb(await world.agent()).then(() => 'ok', codeOf);
const codeOf = (error: { readonly status: number | { readonly code: number } }): number =>
  typeof error.status === 'number' ? error.status : error.status.code;
/** Without its time. */
async function stated() {
  const { reported_at: _, ...said } = (await world.shadow()).status?.drain ?? {};
  return said as Partial<DrainProgress>;
}

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

test('a cordon that is refused again soon changes nothing in the shadow, or its agent would be woken to ask at once', async () => {
  refuse(cordons);
  expect(await drain()).toBe(403);
  const { resourceVersion } = (await world.shadow()).metadata;
  await world.clock.advance(5000);
  expect(await drain()).toBe(403);
  expect((await world.shadow()).metadata.resourceVersion).toBe(resourceVersion);
});

test('a cordon that is taken in the end leaves no word of its refusal', async () => {
  const over = refuse(cordons);
  expect(await drain()).toBe(403);
  const began = (await stated()).started_at;
  over();
  expect(await drain()).toBe('ok');
  expect(await stated()).toEqual({ started_at: began, pods_left: 0, blocked_by: [] });
});

test('a proof that is refused is told, and ends with the deadline of its drain', async () => {
  const over = refuse(proves);
  expect(await drain()).toBe(403);
  const first = await stated();
  expect(first.blocked_by).toEqual([expect.stringContaining(`the proof is refused: ${SAID} (since `)]);
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
  expect((await stated()).blocked_by).toEqual([]);
});

test('a release that is refused is told until it is taken', async () => {
  expect(await drain()).toBe('ok');
  await world.boots('1.39.0', 'boot-2');
  const over = refuse(() => true);
  expect(await release()).toBe(403);
  expect((await stated()).blocked_by).toEqual([expect.stringContaining(`the release is refused: ${SAID} (since `)]);
  expect(await world.events()).toContain('WriteRefused');
  over();
  expect(await release()).toBe('ok');
  expect((await stated()).blocked_by).toEqual([]);
});

test('an exclusion that is refused is told, and ends with the deadline of a drain, also where a webhook is broken', async () => {
  await world.addPod('web-1');
  const broken = { kind: 'refuse', code: 500, reason: 'InternalError', message: 'failed calling webhook' } as const;
  world.cluster.disturb({ resource: 'nodes' }, broken);
  expect(await exclude()).toBe(500);
  expect(await stated()).toMatchObject({
    pods_left: 1,
    blocked_by: [
      expect.stringContaining('the exclusion is refused: 500 InternalError: failed calling webhook (since '),
    ],
  });
  await world.clock.advance(30_000);
  expect(await exclude()).toBe(500);
  await world.clock.advance(20_000);
  expect(await exclude()).toBe(504);
});

test('a cordon that is not answered is told, and its time runs', async () => {
  replica.tap.before = async ({ path, body }) => {
    if (path === '/api/v1/nodes/n1' && cordons(body)) throw new UnreachableError('cut');
  };
  const unanswered = async (): Promise<unknown> =>
    replica.service.cordonAndDrain(await world.agent()).catch((error: Error) => error.name);
  expect(await unanswered()).toBe('UnreachableError');
  expect((await stated()).blocked_by).toEqual([expect.stringContaining('the cordon is not answered (since ')]);
  await world.clock.advance(50_000);
  await expect(replica.service.cordonAndDrain(await world.agent())).rejects.toMatchObject({ status: 504 });
});

test.each([
  ['a cordon', () => drain()],
  ['an exclusion', () => exclude()],
])('what refuses %s is said again, so that its age tells whether anybody still says it', async (_what, ask) => {
  refuse(() => true);
  for (let asked = 0; asked < 4; asked++) {
    expect(await ask()).toBe(403);
    await world.clock.advance(10_000);
  }
  const age = world.clock.now() - Date.parse((await world.shadow()).status?.drain?.reported_at ?? '');
  expect(age).toBeLessThan(35_000);
});

describe('where the report of a drain is refused', () => {
  const reports = (body: unknown): boolean => 'drain' in fields(fields(body)['status']);
  const refuseReports = (): (() => void) =>
    world.cluster.disturb(
      { resource: 'bottlerocketshadows', subresource: 'status', where: reports },
      { kind: 'refuse', code: 422, reason: 'Invalid', message: DENIED },
    );

  test('the drain goes on, ends, and stays ended', async () => {
    await world.addPod('web-1');
    await world.addPod('web-2');
    const first = started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(1000);
    refuseReports();
    await world.endPod('web-1');
    await world.clock.advance(5000);
    await world.endPod('web-2');
    expect(await outcome(first)).toBe('ok');
    expect(await drain()).toBe('ok');
    expect(evictions(replica)).toEqual(['web-1', 'web-2']);
    expect((await stated()).pods_left).toBe(2);
  });

  test('one Event says so, and not one for each try', async () => {
    await world.addPod('web-1');
    void started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(1000);
    refuseReports();
    await world.endPod('web-1');
    await world.clock.advance(40_000);
    const told = await world.told();
    expect(told.filter(({ reason }) => reason === 'WriteRefused')).toMatchObject([{ count: 1 }]);
  });

  test('no node is cordoned: its drain could not be told from an older one', async () => {
    refuseReports();
    expect(await drain()).toBe(422);
    expect((await world.node()).spec?.unschedulable).toBeUndefined();
  });
});
