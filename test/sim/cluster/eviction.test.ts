import { describe, expect, test } from '@jest/globals';
import { BUDGETS, type Client, PODS, refusal, runningPod, world } from './harness.ts';

/** A budget over `app=web`, as its controller has last counted it. */
async function budget(client: Client, name: string, status: object, spec: object = {}): Promise<void> {
  const selector = { matchLabels: { app: 'web' } };
  const { metadata } = await client.create(BUDGETS, { metadata: { name }, spec: { selector, ...spec } });
  await client.patch(`${BUDGETS}/${name}/status`, { status: { observedGeneration: metadata.generation, ...status } });
}

function evict(client: Client, name: string, deleteOptions: object = {}): Promise<unknown> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' }, deleteOptions };
  return client.create(`${PODS}/${name}/eviction`, body);
}

const SPENT = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 };

describe('an eviction', () => {
  test('waits for a budget that has not been counted since it changed', async () => {
    const { admin } = world();
    await runningPod(admin, 'web-1');
    await budget(admin, 'web', { ...SPENT, disruptionsAllowed: 1 });
    await admin.patch(`${BUDGETS}/web`, { spec: { minAvailable: 2 } });
    expect(await refusal(evict(admin, 'web-1'))).toMatchObject({ code: 429, details: { retryAfterSeconds: 10 } });
  });

  test('of a pod that is not ready is free where the budget says so, or while enough are healthy', async () => {
    const { admin } = world();
    for (const name of ['web-1', 'web-2', 'web-3']) {
      await runningPod(admin, name);
      await admin.patch(`${PODS}/${name}/status`, { status: { conditions: [] } });
    }
    await budget(admin, 'web', { ...SPENT, currentHealthy: 1 });
    expect(await refusal(evict(admin, 'web-1'))).toMatchObject({ code: 429 });
    await admin.patch(`${BUDGETS}/web/status`, { status: { currentHealthy: 2 } });
    await evict(admin, 'web-1');
    await admin.patch(`${BUDGETS}/web/status`, { status: { currentHealthy: 0 } });
    const { metadata } = await admin.patch(`${BUDGETS}/web`, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } });
    await admin.patch(`${BUDGETS}/web/status`, { status: { observedGeneration: metadata.generation } });
    await evict(admin, 'web-2');
  });
});
