import { beforeEach, describe, expect, test } from '@jest/globals';
import { settle } from '../../../sim/clock.ts';
import { COMPONENT_LABEL, NAMESPACE } from '../../../runtime/shadow/names.ts';
import { outcome, started, World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

/** Lets all pods that are ending end. */
async function endTerminating(): Promise<void> {
  for (const { metadata } of await world.pods()) {
    if (metadata.deletionTimestamp) await world.endPod(metadata.name, metadata.namespace);
  }
  await settle();
}

const terminating = async (): Promise<string[]> =>
  (await world.pods()).filter((pod) => pod.metadata.deletionTimestamp).map((pod) => pod.metadata.name);

describe('a drain', () => {
  test('of an empty node cordons it, marks it and proves it empty', async () => {
    const { service } = world.replica();
    await service.cordonAndDrain(await world.agent());
    const node = await world.node();
    expect(node.spec?.unschedulable).toBe(true);
    expect(await world.marks()).toMatchObject({
      boot: 'boot-1',
      since: '2026-01-01T00:00:00Z',
      drained: '2026-01-01T00:00:00Z',
      owns: ['cordon', 'cluster-autoscaler', 'karpenter'],
    });
    expect((await world.shadow()).status?.drain).toEqual({
      started_at: '2026-01-01T00:00:00Z',
      pods_left: 0,
      blocked_by: [],
    });
  });

  test('ends within no time of its last pod’s going, and not before', async () => {
    await world.addPod('web-1');
    await world.addPod('web-2');
    const { service } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await terminating()).toEqual(['web-1', 'web-2']);
    await world.endPod('web-1');
    expect(await outcome(drain)).toBe('pending');
    await world.endPod('web-2');
    await settle();
    expect(await outcome(drain)).toBe('ok');
    expect(world.clock.monotonic()).toBe(0);
  });

  test('leaves DaemonSet pods, mirror pods and finished pods alone', async () => {
    await world.addPod('ds', { owner: 'logs' });
    await world.addPod('mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    await world.addPod('done', { phase: 'Succeeded' });
    await world.addPod('elsewhere', { node: 'n2' });
    await world.replica().service.cordonAndDrain(await world.agent());
    expect(await terminating()).toEqual([]);
  });

  test('waits for a pod that was ending before, without evicting it again', async () => {
    await world.addPod('web-1');
    await world.admin.request({ method: 'DELETE', path: '/api/v1/namespaces/shop/pods/web-1' });
    const { service, tap } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    expect(await outcome(drain)).toBe('pending');
    await endTerminating();
    expect(await outcome(drain)).toBe('ok');
    expect(tap.requests.filter(({ path }) => path.endsWith('/eviction'))).toEqual([]);
  });

  test('waits for a pod that lands later, but not for one that tolerates the cordon', async () => {
    await world.addPod('web-1');
    const { service } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await world.clock.advance(5_000);
    await world.addPod('late');
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }];
    await world.addPod('tolerates', { tolerations });
    await settle();
    expect(await terminating()).toEqual(['late', 'web-1']);
    await endTerminating();
    expect(await outcome(drain)).toBe('ok');
    expect((await world.pods()).map((pod) => pod.metadata.name)).toEqual(['tolerates']);
    const { items } = (await world.get('/api/v1/events')) as { items: { message: string }[] };
    expect(items.at(-1)?.message).toBe(
      'Drained for a Bottlerocket update in 5 s; pods that tolerate the cordon came since: shop/tolerates',
    );
  });

  test('evicts a pod that tolerates the cordon but was there before it', async () => {
    await world.addPod('tolerates', { tolerations: [{ operator: 'Exists' }] });
    await world.clock.advance(1_000);
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await terminating()).toEqual(['tolerates']);
    await endTerminating();
    expect(await outcome(drain)).toBe('ok');
  });

  test('keeps at most the set number of eviction requests in flight, and never waits for terminations in turn', async () => {
    for (let index = 0; index < 12; index++) await world.addPod(`web-${index}`);
    const { service, tap } = world.replica({ maxEvictions: 3 });
    let inFlight = 0;
    let most = 0;
    tap.before = async ({ path }) => {
      if (!path.endsWith('/eviction')) return;
      most = Math.max(most, ++inFlight);
      await world.clock.sleep(100);
      inFlight--;
    };
    const drain = started(service.cordonAndDrain(await world.agent()));
    await world.clock.advance(400);
    expect(most).toBe(3);
    expect(await terminating()).toHaveLength(12);
    await endTerminating();
    expect(await outcome(drain)).toBe('ok');
  });

  test('asks again for a blocked pod and names its budget', async () => {
    await world.addPod('web-1', { labels: { app: 'web' } });
    await world.post('/apis/policy/v1/namespaces/shop/poddisruptionbudgets', {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1 },
    });
    const budget = '/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web/status';
    const allow = (disruptionsAllowed: number): Promise<unknown> =>
      world.patch(budget, {
        status: { disruptionsAllowed, observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      });
    await allow(0);
    const { service } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await world.clock.advance(3_000);
    expect((await world.shadow()).status?.drain).toMatchObject({
      pods_left: 1,
      blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'],
    });
    await allow(1);
    await world.clock.advance(6_000);
    await endTerminating();
    expect(await outcome(drain)).toBe('ok');
  });

  test('past the deadline names every pod of a full node to the agent, and in its Event as many as fit', async () => {
    for (let index = 0; index < 110; index++) await world.addPod(`web-${index}`);
    const drain = started(world.replica({ timeoutSec: 60 }).service.cordonAndDrain(await world.agent()));
    await world.clock.advance(61_000);
    const { message } = (await drain.catch((error: unknown) => error)) as Error;
    expect(message.match(/shop\/web-\d+ \(ending, due at [\w:-]+\)/g)).toHaveLength(110);
    const { items } = (await world.get('/api/v1/events')) as { items: { reason: string; message: string }[] };
    const told = items.find(({ reason }) => reason === 'DrainFailed')?.message ?? '';
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(1024);
    const named = told.match(/web-\d+ \(/g)?.length ?? 0;
    expect([named > 15, told.endsWith(`; and ${110 - named} more`)]).toEqual([true, true]);
  });

  test('without a deadline goes on for ever', async () => {
    await world.addPod('web-1');
    const drain = started(world.replica({ timeoutSec: 0 }).service.cordonAndDrain(await world.agent()));
    await world.clock.advance(48 * 3600_000);
    expect(await outcome(drain)).toBe('pending');
    await endTerminating();
    expect(await outcome(drain)).toBe('ok');
  });

  test('evicts the operator’s own pods last', async () => {
    await world.addNode('n2');
    await world.addPod('web-1');
    await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await terminating()).toEqual(['web-1']);
    await endTerminating();
    expect(await terminating()).toEqual(['controller']);
    expect(await outcome(drain)).toBe('pending');
    await endTerminating();
    expect(await outcome(drain)).toBe('ok');
  });

  test('leaves the operator’s own pods where no other node could take them', async () => {
    await world.addNode('n2', { ready: false });
    await world.addPod('controller', { namespace: NAMESPACE, labels: { [COMPONENT_LABEL]: 'brupop-controller' } });
    await world.replica().service.cordonAndDrain(await world.agent());
    expect(await terminating()).toEqual([]);
  });

  test('outlives a Kubernetes API that drops its watches', async () => {
    await world.addPod('web-1');
    const { service, tap } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    tap.cut(new Error('cut'));
    await endTerminating();
    await world.clock.advance(2_000);
    expect(await outcome(drain)).toBe('ok');
  });

  test('is told on the node by Events', async () => {
    await world.addPod('web-1');
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await settle();
    await endTerminating();
    await drain;
    await settle();
    expect(await world.events()).toEqual(['DrainStarted', 'DrainFinished']);
  });

  test('is counted by how it ended, with its duration from its beginning', async () => {
    await world.addPod('web-1');
    const first = world.replica({ timeoutSec: 60 });
    const late = started(first.service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await first.metrics.registry.metrics()).toContain('brupop_apiserver_drains_running 1');
    await world.clock.advance(60_000);
    expect(await outcome(late)).toBe('504 DrainTimeout');
    await endTerminating();
    const second = world.replica({ timeoutSec: 60 });
    await second.service.cordonAndDrain(await world.agent());
    await second.service.cordonAndDrain(await world.agent());
    const metrics = await Promise.all([first, second].map((replica) => replica.metrics.registry.metrics()));
    expect(metrics[0]).toContain('brupop_apiserver_drains_total{result="timeout"} 1');
    expect(metrics[0]).toContain('brupop_apiserver_drains_running 0');
    expect(metrics[1]).toContain('brupop_apiserver_drains_total{result="drained"} 1');
    expect(metrics[1]).toContain('brupop_apiserver_drain_duration_seconds_sum 60');
  });

  test('that runs into its deadline is counted once, and told once, however many ask and how often', async () => {
    await world.addPod('web-1');
    const { service, metrics } = world.replica({ timeoutSec: 60 });
    const agent = await world.agent();
    const both = [started(service.cordonAndDrain(agent)), started(service.cordonAndDrain(agent))];
    await world.clock.advance(60_000);
    both.push(started(service.cordonAndDrain(agent)));
    for (const asked of both) expect(await outcome(asked)).toBe('504 DrainTimeout');
    expect(await metrics.registry.metrics()).toContain('brupop_apiserver_drains_total{result="timeout"} 1');
    const { items } = (await world.get('/api/v1/events')) as { items: { reason: string; count: number }[] };
    expect(items.filter(({ reason }) => reason === 'DrainFailed').map(({ count }) => count)).toEqual([1]);
  });

  test('of one pod costs one eviction, two watches, and a look at its beginning and its end', async () => {
    await world.addPod('web-1');
    const { service, tap } = world.replica();
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    await world.endPod('web-1');
    expect(await outcome(drain)).toBe('ok');
    expect(tap.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)).toEqual([
      'GET n1',
      'GET brs-n1',
      'GET pods',
      'GET poddisruptionbudgets',
      'PATCH status',
      'PATCH n1',
      'POST events',
      'GET pods',
      'GET nodes',
      'GET pods',
      'POST eviction',
      'GET n1',
      'GET brs-n1',
      'GET pods',
      'PATCH status',
      'PATCH n1',
      'POST events',
    ]);
    expect(tap.watches).toHaveLength(2);
  });

  test('again after it is done costs five requests', async () => {
    const { service, tap } = world.replica();
    await service.cordonAndDrain(await world.agent());
    tap.requests.length = 0;
    await service.cordonAndDrain(await world.agent());
    expect(tap.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)).toEqual([
      'GET n1',
      'GET brs-n1',
      'GET pods',
      'PATCH status',
      'PATCH n1',
    ]);
  });
});
