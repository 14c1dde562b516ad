import { beforeEach, describe, expect, test } from '@jest/globals';
import { LB_LABEL } from '../../runtime/api/marks/names.ts';
import { disownCordonPatch } from '../../runtime/api/marks/patches.ts';
import { HOLD_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { settle } from '../../lab/sim/clock.ts';
import { type Replica, started, World } from './world.ts';

/**
 * What nobody can tell from the cluster's objects, and what the operator does then. These tests show what is documented in
 * `docs/protocol.md` (U1 to U8); none of it is wished for.
 */

let world: World;
let service: Replica['service'];

beforeEach(async () => {
  world = await World.create();
  ({ service } = world.replica());
});

const isCordoned = async (): Promise<boolean> => (await world.node()).spec?.unschedulable === true;

async function rebootAndRelease(): Promise<void> {
  await world.boots('1.39.0', 'boot-2');
  await service.uncordon(await world.agent('n1', 'boot-2'));
}

describe('U1: an administrator’s cordon of a node that we have cordoned', () => {
  test('is no change, and goes with ours', async () => {
    await service.cordonAndDrain(await world.agent());
    const { resourceVersion } = (await world.node()).metadata;
    await world.setCordon(true);
    expect((await world.node()).metadata.resourceVersion).toBe(resourceVersion);
    await rebootAndRelease();
    expect(await isCordoned()).toBe(false);
  });

  test('stays where the hold annotation says so', async () => {
    await service.cordonAndDrain(await world.agent());
    await world.patch('/api/v1/nodes/n1', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
    await rebootAndRelease();
    expect(await isCordoned()).toBe(true);
  });
});

describe('U2: an administrator’s uncordon and cordon', () => {
  beforeEach(async () => service.cordonAndDrain(await world.agent()));

  test('within one look of the controller is not seen, and the cordon goes with ours', async () => {
    await world.setCordon(false);
    await world.setCordon(true);
    await rebootAndRelease();
    expect(await isCordoned()).toBe(false);
  });

  test('with a look of the controller between makes the cordon theirs', async () => {
    await world.setCordon(false);
    const { annotations } = disownCordonPatch(await world.node())!.metadata;
    await world.patch('/api/v1/nodes/n1', { metadata: { annotations } });
    await world.setCordon(true);
    await rebootAndRelease();
    expect(await isCordoned()).toBe(true);
  });
});

describe('U3: at the wanted version, on a node without marks, in an attempt without a drain of ours', () => {
  test('an administrator’s cordon is taken for the older apiserver’s and lifted', async () => {
    await world.setCordon(true);
    await rebootAndRelease();
    expect(await isCordoned()).toBe(false);
  });

  test('and so is an exclusion from load balancers with its value', async () => {
    await world.patch('/api/v1/nodes/n1', { metadata: { labels: { [LB_LABEL]: 'True' } } });
    await world.boots('1.39.0', 'boot-2');
    await service.removeExclusionFromLb(await world.agent('n1', 'boot-2'));
    expect((await world.node()).metadata.labels?.[LB_LABEL]).toBeUndefined();
  });
});

describe('U4: with apiservers of both kinds in one attempt', () => {
  test('a cordon that the older one made before ours is taken for an administrator’s and stays', async () => {
    await world.setCordon(true);
    await service.cordonAndDrain(await world.agent());
    await rebootAndRelease();
    expect(await isCordoned()).toBe(true);
    expect(await world.marks()).toBeUndefined();
  });

  test('an uncordon by the older one in mid-drain is an administrator’s to us: the node is cordoned again', async () => {
    await world.addPod('web-1');
    void started(service.cordonAndDrain(await world.agent()));
    await settle();
    await world.setCordon(false);
    await settle();
    expect(await isCordoned()).toBe(true);
  });
});
