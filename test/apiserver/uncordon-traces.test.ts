import { beforeEach, describe, expect, test } from '@jest/globals';
import { MARKS_ANNOTATION, UNRELEASED_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { NODE_STALLS } from './stalls.ts';
import { hold, outcome, started, World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const isCordoned = async (): Promise<boolean> => (await world.node()).spec?.unschedulable === true;

describe.each(NODE_STALLS)('an uncordon that sleeps %s', (_where, where) => {
  test('since the last attempt does not release this one', async () => {
    const [first, second] = [world.replica(), world.replica()];
    await second.service.cordonAndDrain(await world.agent());
    await world.setSpec({ state: 'Idle' });
    const asleep = hold(first.tap, where);
    const late = started(first.service.uncordon(await world.agent()));
    await asleep.reached();
    await world.setSpec({ state: 'RebootedIntoUpdate' });
    await second.service.cordonAndDrain(await world.agent());
    const proven = await world.marks();
    await asleep.release();
    expect(await outcome(late)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(true);
    expect(await world.marks()).toEqual(proven);
  });

  test('through an unplanned reboot does not release the drain of the new attempt', async () => {
    await world.addPod('web-1');
    const [first, second] = [world.replica({ timeoutSec: 60 }), world.replica({ timeoutSec: 60 })];
    const failed = started(second.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(60_000);
    expect(await outcome(failed)).toBe('504 DrainTimeout');
    await world.setSpec({ state: 'Idle' });
    const asleep = hold(first.tap, where);
    const late = started(first.service.uncordon(await world.agent()));
    await asleep.reached();
    await world.boots('1.38.0', 'boot-2');
    await world.setSpec({ state: 'RebootedIntoUpdate' });
    await world.endPod('web-1');
    await second.service.cordonAndDrain(await world.agent('n1', 'boot-2'));
    const proven = await world.marks();
    await asleep.release();
    expect(await outcome(late)).toBe('409 NotAllowed');
    expect(await isCordoned()).toBe(true);
    expect(await world.marks()).toEqual(proven);
  });
});

describe('an administrator’s cordon outlives', () => {
  /** The node is drained under a cordon that is not ours. */
  async function drained(): Promise<ReturnType<World['replica']>['service']> {
    const { service } = world.replica();
    await world.setCordon(true);
    await service.cordonAndDrain(await world.agent());
    return service;
  }

  test('every uncordon after the reboot, also the second one of the monitoring', async () => {
    const service = await drained();
    await world.boots('1.39.0', 'boot-2');
    for (const state of ['RebootedIntoUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate', 'Idle'] as const) {
      await world.setSpec({ state });
      await service.uncordon(await world.agent('n1', 'boot-2'));
      expect(await isCordoned()).toBe(true);
    }
  });

  test('them also where the agent’s statuses say nothing of the drain', async () => {
    const service = await drained();
    const status = { ...(await world.shadow()).status, conditions: undefined, drain: undefined };
    const reboot = { boot_id: 'boot-1', version: '1.39.0', requested_at: '2026-01-01T00:00:00Z' };
    await service.putStatus({ agent: await world.agent(), status: { ...status, reboot }, version: undefined });
    await world.boots('1.39.0', 'boot-2');
    for (const _ of ['first', 'second']) {
      await service.uncordon(await world.agent('n1', 'boot-2'));
      expect(await isCordoned()).toBe(true);
    }
  });

  test('the uncordons after each failed attempt', async () => {
    const service = await drained();
    const { drain: _, conditions: __, ...status } = (await world.shadow()).status!;
    const agent = await world.agent();
    for (const crash_count of [1, 2]) {
      await service.putStatus({
        agent,
        status: { ...status, current_state: 'ErrorReset', crash_count },
        version: undefined,
      });
      await world.setSpec({ state: 'Idle' });
      for (const time of ['first', 'second']) {
        await service.uncordon(agent);
        expect([time, await isCordoned()]).toEqual([time, true]);
      }
      await service.putStatus({ agent, status: { ...status, crash_count }, version: undefined });
      await world.setSpec({ state: 'RebootedIntoUpdate' });
      expect(await outcome(service.uncordon(agent))).toBe('409 NotAllowed');
      await service.cordonAndDrain(agent);
    }
    await world.boots('1.39.0', 'boot-2');
    await service.uncordon(await world.agent('n1', 'boot-2'));
    expect(await isCordoned()).toBe(true);
  });
});

test('a node that a newer version marked comes back into service, and is no longer marked', async () => {
  const { service } = world.replica();
  await service.cordonAndDrain(await world.agent());
  const marks = { ...(await world.marks()), owns: ['cordon', 'shutdown-taint'] };
  await world.patch('/api/v1/nodes/n1', { metadata: { annotations: { [MARKS_ANNOTATION]: JSON.stringify(marks) } } });
  await world.boots('1.39.0', 'boot-2');
  await service.uncordon(await world.agent('n1', 'boot-2'));
  expect([await isCordoned(), await world.marks()]).toEqual([false, undefined]);
  expect((await world.node()).metadata.annotations).toMatchObject({ [UNRELEASED_ANNOTATION]: 'shutdown-taint' });
});
