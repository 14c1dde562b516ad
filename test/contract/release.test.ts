import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Service } from '../../runtime/apiserver/service.ts';
import { LB_LABEL, UPDATING_LABEL } from '../../runtime/marks/names.ts';
import { HOLD_ANNOTATION } from '../../runtime/shadow/names.ts';
import { type Contract, contract } from './cluster.ts';
import { DrainWorld } from './drain-world.ts';

/** What the apiserver undoes of what it, or an administrator, has done to a node, against the cluster. */

let cluster: Contract;
let world: DrainWorld;
let service: Service;
beforeAll(async () => {
  cluster = await contract();
}, 60_000);
afterAll(() => cluster.stop());
beforeEach(async () => {
  world = await DrainWorld.create(cluster);
  ({ service } = world.replica());
});
afterEach(() => world.end());

const NOT_ALLOWED: object = expect.objectContaining({ status: 409, reason: 'NotAllowed' });
const uncordon = (): Promise<void> => service.uncordon(world.agent);
const updated = (): Promise<void> => world.boots('1.39.0', 'boot-2');

describe('an uncordon', () => {
  test('undoes what a drain did, once the node is at its version', async () => {
    await service.cordonAndDrain(world.agent);
    await expect(uncordon()).rejects.toEqual(NOT_ALLOWED);
    expect(await world.isCordoned()).toBe(true);
    await updated();
    await uncordon();
    const { metadata, spec } = await world.node();
    expect(spec?.unschedulable ?? false).toBe(false);
    expect(metadata.labels ?? {}).not.toHaveProperty([UPDATING_LABEL]);
    expect(Object.keys(metadata.annotations ?? {}).filter((name) => /brupop|karpenter|autoscaler/.test(name))).toEqual(
      [],
    );
  });

  test('leaves an administrator’s cordon, each time it is asked', async () => {
    await world.patchNode({ spec: { unschedulable: true } });
    await service.cordonAndDrain(world.agent);
    await updated();
    for (const state of ['RebootedIntoUpdate', 'MonitoringUpdate'] as const) {
      await world.setSpec({ state });
      await uncordon();
      expect(await world.isCordoned()).toBe(true);
    }
    expect(await world.marks()).toBeUndefined();
  });

  test('leaves the cordon of a node on hold', async () => {
    await service.cordonAndDrain(world.agent);
    await world.patchNode({ metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
    await updated();
    await uncordon();
    expect(await world.isCordoned()).toBe(true);
    expect(await world.marks()).toBeUndefined();
  });

  test('without marks lifts a cordon at the wanted version alone', async () => {
    await world.patchNode({ spec: { unschedulable: true } });
    await world.setSpec({ state: 'Idle' });
    await uncordon();
    expect(await world.isCordoned()).toBe(true);
    await world.setSpec({ state: 'RebootedIntoUpdate' });
    await updated();
    await uncordon();
    expect(await world.isCordoned()).toBe(false);
  });
});

describe('the exclusion from load balancers', () => {
  const label = async (): Promise<string | undefined> => (await world.node()).metadata.labels?.[LB_LABEL];

  test('comes and goes with its marks', async () => {
    await service.excludeFromLb(world.agent);
    expect(await label()).toBe('True');
    expect((await world.marks())?.owns).toEqual(['lb']);
    await updated();
    await service.removeExclusionFromLb(world.agent);
    expect(await label()).toBeUndefined();
    expect(await world.marks()).toBeUndefined();
  });

  test('of somebody else stays', async () => {
    await world.patchNode({ metadata: { labels: { [LB_LABEL]: 'mine' } } });
    await service.excludeFromLb(world.agent);
    await service.cordonAndDrain(world.agent);
    await updated();
    await service.removeExclusionFromLb(world.agent);
    await uncordon();
    expect(await label()).toBe('mine');
  });

  test('is refused outside of the step that reboots', async () => {
    await world.setSpec({ state: 'Idle' });
    await expect(service.excludeFromLb(world.agent)).rejects.toEqual(NOT_ALLOWED);
    expect(await label()).toBeUndefined();
  });
});
