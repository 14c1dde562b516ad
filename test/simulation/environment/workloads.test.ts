import { describe, expect, test } from '@jest/globals';
import type { Pod, PodDisruptionBudget } from '../../../runtime/kube/objects.ts';
import { isReady } from '../../../runtime/kube/objects.ts';
import { seeded } from '../../random.ts';
import { MINUTE, Rig } from './rig.ts';
import { uniqueNameOf } from './volumes.ts';

/** In whose fleet each application has volumes. */
const SEED = 4;

const BUDGETS = '/apis/policy/v1/namespaces/shop/poddisruptionbudgets';

const shopping = (pods: readonly Pod[]): readonly Pod[] => pods.filter(({ metadata }) => metadata.namespace === 'shop');

async function budgets(rig: Rig): Promise<readonly PodDisruptionBudget[]> {
  return (await rig.admin.get<{ items: readonly PodDisruptionBudget[] }>(BUDGETS))!.items;
}

/** Asks for the eviction of each of them once. */
async function evict(rig: Rig, pods: readonly Pod[]): Promise<void> {
  for (const { metadata } of pods) {
    const { name, namespace } = metadata;
    await rig.admin.create(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, { metadata: { name, namespace } });
  }
}

describe('workloads of the simulation', () => {
  test('that have volumes run elsewhere only once the kubelet has said that they are unmounted', async () => {
    const rig = await Rig.at(10 * MINUTE, { nodes: 3, seed: SEED });
    const volumes = (await rig.node()).status?.volumesInUse ?? [];
    expect(volumes.length).toBeGreaterThan(0);
    rig.environment.people.cordon('node-1');
    await evict(rig, shopping(await rig.pods('node-1')));
    const early: string[] = [];
    for (let second = 0; second < 600; second++) {
      await rig.pass(1000);
      const held = (await rig.node()).status?.volumesInUse ?? [];
      const there = (await rig.pods()).filter((pod) => pod.spec?.nodeName !== 'node-1' && isReady(pod));
      early.push(...there.map((pod) => uniqueNameOf(pod) ?? '').filter((volume) => held.includes(volume)));
    }
    expect(early).toEqual([]);
    const left = new Set((await rig.node()).status?.volumesInUse ?? []);
    expect(left.size).toBeLessThan(volumes.length);
  });

  test('never have fewer healthy pods than their budgets want, however eagerly they are evicted', async () => {
    const rig = await Rig.at(10 * MINUTE, { nodes: 4 });
    let evicted = 0;
    for (let look = 0; look < 60; look++) {
      const before = shopping(await rig.pods());
      await evict(rig, before);
      const after = shopping(await rig.pods());
      evicted += after.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
      for (const { metadata, spec, status } of await budgets(rig)) {
        const mine = after.filter((pod) => pod.metadata.labels?.['app'] === spec?.selector?.matchLabels?.['app']);
        const healthy = mine.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined).length;
        expect(`${metadata.name}: ${healthy >= (status?.desiredHealthy ?? 0)}`).toBe(`${metadata.name}: true`);
      }
      await rig.pass(7000);
    }
    expect(evicted).toBeGreaterThan(20);
  });

  test('that are evicted from a cordoned node end within their grace, and are Ready elsewhere after a while', async () => {
    const rig = await Rig.at();
    rig.environment.people.cordon('node-1');
    await rig.pass(1000);
    expect((await rig.node()).spec?.taints).toEqual([
      { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
    ]);
    const pods = shopping(await rig.pods());
    const leaving = pods.filter(({ spec }) => spec?.nodeName === 'node-1');
    expect(leaving.length).toBeGreaterThan(0);
    const graceMs = Math.max(...leaving.map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0)) * 1000;
    for (const { metadata } of leaving) await rig.admin.delete(`/api/v1/namespaces/shop/pods/${metadata.name}`);
    await rig.pass(100);
    expect(shopping(await rig.pods('node-1'))).toHaveLength(leaving.length);
    await rig.pass(graceMs + 1000);
    expect(shopping(await rig.pods('node-1'))).toEqual([]);
    await rig.pass(2 * MINUTE);
    expect(shopping(await rig.pods()).filter(isReady)).toHaveLength(pods.length);
  });

  test('say that nothing may go as soon as somebody wants it so, and what may go once he does not', async () => {
    const rig = await Rig.at();
    const allowed = async (): Promise<readonly (number | undefined)[]> =>
      (await budgets(rig)).map(({ status }) => status?.disruptionsAllowed);
    const before = await allowed();
    expect(Math.min(...before.map(Number))).toBeGreaterThan(0);
    const seed = [1, 2, 3, 4, 5, 6, 7, 8];
    const ends = seed.map((each) => rig.environment.workloads.block(seeded(each)));
    await rig.pass(1000);
    const pods = shopping(await rig.pods());
    await evict(rig, pods);
    const left = shopping(await rig.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(left).toHaveLength(pods.length);
    for (const end of ends) end();
    await rig.pass(1000);
    expect(await allowed()).toEqual(before);
  });

  test('take their own time where they hang, and others come back to a cordoned node for ever', async () => {
    const rig = await Rig.at();
    const { people, workloads } = rig.environment;
    people.cordon('node-1');
    const before = new Set((await rig.pods('node-1')).map(({ metadata }) => metadata.uid));
    workloads.landSlowPod('node-1', 20 * MINUTE);
    workloads.landPod('node-1');
    workloads.landPod('node-1');
    await rig.pass(MINUTE);
    const landed = async (): Promise<readonly Pod[]> =>
      (await rig.pods('node-1')).filter(({ metadata }) => !before.has(metadata.uid));
    expect((await landed()).filter(isReady)).toHaveLength(3);
    await evict(rig, await landed());
    await rig.pass(19 * MINUTE);
    const names = (await landed()).map(({ metadata }) => String(metadata.labels?.['app']).split('-')[0] ?? '');
    expect(names.toSorted()).toEqual(['landed', 'stays']);
    await rig.pass(2 * MINUTE);
    expect(await landed()).toHaveLength(1);
  });
});
