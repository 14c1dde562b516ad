import { beforeEach, describe, expect, test } from '@jest/globals';
import { settle } from '../../../sim/clock.ts';
import { cordons, hold, outcome, SHADOWS, started, World, writesNode } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const isCordoned = async (): Promise<boolean> => (await world.node()).spec?.unschedulable === true;

/** What the controller does before it gives a slot back. */
const bumpNode = (): Promise<unknown> =>
  world.patch('/api/v1/nodes/n1', { metadata: { annotations: { 'brupop.bottlerocket.aws/released': 'x' } } });

describe('traces that broke earlier versions', () => {
  test('4: a replica that stalls before its cordon cordons nothing once the update is over', async () => {
    const [first, second] = [world.replica(), world.replica()];
    const stalled = hold(first.tap, cordons);
    const late = started(first.service.cordonAndDrain(await world.agent()));
    await stalled.reached();
    await second.service.cordonAndDrain(await world.agent());
    await world.reboot('n1', { bootID: 'boot-2', version: '1.39.0' });
    await second.service.uncordon(await world.agent('n1', 'boot-2'));
    await world.setStatus('n1', { current_state: 'Idle', current_version: '1.39.0' });
    await world.setSpec('n1', { state: 'Idle' });
    await stalled.release();
    expect(await outcome(late)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(false);
    expect(await world.marks()).toBeUndefined();
  });

  test('5: a pod that landed while the node was uncordoned for a moment is found', async () => {
    await world.addPod('web-1');
    const { service, tap } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    const proof = hold(tap, writesNode);
    await world.endPod('web-1');
    await proof.reached();
    await world.setCordon(false);
    await world.addPod('landed');
    await world.setCordon(true);
    await proof.release();
    expect(await outcome(drain)).toBe('pending');
    expect((await world.marks())?.drained).toBeUndefined();
    expect(
      (await world.pods()).map((pod) => [pod.metadata.name, pod.metadata.deletionTimestamp !== undefined]),
    ).toEqual([['landed', true]]);
    await world.endPod('landed');
    await settle();
    expect(await outcome(drain)).toBe('ok');
  });

  test('5: the same when only the list comes after the moment', async () => {
    const { service, tap } = world.replica();
    const list = hold(
      tap,
      ({ method, path, query }) => method === 'GET' && path === '/api/v1/pods' && query !== undefined,
    );
    // Cordoned before, so that the first list is the one after admission.
    await world.replica().service.cordonAndDrain(await world.agent());
    const drain = started(service.cordonAndDrain(await world.agent()));
    await list.reached();
    await world.setCordon(false);
    await world.setCordon(true);
    await list.release();
    expect(await outcome(drain)).toBe('ok');
    expect(tap.requests.filter(writesNode)).toHaveLength(2);
  });

  test('an uncordoned node is cordoned again and drained of what came, under the same marks', async () => {
    await world.addPod('web-1');
    const { service } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    const before = await world.marks();
    await world.setCordon(false);
    await world.addPod('landed');
    await settle();
    expect(await isCordoned()).toBe(true);
    expect((await world.marks())?.id).toBe(before?.id);
    await world.endPod('web-1');
    expect(await outcome(drain)).toBe('pending');
    await world.endPod('landed');
    await settle();
    expect(await outcome(drain)).toBe('ok');
  });

  test('6: a replica past the deadline undoes nothing that another one proved', async () => {
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

  test('6: an uncordon that slept since the last attempt does not release this one', async () => {
    const [first, second] = [world.replica(), world.replica()];
    await second.service.cordonAndDrain(await world.agent());
    await world.setSpec('n1', { state: 'Idle' });
    const asleep = hold(first.tap, writesNode);
    const late = started(first.service.uncordon(await world.agent()));
    await asleep.reached();
    await world.setSpec('n1', { state: 'RebootedIntoUpdate' });
    await second.service.cordonAndDrain(await world.agent('n1', 'boot-1b'));
    await asleep.release();
    expect(await outcome(late)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(true);
  });

  test('7: an administrator’s cordon outlives a second uncordon after the reboot that the agent recorded', async () => {
    const { service } = world.replica();
    await world.setCordon(true);
    await service.cordonAndDrain(await world.agent());
    const status = { ...(await world.shadow()).status, conditions: undefined, drain: undefined };
    const reboot = { boot_id: 'boot-1', version: '1.39.0', requested_at: '2026-01-01T00:00:00Z' };
    await service.putStatus({ agent: await world.agent(), status: { ...status, reboot }, version: undefined });
    await world.reboot('n1', { bootID: 'boot-2', version: '1.39.0' });
    await service.uncordon(await world.agent('n1', 'boot-2'));
    await service.uncordon(await world.agent('n1', 'boot-2'));
    expect(await isCordoned()).toBe(true);
  });

  test('14: a drain whose node lost its label, shadow and marks does not mark it again', async () => {
    await world.addPod('web-1');
    const { service } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    await world.admin.request({
      method: 'DELETE',
      path: `${SHADOWS}/brs-n1`,
    });
    await world.patch('/api/v1/nodes/n1', {
      metadata: { annotations: { 'brupop.bottlerocket.aws/marks': null } },
      spec: { unschedulable: null },
    });
    expect(await outcome(drain)).toBe('503 Superseded');
    expect(await outcome(service.cordonAndDrain(await world.agent()))).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(false);
    expect(await world.marks()).toBeUndefined();
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

  test('16: a drain that slept while its slot was freed cordons nothing', async () => {
    const { service, tap } = world.replica();
    const asleep = hold(tap, cordons);
    const drain = started(service.cordonAndDrain(await world.agent()));
    await asleep.reached();
    await world.admin.request({
      method: 'DELETE',
      path: `${SHADOWS}/brs-n1`,
    });
    await service.createShadow(await world.agent());
    await bumpNode();
    await asleep.release();
    expect(await outcome(drain)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(false);
  });

  test('16: nor one that slept through an unplanned reboot into the new version', async () => {
    const { service, tap } = world.replica();
    const asleep = hold(tap, cordons);
    const drain = started(service.cordonAndDrain(await world.agent()));
    await asleep.reached();
    await world.reboot('n1', { bootID: 'boot-2', version: '1.39.0' });
    await world.setStatus('n1', { current_state: 'RebootedIntoUpdate', current_version: '1.39.0' });
    await world.setSpec('n1', { state: 'Idle' });
    await world.setStatus('n1', { current_state: 'Idle' });
    await bumpNode();
    await asleep.release();
    expect(await outcome(drain)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(false);
  });

  test('16: nor one that slept while its label was taken away', async () => {
    const { service, tap } = world.replica();
    const asleep = hold(tap, cordons);
    const drain = started(service.cordonAndDrain(await world.agent()));
    await asleep.reached();
    await world.admin.request({ method: 'DELETE', path: `${SHADOWS}/brs-n1` });
    await bumpNode();
    await asleep.release();
    expect(await outcome(drain)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(false);
    expect(await world.marks()).toBeUndefined();
  });

  test('16: nor one that slept before it wrote the status', async () => {
    const { service, tap } = world.replica();
    const asleep = hold(tap, ({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
    const drain = started(service.cordonAndDrain(await world.agent()));
    await asleep.reached();
    await world.setSpec('n1', { state: 'Idle' });
    await asleep.release();
    expect(await outcome(drain)).toBe('409 NotAllowed');
    expect((await world.shadow()).status?.drain).toBeUndefined();
    expect(await isCordoned()).toBe(false);
  });

  test('17: an uncordon that slept through an unplanned reboot does not release the new drain', async () => {
    await world.addPod('web-1');
    const [first, second] = [world.replica({ timeoutSec: 60 }), world.replica({ timeoutSec: 60 })];
    const failed = started(second.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(60_000);
    expect(await outcome(failed)).toBe('504 DrainTimeout');
    await world.setSpec('n1', { state: 'Idle' });
    const asleep = hold(first.tap, ({ method, path }) => method === 'GET' && path === '/api/v1/nodes/n1');
    const late = started(first.service.uncordon(await world.agent()));
    await asleep.reached();
    await world.reboot('n1', { bootID: 'boot-2', version: '1.38.0' });
    await world.setSpec('n1', { state: 'RebootedIntoUpdate' });
    await world.endPod('web-1');
    await second.service.cordonAndDrain(await world.agent('n1', 'boot-2'));
    await asleep.release();
    expect(await outcome(late)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(true);
  });

  test('19: a cordon that an old request made stays ours in the new boot', async () => {
    const [first, second] = [world.replica(), world.replica()];
    await first.service.cordonAndDrain(await world.agent('n1', 'boot-1'));
    await world.reboot('n1', { bootID: 'boot-2', version: '1.38.0' });
    await second.service.cordonAndDrain(await world.agent('n1', 'boot-2'));
    expect((await world.marks())?.owns).toContain('cordon');
    await world.reboot('n1', { bootID: 'boot-3', version: '1.39.0' });
    await second.service.uncordon(await world.agent('n1', 'boot-3'));
    expect(await isCordoned()).toBe(false);
  });

  test('two replicas drain one node, and both answer by a look of their own', async () => {
    await world.addPod('web-1');
    const [first, second] = [world.replica(), world.replica()];
    const drains = [first, second].map(async ({ service }) => service.cordonAndDrain(await world.agent()));
    await settle();
    await world.endPod('web-1');
    await settle();
    expect(await Promise.all(drains.map((drain) => outcome(drain)))).toEqual(['ok', 'ok']);
  });
});
