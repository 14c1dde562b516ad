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
  test('deletes the pod with its grace, and charges the budget', async () => {
    const { admin } = world();
    await runningPod(admin, 'web-1');
    await budget(admin, 'web', { ...SPENT, disruptionsAllowed: 1, desiredHealthy: 1 });
    expect(await evict(admin, 'web-1')).toMatchObject({ status: 'Success', code: 201 });
    expect((await admin.get(`${PODS}/web-1`)).metadata.deletionGracePeriodSeconds).toBe(30);
    expect((await admin.get(`${BUDGETS}/web`))['status']).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { 'web-1': '2026-01-01T00:00:00Z' },
    });
  });

  test('that the budget does not allow is 429 and names it', async () => {
    const { admin } = world();
    await runningPod(admin, 'web-1');
    await budget(admin, 'web', SPENT);
    expect(await refusal(evict(admin, 'web-1'))).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          { reason: 'DisruptionBudget', message: 'The disruption budget web needs 2 healthy pods and has 2 currently' },
        ],
      },
    });
    expect((await admin.get(`${PODS}/web-1`)).metadata).not.toHaveProperty('deletionTimestamp');
  });

  test('waits for a budget that has not been counted since it changed', async () => {
    const { admin } = world();
    await runningPod(admin, 'web-1');
    await budget(admin, 'web', { ...SPENT, disruptionsAllowed: 1 });
    await admin.patch(`${BUDGETS}/web`, { spec: { minAvailable: 2 } });
    expect(await refusal(evict(admin, 'web-1'))).toMatchObject({ code: 429, details: { retryAfterSeconds: 10 } });
  });

  test('of a pod under two budgets is an error', async () => {
    const { admin } = world();
    await runningPod(admin, 'web-1');
    for (const name of ['one', 'two']) await budget(admin, name, { ...SPENT, disruptionsAllowed: 1 });
    expect(await refusal(evict(admin, 'web-1'))).toMatchObject({ code: 500 });
  });

  test("leaves other pods' budgets alone", async () => {
    const { admin } = world();
    await runningPod(admin, 'db-1', { app: 'db' });
    await budget(admin, 'web', SPENT);
    await evict(admin, 'db-1');
    expect((await admin.get(`${PODS}/db-1`)).metadata.deletionTimestamp).toBeDefined();
  });

  test('of another pod of the same name is a conflict and charges nothing', async () => {
    const { admin } = world();
    const { metadata } = await runningPod(admin, 'web-1');
    await budget(admin, 'web', { ...SPENT, disruptionsAllowed: 1 });
    expect(await refusal(evict(admin, 'web-1', { preconditions: { uid: 'old' } }))).toMatchObject({ code: 409 });
    expect((await admin.get(`${BUDGETS}/web`))['status']).toMatchObject({ disruptionsAllowed: 1 });
    await evict(admin, 'web-1', { preconditions: { uid: metadata.uid } });
  });

  test('of a pod that is gone is 404', async () => {
    expect(await refusal(evict(world().admin, 'web-1'))).toMatchObject({
      code: 404,
      message: 'pods "web-1" not found',
    });
  });

  test('that is a dry run charges and deletes nothing', async () => {
    const { admin } = world();
    await runningPod(admin, 'web-1');
    await budget(admin, 'web', { ...SPENT, disruptionsAllowed: 1 });
    await evict(admin, 'web-1', { dryRun: ['All'] });
    expect((await admin.get(`${BUDGETS}/web`))['status']).toMatchObject({ disruptionsAllowed: 1 });
    expect((await admin.get(`${PODS}/web-1`)).metadata).not.toHaveProperty('deletionTimestamp');
  });

  test.each([
    ['pending', { phase: 'Pending' }],
    ['finished', { phase: 'Failed' }],
  ])('of a %s pod asks no budget', async (_, status) => {
    const { admin } = world();
    await runningPod(admin, 'web-1');
    await admin.patch(`${PODS}/web-1/status`, { status });
    await budget(admin, 'web', SPENT);
    await evict(admin, 'web-1');
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
