import { beforeEach, describe, expect, test } from '@jest/globals';
import { settle } from '../../../lab/sim/clock.ts';
import { DRAIN_STALLS } from '../stalls.ts';
import { hold, outcome, SHADOWS, started, World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const isCordoned = async (): Promise<boolean> => (await world.node()).spec?.unschedulable === true;

/** What the controller does before it gives a permit back. */
const bumpNode = (): Promise<unknown> =>
  world.patch('/api/v1/nodes/n1', { metadata: { annotations: { 'brupop.bottlerocket.aws/released': 'x' } } });

const deleteShadow = (): Promise<unknown> => world.delete(`${SHADOWS}/brs-n1`);

async function expectUntouched(): Promise<void> {
  expect(await isCordoned()).toBe(false);
  expect(await world.marks()).toBeUndefined();
}

describe('a drain that stalls in one replica cordons nothing once another has brought the update to its end', () => {
  test.each(DRAIN_STALLS)('%s', async (_where, where) => {
    const [first, second] = [world.replica(), world.replica()];
    const stalled = hold(first.tap, where);
    const late = started(first.service.cordonAndDrain(await world.agent()));
    await stalled.reached();
    await second.service.cordonAndDrain(await world.agent());
    await world.boots('1.39.0', 'boot-2');
    await second.service.uncordon(await world.agent('n1', 'boot-2'));
    await world.setStatus({ current_state: 'Idle', current_version: '1.39.0' });
    await world.setSpec({ state: 'Idle' });
    await stalled.release();
    expect(await outcome(late)).toBe('409 NotAllowed');
    await expectUntouched();
  });
});

describe('a pod that landed while the node was uncordoned for a moment is found', () => {
  // Which is the node as it was watched.
  test.each(DRAIN_STALLS.slice(1))('by a drain that has seen the last pod go and sleeps %s', async (_where, where) => {
    await world.addPod('web-1');
    const { service, tap } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    const asleep = hold(tap, where);
    await world.endPod('web-1');
    await asleep.reached();
    await world.setCordon(false);
    await world.addPod('landed');
    await world.setCordon(true);
    await asleep.release();
    expect(await outcome(drain)).toBe('pending');
    expect((await world.marks())?.drained).toBeUndefined();
    expect(
      (await world.pods()).map((pod) => [pod.metadata.name, pod.metadata.deletionTimestamp !== undefined]),
    ).toEqual([['landed', true]]);
    await world.endPod('landed');
    await settle();
    expect(await outcome(drain)).toBe('ok');
  });

  test('when it lands between the first look and the cordon', async () => {
    const { service, tap } = world.replica();
    const asleep = hold(tap, ({ method, path }) => method === 'PATCH' && path === '/api/v1/nodes/n1');
    const drain = started(service.cordonAndDrain(await world.agent()));
    await asleep.reached();
    await world.addPod('landed');
    await asleep.release();
    expect(await outcome(drain)).toBe('pending');
    await world.endPod('landed');
    await settle();
    expect(await outcome(drain)).toBe('ok');
  });
});

describe('a replica past the deadline undoes nothing that another one proved', () => {
  test('when its answer came first', async () => {
    await world.addPod('web-1');
    const [first, second] = [world.replica({ timeoutSec: 60 }), world.replica({ timeoutSec: 60 })];
    const late = started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(60_000);
    expect(await outcome(late)).toBe('504 DrainTimeout');
    await world.endPod('web-1');
    await second.service.cordonAndDrain(await world.agent());
    expect(await isCordoned()).toBe(true);
    expect((await world.marks())?.drained).toBeDefined();
  });

  // The status is not written anew where it says the same.
  test.each(DRAIN_STALLS.slice(0, 3))('when its last look sleeps %s', async (_where, where) => {
    await world.addPod('web-1');
    const [first, second] = [world.replica({ timeoutSec: 60 }), world.replica({ timeoutSec: 60 })];
    const late = started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(59_000);
    const asleep = hold(first.tap, where);
    await world.clock.advance(1_000);
    await asleep.reached();
    await world.endPod('web-1');
    await second.service.cordonAndDrain(await world.agent());
    const proven = await world.marks();
    await asleep.release();
    // The node is empty, and it looked once more.
    expect(await outcome(late)).toBe('ok');
    expect(await isCordoned()).toBe(true);
    expect(await world.marks()).toEqual({ ...proven, proof: expect.any(String) });
  });
});

describe('a drain whose node is changed by others', () => {
  test('a drain whose node lost its label, shadow and marks does not mark it again', async () => {
    await world.addPod('web-1');
    const { service } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    await deleteShadow();
    await world.patch('/api/v1/nodes/n1', {
      metadata: { annotations: { 'brupop.bottlerocket.aws/marks': null } },
      spec: { unschedulable: null },
    });
    expect(await outcome(drain)).toBe('503 Superseded');
    expect(await outcome(service.cordonAndDrain(await world.agent()))).toBe('409 NotAllowed');
    await expectUntouched();
  });

  test('a drain that another attempt superseded ends, and evicts nothing more', async () => {
    await world.addPod('web-1');
    const [first, second] = [world.replica(), world.replica()];
    const old = started(first.service.cordonAndDrain(await world.agent()));
    await settle();
    const renewed = started(second.service.cordonAndDrain(await world.agent('n1', 'boot-2')));
    expect(await outcome(old)).toBe('503 Superseded');
    await world.addPod('web-2');
    await settle();
    expect(first.tap.requests.filter(({ path }) => path.includes('web-2'))).toEqual([]);
    for (const name of ['web-1', 'web-2']) await world.endPod(name);
    expect(await outcome(renewed)).toBe('ok');
  });

  test('a waiter whose drain another attempt superseded does not slip into that one', async () => {
    await world.addPod('web-1');
    const [first, second] = [world.replica(), world.replica()];
    const old = started(first.service.cordonAndDrain(await world.agent()));
    await settle();
    const look = hold(first.tap, ({ method, path }) => method === 'GET' && path === '/api/v1/nodes/n1');
    await world.setCordon(false);
    await look.reached();
    void started(second.service.cordonAndDrain(await world.agent('n1', 'boot-2')));
    await settle();
    const renewed = await world.marks();
    await look.release();
    expect(await outcome(old)).toBe('503 Superseded');
    expect(await world.marks()).toEqual(renewed);
  });
});

/** What ends an attempt while a drain of it sleeps; a permit is given back with a mark on the node. */
const ENDINGS: readonly (readonly [string, () => Promise<unknown>])[] = [
  [
    'its shadow is deleted and made anew',
    async () => {
      await deleteShadow();
      await world.replica().service.createShadow(await world.agent());
      await bumpNode();
    },
  ],
  [
    'an unplanned reboot boots the new version',
    async () => {
      await world.boots('1.39.0', 'boot-2');
      await world.setStatus({ current_state: 'RebootedIntoUpdate', current_version: '1.39.0' });
      await world.setSpec({ state: 'Idle' });
      await world.setStatus({ current_state: 'Idle' });
      await bumpNode();
    },
  ],
  [
    'its label is taken away',
    async () => {
      await deleteShadow();
      await bumpNode();
    },
  ],
];

describe.each(ENDINGS)('a drain that sleeps while %s cordons nothing', (_name, end) => {
  test.each(DRAIN_STALLS)('%s', async (_where, where) => {
    const { service, tap } = world.replica();
    const asleep = hold(tap, where);
    const drain = started(service.cordonAndDrain(await world.agent()));
    await asleep.reached();
    await end();
    await asleep.release();
    expect(await outcome(drain)).toBe('409 NotAllowed');
    await expectUntouched();
  });
});

test('a drain that sleeps before it writes the status while its spec is set to rest cordons nothing', async () => {
  const { service, tap } = world.replica();
  const asleep = hold(tap, ({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
  const drain = started(service.cordonAndDrain(await world.agent()));
  await asleep.reached();
  await world.setSpec({ state: 'Idle' });
  await asleep.release();
  expect(await outcome(drain)).toBe('409 NotAllowed');
  expect((await world.shadow()).status?.drain).toBeUndefined();
  await expectUntouched();
});

describe('the cordon of an old request that woke after an unplanned reboot stays ours in the new boot', () => {
  test.each(DRAIN_STALLS)('when it slept %s', async (_where, where) => {
    const [first, second] = [world.replica(), world.replica()];
    const asleep = hold(first.tap, where);
    const old = started(first.service.cordonAndDrain(await world.agent('n1', 'boot-1')));
    await asleep.reached();
    await world.boots('1.38.0', 'boot-2');
    await asleep.release();
    expect(await outcome(old)).toBe('ok');
    expect(await world.marks()).toMatchObject({ boot: 'boot-1', owns: expect.arrayContaining(['cordon']) });
    await second.service.cordonAndDrain(await world.agent('n1', 'boot-2'));
    expect(await world.marks()).toMatchObject({ boot: 'boot-2', owns: expect.arrayContaining(['cordon']) });
    await world.boots('1.39.0', 'boot-3');
    await second.service.uncordon(await world.agent('n1', 'boot-3'));
    await expectUntouched();
  });
});
