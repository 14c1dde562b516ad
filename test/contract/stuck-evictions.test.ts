import { expect } from '@jest/globals';
import { systemClock } from '../../runtime/lib/clock.ts';
import { eventually } from './eventually.ts';
import { deletionIsRefused, deniesEvictions, evictionIsRefused } from './policies.ts';
import { evicts, type Replica } from './replica.ts';
import { onReal, play, stage } from './stage.ts';
import { type Guard, guard, type Webhook } from './webhook.ts';

const on = stage();

/** Long enough for some tries on a busy machine, and for the seconds in which a drain's beginning is written down. */
const SHORT = { timeoutSec: 4 };

/** A drain of `web-1` that ends at its deadline, because of `why`. */
async function expectFailed(replica: Replica, why: string, namespace = on.world.names.namespace): Promise<void> {
  const failed = replica.drain();
  await expect(failed).rejects.toEqual(expect.objectContaining({ status: 504, reason: 'DrainTimeout' }));
  await expect(failed).rejects.toThrow(`${namespace}/web-1 (${why}`);
  expect(await on.world.isCordoned()).toBe(true);
  expect((await on.world.marks())?.drained).toBeUndefined();
  expect(await on.world.progress()).toMatchObject({ pods_left: 1, blocked_by: [expect.stringContaining(why)] });
}

/** A webhook that is asked before every eviction in the world's namespace. */
async function evictionsAreGuarded(
  decide: Guard['decide'],
  more: Pick<Guard, 'timeoutSeconds'> = {},
): Promise<Webhook> {
  const { cluster, world } = on;
  const { namespace } = world.names;
  const guarded = await guard(cluster, { namespace, resource: 'pods/eviction', operation: 'CREATE', decide, ...more });
  world.atEnd(guarded.remove);
  return guarded.webhook;
}

const inEffect = (code: number): Promise<void> =>
  evictionIsRefused(on.cluster, { namespace: on.world.names.namespace, name: 'web-1' }, code);

play('an eviction that must wait', {
  'is asked for again after a pause, and the budget in its way is named': async () => {
    await on.world.addPod('web-1');
    await on.world.budget('web', 1);
    await on.world.counted('web');
    const { drain, tap } = on.world.replica();
    const drained = drain();
    await eventually(async () => {
      expect(tap.requests.filter(evicts).length).toBeGreaterThan(1);
      expect((await on.world.progress())?.blocked_by).toEqual([
        `PodDisruptionBudget ${on.world.names.namespace}/web (pod ${on.world.names.namespace}/web-1)`,
      ]);
    });
    await on.world.removeBudget('web');
    await on.world.endPod('web-1');
    await drained;
  },

  'is asked for again when the answer says': onReal(async () => {
    await on.world.addPod('web-1');
    const tries: number[] = [];
    const wait = { code: 429, message: 'not now', details: { retryAfterSeconds: 2 } };
    await evictionsAreGuarded((isDryRun) => (isDryRun || tries.push(systemClock.monotonic()) === 1 ? wait : undefined));
    await inEffect(429);
    const drained = on.world.replica().drain();
    await on.world.endPod('web-1');
    await drained;
    expect(tries).toHaveLength(2);
    expect(tries[1]! - tries[0]!).toBeGreaterThanOrEqual(2_000);
  }),
});

play('an eviction that never succeeds ends at the deadline, with who is left and why, and in no success', {
  '429 of a budget': async () => {
    await on.world.addPod('web-1');
    await on.world.budget('web', 1);
    await expectFailed(on.world.replica(SHORT), `PodDisruptionBudget ${on.world.names.namespace}/web`);
  },

  '429 of a server that says when': onReal(async () => {
    await on.world.addPod('web-1');
    await evictionsAreGuarded(() => ({ code: 429, message: 'not now', details: { retryAfterSeconds: 1 } }));
    await inEffect(429);
    await expectFailed(on.world.replica(SHORT), 'the admission webhook guard.contract.example.com, which asks to wait');
  }),

  '500 of two budgets at once': async () => {
    await on.world.addPod('web-1');
    for (const name of ['one', 'two']) await on.world.budget(name, 0);
    await expectFailed(on.world.replica(SHORT), 'refused with 500: This pod has more than one PodDisruptionBudget');
  },

  '403 of its role': async () => {
    await on.world.addPod('web-1');
    const { transport } = await on.world.account('pods/eviction');
    await expectFailed(on.world.replica({ ...SHORT, transport }), 'refused with 403');
  },

  '403 of an admission policy': onReal(async () => {
    await on.world.addPod('web-1');
    await deniesEvictions(on.cluster, on.world.names.namespace, 'Forbidden');
    await inEffect(403);
    await expectFailed(on.world.replica(SHORT), 'refused with 403');
  }),

  '422 of an admission policy': onReal(async () => {
    await on.world.addPod('web-1');
    await deniesEvictions(on.cluster, on.world.names.namespace, 'Invalid');
    await inEffect(422);
    await expectFailed(on.world.replica(SHORT), 'refused with 422');
  }),

  '403 of a webhook': onReal(async () => {
    await on.world.addPod('web-1');
    await evictionsAreGuarded(() => ({ code: 403, message: 'not now' }));
    await inEffect(403);
    await expectFailed(on.world.replica(SHORT), 'refused with 403: admission webhook');
  }),

  '409 of a webhook': onReal(async () => {
    await on.world.addPod('web-1');
    await evictionsAreGuarded(() => ({ code: 409, message: 'not now' }));
    await inEffect(409);
    await expectFailed(on.world.replica(SHORT), 'refused with 409: admission webhook');
  }),

  '404 of a webhook': onReal(async () => {
    await on.world.addPod('web-1');
    await evictionsAreGuarded(() => ({ code: 404, message: 'not here' }));
    await inEffect(404);
    await expectFailed(on.world.replica(SHORT), 'refused with 404: admission webhook');
  }),

  '500 of a webhook that cannot be reached': onReal(async () => {
    await on.world.addPod('web-1');
    (await evictionsAreGuarded(() => undefined)).close();
    await inEffect(500);
    await expectFailed(on.world.replica(SHORT), 'refused with 500: Internal error occurred: failed calling webhook');
  }),

  '500 of a webhook that does not answer in time': onReal(async () => {
    await on.world.addPod('web-1');
    await evictionsAreGuarded(() => 'never', { timeoutSeconds: 1 });
    await inEffect(500);
    const replica = on.world.replica({ timeoutSec: 3 });
    await expectFailed(replica, 'refused with 500: Internal error occurred: failed calling webhook');
  }),

  '403 of a namespace that ends': onReal(async () => {
    const namespace = await on.cluster.namespace();
    await on.world.addPod('web-1', { namespace });
    const decide = (): object => ({ code: 403, message: 'not now' });
    // Else the namespace's end would take the pod along before anybody evicts it.
    const { remove } = await guard(on.cluster, { namespace, resource: 'pods', operation: 'DELETE', decide });
    on.world.atEnd(remove);
    await deletionIsRefused(on.cluster, { namespace, name: 'web-1' });
    await on.cluster.admin.delete(`/api/v1/namespaces/${namespace}`);
    await expectFailed(on.world.replica(SHORT), 'refused with 403', namespace);
  }),
});
