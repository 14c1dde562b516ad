import { beforeEach, describe, expect, test } from '@jest/globals';
import type { VerifiedAgent } from '../../../runtime/apiserver/auth/authenticator.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { COMPONENT_LABEL, COMPONENTS, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { addBudget } from '../budgets.ts';
import { outcome, type Replica, type ReplicaSettings, started, World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const addWeb = () => world.addPod('web-1', { labels: { app: 'web' } });

const messages = async (): Promise<readonly string[]> =>
  (await world.told()).map(({ reason, message }) => `${reason}: ${message}`);

describe('before a drain that cannot end as things are', () => {
  test('with "refuse" the answer names every pod that cannot leave, and the status no more than fit', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `web-${index + 1}`);
    for (const name of names) await world.addPod(name, { labels: { app: 'web' } });
    await addBudget(world, 'web');
    const drain = started(world.replica({ preflight: 'refuse' }).service.cordonAndDrain(await world.agent()));
    expect(await outcome(drain)).toBe('409 Undrainable');
    const message = await drain.then(String, (error: Error) => error.message);
    expect(names.filter((name) => !message.includes(`(pod shop/${name})`))).toEqual([]);
    expect((await world.shadow()).status?.drain?.blocked_by).toHaveLength(20);
  });

  test('with "refuse" a budget over the operator’s own pod stands in no way where that pod stays', async () => {
    const own = { app: 'web', [COMPONENT_LABEL]: COMPONENTS.apiserver };
    await world.addPod('apiserver', { namespace: NAMESPACE, labels: own });
    await addBudget(world, 'own', NAMESPACE);
    await world.addPod('web-1');
    const { service } = world.replica({ preflight: 'refuse' });
    const drain = started(service.cordonAndDrain(await world.agent()));
    await settle();
    await world.endPod('web-1');
    expect(await outcome(drain)).toBe('ok');
    expect(await messages()).not.toContainEqual(expect.stringContaining('DrainRefused'));
  });

  test('a drain that has begun is not refused, whatever comes in its way', async () => {
    await addWeb();
    const { service } = world.replica({ preflight: 'refuse' });
    const first = new AbortController();
    void started(service.cordonAndDrain(await world.agent(), first.signal));
    await settle();
    await addBudget(world, 'web');
    first.abort(new Error('gone'));
    const second = started(world.replica({ preflight: 'refuse' }).service.cordonAndDrain(await world.agent()));
    expect(await outcome(second)).toBe('pending');
  });

  const refuses = async (settings: ReplicaSettings = {}): Promise<string> =>
    outcome(world.replica({ preflight: 'refuse', ...settings }).service.cordonAndDrain(await world.agent()));

  test('with "refuse" a drain is tried half an hour after the first refusal, over attempts and replicas, and then named as one that may not end', async () => {
    await addWeb();
    await addBudget(world, 'web');
    expect(await refuses()).toBe('409 Undrainable');
    const first = (await world.shadow()).status?.drain_refused;
    expect(first).toEqual({ since: expect.any(String), version: '1.39.0' });
    await world.clock.advance(900_000);
    // Called off, and begun again.
    await world.setStatus({ current_state: 'StagedAndPerformedUpdate', drain: null });
    expect(await refuses()).toBe('409 Undrainable');
    await world.clock.advance(899_000);
    expect(await refuses()).toBe('409 Undrainable');
    expect((await world.shadow()).status?.drain_refused).toEqual(first);
    await world.clock.advance(1_000);
    expect(await refuses({ refusalSec: 0 })).toBe('409 Undrainable');
    // An Event is named by its moment.
    await world.clock.advance(1);
    expect(await refuses()).toBe('pending');
    expect(await messages()).toContainEqual(
      expect.stringMatching(/^DrainBlocked: The drain may not end; .*shop\/web-1/),
    );
    expect((await world.shadow()).status?.drain_refused ?? null).toBeNull();
  });

  test('with "refuse" the half hour begins anew for another version, and for a first refusal that lies in the future', async () => {
    await addWeb();
    await addBudget(world, 'web');
    for (const drain_refused of [
      { since: '2020-01-01T00:00:00Z', version: '1.38.9' },
      { since: '2099-01-01T00:00:00Z', version: '1.39.0' },
    ]) {
      await world.setStatus({ drain_refused });
      expect(await refuses()).toBe('409 Undrainable');
      const since = rfc3339(world.clock.now());
      expect((await world.shadow()).status?.drain_refused).toEqual({ since, version: '1.39.0' });
    }
  });

  /** To the deadline, which is that of a drain that has begun, and to what the agent and the controller do then. */
  async function expectReleasedAtDeadline({ service }: Replica, agent: VerifiedAgent): Promise<void> {
    const drain = started(service.cordonAndDrain(agent));
    expect(await outcome(drain)).toBe('pending');
    expect((await world.node()).spec?.unschedulable).toBe(true);
    expect(await messages()).toContainEqual(expect.stringMatching(/^DrainBlocked: .*shop\/web-1/));
    await world.clock.advance(60_000);
    expect(await outcome(drain)).toBe('504 DrainTimeout');
    await world.setStatus({ current_state: 'ErrorReset' });
    await world.setSpec({ state: 'Idle' });
    await service.uncordon(agent);
    const { metadata, spec } = await world.node();
    expect([spec?.unschedulable, metadata.labels ?? {}, await world.marks()]).toEqual([undefined, {}, undefined]);
  }

  test('with "refuse" a drain that is begun anew after an unplanned reboot is not refused: its deadline gives the node back', async () => {
    await addWeb();
    const replica = world.replica({ preflight: 'refuse', timeoutSec: 60 });
    const first = new AbortController();
    void started(replica.service.cordonAndDrain(await world.agent(), first.signal));
    await settle();
    first.abort(new Error('gone'));
    await world.endPod('web-1');
    await addWeb();
    await addBudget(world, 'web');
    await world.boots('1.38.0', 'boot-2');
    const agent = await world.agent('n1', 'boot-2');
    await replica.service.excludeFromLb(agent);
    await expectReleasedAtDeadline(replica, agent);
  });

  test('with "refuse" a drain is not refused once the node is out of its load balancers: its deadline gives it back', async () => {
    await addWeb();
    const replica = world.replica({ preflight: 'refuse', timeoutSec: 60 });
    const agent = await world.agent();
    await replica.service.excludeFromLb(agent);
    await addBudget(world, 'web');
    await expectReleasedAtDeadline(replica, agent);
    await world.setStatus({ current_state: 'StagedAndPerformedUpdate' });
    await world.setSpec({ state: 'RebootedIntoUpdate' });
    expect(await outcome(replica.service.excludeFromLb(agent))).toBe('409 Undrainable');
  });

  test('with "refuse" a look before the load balancers are left says nothing of a node that will be drained all the same', async () => {
    await addWeb();
    const { service } = world.replica({ preflight: 'refuse' });
    const agent = await world.agent();
    await service.excludeFromLb(agent);
    await addBudget(world, 'web');
    await service.excludeFromLb(agent);
    expect(await messages()).toEqual([]);
  });
});

describe('a pod that may take longer to end than its drain may', () => {
  const told = async (): Promise<readonly string[]> =>
    (await messages()).filter((message) => message.startsWith('DrainMayTimeOut'));
  const drained = async (settings: Parameters<World['replica']>[0]): Promise<string> =>
    outcome(started(world.replica(settings).service.cordonAndDrain(await world.agent())));

  beforeEach(async () => {
    await world.addPod('db-0', { graceSeconds: 3600 });
    await world.addPod('db-1', { graceSeconds: 1801 });
    await world.addPod('web-1', { graceSeconds: 1800 });
  });

  test('is named when the drain begins, which is refused for no grace', async () => {
    expect(await drained({ preflight: 'refuse' })).toBe('pending');
    expect(await told()).toEqual([
      'DrainMayTimeOut: The drain fails after 1800 s, and these pods may take longer to end: shop/db-0 (3600 s); shop/db-1 (1801 s)',
    ]);
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual([]);
  });

  test('counts by the grace that it was given, where it is ending already', async () => {
    await world.delete('/api/v1/namespaces/shop/pods/db-0', { gracePeriodSeconds: 60 });
    await drained({});
    expect(await told()).toEqual([expect.stringMatching(/longer to end: shop\/db-1 \(1801 s\)$/)]);
  });

  test('is none where drains have no end', async () => {
    await drained({ timeoutSec: 0 });
    expect(await told()).toEqual([]);
  });
});

test('a budget refuses no drain that is as the API server stores it, before its controller has counted', async () => {
  await world.addPod('web-1', { labels: { app: 'web' } });
  await world.create('/apis/policy/v1/namespaces/shop/poddisruptionbudgets', {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
  });
  const drain = started(world.replica({ preflight: 'refuse' }).service.cordonAndDrain(await world.agent()));
  expect(await outcome(drain)).toBe('pending');
});
