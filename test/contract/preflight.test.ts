import { expect } from '@jest/globals';
import { eventually } from './eventually.ts';
import { statesProgress } from './replica.ts';
import { play, stage } from './stage.ts';

const on = stage();

const undrainable: object = expect.objectContaining({ status: 409, reason: 'Undrainable' });
const blocker = (): string =>
  `PodDisruptionBudget ${on.world.names.namespace}/web (pod ${on.world.names.namespace}/web-1)`;

/** A pod under a budget that has no spare, and never will. */
async function addStuckPod(): Promise<void> {
  await on.world.addPod('web-1');
  await on.world.budget('web', 1);
  await on.world.counted('web');
}

const told = (reason: string): Promise<void> =>
  eventually(async () =>
    expect(await on.world.said()).toContainEqual(expect.stringMatching(`^${reason}: .*${blocker().split(' (')[0]}`)),
  );

play('before a drain that cannot end as things are', {
  'people are told, and the node is drained as far as it goes': async () => {
    await addStuckPod();
    await on.world.addPod('free', { labels: {} });
    void on.world.replica().drain();
    await told('DrainBlocked');
    await on.world.endPod('free');
    expect(await on.world.isCordoned()).toBe(true);
    expect((await on.world.progress())?.blocked_by).toEqual([blocker()]);
  },

  'with "refuse" the node stays in service, and is drained once things have changed': async () => {
    await addStuckPod();
    const { drain, tap } = on.world.replica({ preflight: 'refuse' });
    const refused = drain();
    await expect(refused).rejects.toEqual(undrainable);
    await expect(refused).rejects.toThrow(blocker());
    await told('DrainRefused');
    expect(await on.world.isCordoned()).toBe(false);
    expect(await on.world.marks()).toBeUndefined();
    expect((await on.world.progress())?.blocked_by).toEqual([blocker()]);
    await expect(drain()).rejects.toEqual(undrainable);
    expect(tap.requests.filter(statesProgress)).toHaveLength(1);
    await on.world.removeBudget('web');
    const drained = drain();
    await on.world.endPod('web-1');
    await drained;
  },

  'with "refuse" the node stays with its load balancers too': async () => {
    await addStuckPod();
    const { service, tap } = on.world.replica({ preflight: 'refuse' });
    for (const _ of [1, 2]) await expect(service.excludeFromLb(on.world.agent)).rejects.toEqual(undrainable);
    expect(await on.world.marks()).toBeUndefined();
    expect((await on.world.progress())?.blocked_by).toEqual([blocker()]);
    expect(tap.requests.filter(statesProgress)).toHaveLength(1);
    await on.world.removeBudget('web');
    await service.excludeFromLb(on.world.agent);
    expect((await on.world.marks())?.owns).toEqual(['lb']);
  },

  'two budgets on one pod are among what stands in the way': async () => {
    await on.world.addPod('web-1');
    for (const name of ['one', 'two']) await on.world.budget(name, 0);
    await expect(on.world.replica({ preflight: 'refuse' }).drain()).rejects.toThrow('2 PodDisruptionBudgets at once');
    expect(await on.world.isCordoned()).toBe(false);
  },

  'budgets that cannot be read stand in the way with "refuse" alone': async () => {
    await on.world.addPod('web-1');
    const { transport } = await on.world.account('poddisruptionbudgets');
    await expect(on.world.replica({ transport, preflight: 'refuse' }).drain()).rejects.toThrow('403');
    expect(await on.world.isCordoned()).toBe(false);
    const drained = on.world.replica({ transport }).drain();
    await on.world.endPod('web-1');
    await drained;
  },
});

play('once the update of a node is staged', {
  'its status says what its drain would wait for, and nothing is disturbed': async () => {
    await addStuckPod();
    await on.world.addPod('free', { labels: {} });
    await on.world.setStatus({ current_state: 'Idle' });
    const { service } = on.world.replica();
    const { current_version, target_version, crash_count } = (await on.world.shadow()).status ?? {};
    const status = { current_version, target_version, crash_count, current_state: 'StagedAndPerformedUpdate' };
    await service.putStatus({ agent: on.world.agent, status, version: undefined });
    const { preflight, drain } = (await on.world.shadow()).status ?? {};
    expect([preflight?.blocked_by, drain ?? null]).toEqual([[blocker()], null]);
    expect(await on.world.isCordoned()).toBe(false);
  },
});
