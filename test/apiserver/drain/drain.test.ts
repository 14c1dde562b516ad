import { beforeEach, describe, expect, test } from '@jest/globals';
import { settle } from '../../../lab/sim/clock.ts';
import { addBudget } from '../budgets.ts';
import { evictions, outcome, started, World } from '../world.ts';

/** What of a drain needs a clock that can be moved, or a count of requests; what it does to a cluster is in test/contract/drain.test.ts. */

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

/** The embedded cluster has none by itself. */
async function serveWebhooks(kind: string): Promise<void> {
  const [plural, group] = [`${kind.toLowerCase()}s`, 'admissionregistration.k8s.io'];
  const schema = { openAPIV3Schema: { type: 'object' } };
  await world.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
}

describe('a drain', () => {
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

  test('past the deadline names every pod of a full node to the agent, and in its Event as many as fit', async () => {
    for (let index = 0; index < 110; index++) await world.addPod(`web-${index}`);
    const drain = started(world.replica({ timeoutSec: 60 }).service.cordonAndDrain(await world.agent()));
    await world.clock.advance(61_000);
    const { message } = (await drain.catch((error: unknown) => error)) as Error;
    expect(message.match(/shop\/web-\d+ \(ending, due at [\w:-]+\)/g)).toHaveLength(110);
    const told = (await world.told()).find(({ reason }) => reason === 'DrainFailed')?.message ?? '';
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
    const failed = (await world.told()).filter(({ reason }) => reason === 'DrainFailed');
    expect(failed.map(({ count }) => count)).toEqual([1]);
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
      // What it may stop with its pods, which is asked beside it.
      'GET validatingwebhookconfigurations',
      'GET mutatingwebhookconfigurations',
      'POST eviction',
      'GET brs-n1',
      'GET pods',
      'PATCH status',
      'PATCH n1',
      'POST events',
    ]);
    expect(tap.watches).toHaveLength(2);
  });

  test('asks for the webhooks that it may stop no more than each ten minutes, however many nodes are drained', async () => {
    await world.addNode('n2');
    await world.addShadow('n2');
    for (const kind of ['Validating', 'Mutating']) await serveWebhooks(`${kind}WebhookConfiguration`);
    const { service, tap } = world.replica();
    const asked = (): number => tap.requests.filter(({ path }) => path.endsWith('webhookconfigurations')).length;
    await service.cordonAndDrain(await world.agent());
    await world.clock.advance(7 * 60_000);
    await service.cordonAndDrain(await world.agent('n2'));
    expect(asked()).toBe(2);
  });

  test('asks no more for the eviction of a pod that has gone by itself, and names it no longer', async () => {
    for (const name of ['web-1', 'web-2']) await world.addPod(name, { labels: { app: 'web' } });
    await addBudget(world, 'web');
    const replica = world.replica();
    void started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(20_000);
    await world.endPod('web-1');
    const before = evictions(replica).filter((name) => name === 'web-1').length;
    await world.clock.advance(20_000);
    expect(evictions(replica).filter((name) => name === 'web-1')).toHaveLength(before);
    expect((await world.shadow()).status?.drain).toMatchObject({
      pods_left: 1,
      blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-2)'],
    });
  });

  test('again after it is done costs four requests', async () => {
    const { service, tap } = world.replica();
    await service.cordonAndDrain(await world.agent());
    tap.requests.length = 0;
    await service.cordonAndDrain(await world.agent());
    expect(tap.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)).toEqual([
      'GET n1',
      'GET brs-n1',
      'GET pods',
      'PATCH n1',
    ]);
  });
});
