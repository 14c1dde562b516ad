import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exchange } from '../e2e/controlplane/exchange.ts';
import { refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const budgets = (namespace: string): string => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

interface Ready {
  readonly owners?: readonly object[];
  /** Of its status, beside what makes it ready. */
  readonly [field: string]: unknown;
}

/** A pod that is ready on a node that nobody runs. */
async function ready(namespace: string, name: string, { owners = [], ...status }: Ready = {}): Promise<string> {
  const spec = { nodeName: cluster.node, containers: [{ name: 'main', image: 'web' }] };
  const { metadata } = await cluster.admin.create(pods(namespace), {
    metadata: { name, labels: { app: 'web' }, ownerReferences: owners },
    spec,
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await cluster.admin.patch(`${pods(namespace)}/${name}/status`, {
    status: { phase: 'Running', conditions, ...status },
  });
  return metadata.uid;
}

/** A budget that its controller has counted. */
async function budget(namespace: string, spec: object, counted: object, name = 'web'): Promise<void> {
  const selector = { matchLabels: { app: 'web' } };
  await cluster.admin.create(budgets(namespace), { metadata: { name }, spec: { selector, ...spec } });
  await eventually(async () => {
    const { metadata, status } = (await cluster.admin.get(`${budgets(namespace)}/${name}`)) as never as {
      metadata: { generation: number };
      status: object;
    };
    expect(status).toMatchObject({ observedGeneration: metadata.generation, ...counted });
  });
}

const eviction = (namespace: string, name: string, deleteOptions: object = {}): object => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace },
  deleteOptions,
});

function evict(namespace: string, name: string, deleteOptions: object = {}): Promise<unknown> {
  return cluster.admin.create(`${pods(namespace)}/${name}/eviction`, eviction(namespace, name, deleteOptions));
}

describe('an eviction', () => {
  test('deletes the pod with its grace, and charges the budget', async () => {
    const namespace = await cluster.namespace();
    for (const name of ['web-1', 'web-2']) await ready(namespace, name);
    await budget(namespace, { minAvailable: 1 }, { disruptionsAllowed: 1 });
    expect(await evict(namespace, 'web-1')).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
    expect((await cluster.admin.get(`${pods(namespace)}/web-1`)).metadata).toMatchObject({
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: expect.stringMatching(/Z$/),
    });
    expect(await refusal(evict(namespace, 'web-2'))).toMatchObject({ code: 429 });
  });

  test('that the budget does not allow is 429, names it, and says nothing of when', async () => {
    const namespace = await cluster.namespace();
    await ready(namespace, 'web-1');
    await budget(namespace, { minAvailable: 1 }, { disruptionsAllowed: 0, currentHealthy: 1 });
    const answer = await exchange(cluster.access, {
      method: 'POST',
      path: `${pods(namespace)}/web-1/eviction`,
      body: eviction(namespace, 'web-1'),
    });
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(JSON.parse(answer.text)).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1 currently' },
        ],
      },
    });
  });

  test('waits for a budget that nobody has counted since it changed, and says for how long', async () => {
    const namespace = await cluster.namespace();
    const owner = await cluster.admin.create(`/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'web' },
    });
    const controller = { apiVersion: 'v1', kind: 'ConfigMap', name: 'web', uid: owner.metadata.uid, controller: true };
    await ready(namespace, 'web-1', { owners: [controller] });
    await budget(namespace, { minAvailable: 0 }, { disruptionsAllowed: 1 });
    // Now its controller asks the pod's own how many pods there should be. A ConfigMap does not say, so the budget is not counted again.
    await cluster.admin.patch(`${budgets(namespace)}/web`, { spec: { minAvailable: null, maxUnavailable: 1 } });
    const answer = await exchange(cluster.access, {
      method: 'POST',
      path: `${pods(namespace)}/web-1/eviction`,
      body: eviction(namespace, 'web-1'),
    });
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('10');
    expect(JSON.parse(answer.text)).toMatchObject({ details: { retryAfterSeconds: 10 } });
  });

  test('of a pod under two budgets is an error', async () => {
    const namespace = await cluster.namespace();
    await ready(namespace, 'web-1');
    for (const name of ['one', 'two']) await budget(namespace, { minAvailable: 0 }, { disruptionsAllowed: 1 }, name);
    expect(await refusal(evict(namespace, 'web-1'))).toMatchObject({ code: 500 });
  });

  test('of another pod of the same name is a conflict', async () => {
    const namespace = await cluster.namespace();
    const uid = await ready(namespace, 'web-1');
    expect(await refusal(evict(namespace, 'web-1', { preconditions: { uid: 'old' } }))).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    await evict(namespace, 'web-1', { preconditions: { uid } });
  });

  test('of a pod that is gone is 404', async () => {
    expect(await refusal(evict(await cluster.namespace(), 'web-1'))).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'pods "web-1" not found',
    });
  });

  test('of another pod of the same name charges the budget all the same; a dry run, and one under no budget, do not', async () => {
    const namespace = await cluster.namespace();
    for (const name of ['web-1', 'web-2']) await ready(namespace, name);
    await budget(namespace, { minAvailable: 1 }, { disruptionsAllowed: 1 });
    const spec = { nodeName: cluster.node, containers: [{ name: 'main', image: 'db' }] };
    await cluster.admin.create(pods(namespace), { metadata: { name: 'db', labels: { app: 'db' } }, spec });
    await evict(namespace, 'db');
    await evict(namespace, 'web-1', { dryRun: ['All'] });
    const counted = async (): Promise<unknown> => (await cluster.admin.get(`${budgets(namespace)}/web`))['status'];
    expect(await counted()).toMatchObject({ disruptionsAllowed: 1 });
    const other = (): Promise<unknown> => evict(namespace, 'web-1', { preconditions: { uid: 'other' } });
    expect(await refusal(other())).toMatchObject({ code: 409 });
    expect(await counted()).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { 'web-1': expect.anything() } });
    expect(await refusal(other())).toMatchObject({ code: 429 });
  });

  test('in a namespace that ends is refused, with the reason in a cause', async () => {
    const namespace = await cluster.namespace();
    await ready(namespace, 'web-1');
    await cluster.admin.delete(`/api/v1/namespaces/${namespace}`);
    const refused = await eventually(() => refusal(evict(namespace, 'web-1', { dryRun: ['All'] })));
    expect(refused).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `pods "web-1" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      details: {
        name: 'web-1',
        kind: 'pods',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    });
  });

  test('that is a dry run deletes nothing', async () => {
    const namespace = await cluster.namespace();
    await ready(namespace, 'web-1');
    await evict(namespace, 'web-1', { dryRun: ['All'] });
    expect((await cluster.admin.get(`${pods(namespace)}/web-1`)).metadata).not.toHaveProperty('deletionTimestamp');
  });

  test.each(['Pending', 'Succeeded', 'Failed'])('of a pod in phase %s asks no budget', async (phase) => {
    const namespace = await cluster.namespace();
    await ready(namespace, 'web-1', { phase });
    await budget(namespace, { minAvailable: 1 }, { disruptionsAllowed: 0 });
    await evict(namespace, 'web-1');
  });

  test('of a pod that is not ready is free while enough are healthy', async () => {
    const namespace = await cluster.namespace();
    await ready(namespace, 'web-1', { conditions: [] });
    await ready(namespace, 'web-2');
    await budget(namespace, { minAvailable: 1 }, { disruptionsAllowed: 0, currentHealthy: 1 });
    expect(await refusal(evict(namespace, 'web-2'))).toMatchObject({ code: 429 });
    await evict(namespace, 'web-1');
  });

  test('of a pod that is not ready is free where the budget says so', async () => {
    const namespace = await cluster.namespace();
    for (const name of ['web-1', 'web-2']) await ready(namespace, name, { conditions: [] });
    await budget(namespace, { minAvailable: 1 }, { disruptionsAllowed: 0, currentHealthy: 0 });
    expect(await refusal(evict(namespace, 'web-1'))).toMatchObject({ code: 429 });
    const { metadata } = await cluster.admin.patch(`${budgets(namespace)}/web`, {
      spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    });
    await eventually(async () =>
      expect((await cluster.admin.get(`${budgets(namespace)}/web`))['status']).toMatchObject({
        observedGeneration: metadata.generation,
      }),
    );
    await evict(namespace, 'web-1');
  });
});
