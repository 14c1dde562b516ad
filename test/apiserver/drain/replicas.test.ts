import { beforeEach, describe, expect, test } from '@jest/globals';
import { MARKS_ANNOTATION } from '../../../runtime/api/marks/names.ts';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import { MAX_SLOW_REQUESTS } from '../../../runtime/kube/transport.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { addBudget } from '../budgets.ts';
import { evictions, hold, outcome, type Replica, started, World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

describe('a drain that nobody waits for', () => {
  const MINUTE = 60_000;

  /** Evictions that are asked for in the fourth minute of a blocked drain, whose agent asks the next replica each minute. */
  async function evictionsAMinute(replicas: readonly Replica[]): Promise<number> {
    let before = 0;
    const asked = (): number => replicas.flatMap(evictions).length;
    for (let minute = 0; minute < 4; minute++) {
      before = asked();
      const gone = new AbortController();
      void started(replicas[minute % replicas.length]!.service.cordonAndDrain(await world.agent(), gone.signal));
      await world.clock.advance(MINUTE);
      gone.abort(new Error('gone'));
    }
    return asked() - before;
  }

  test('ends after ten seconds: three replicas that an agent asks in turn do not evict twice as often as one', async () => {
    await world.addPod('web-1', { labels: { app: 'web' } });
    await addBudget(world, 'web');
    const alone = await evictionsAMinute([world.replica()]);
    await world.clock.advance(MINUTE);
    const inTurn = await evictionsAMinute([world.replica(), world.replica(), world.replica()]);
    expect(inTurn).toBeLessThan(alone * 2);
  });

  test('touches nothing more then, and begins again with the next request', async () => {
    await world.addPod('web-1');
    const { service, tap, metrics } = world.replica();
    const gone = new AbortController();
    void started(service.cordonAndDrain(await world.agent(), gone.signal));
    await settle();
    gone.abort(new Error('gone'));
    await world.clock.advance(10_000);
    expect(await metrics.registry.metrics()).toContain('brupop_apiserver_drains_running 0');
    tap.requests.length = 0;
    await world.addPod('landed');
    await world.clock.advance(MINUTE);
    expect(tap.requests).toEqual([]);
    const again = started(service.cordonAndDrain(await world.agent()));
    await settle();
    for (const name of ['web-1', 'landed']) await world.endPod(name);
    expect(await outcome(again)).toBe('ok');
  });

  test('goes on where another request came within the ten seconds, for as long as that waits', async () => {
    await world.addPod('web-1');
    const { service, tap } = world.replica();
    const gone = new AbortController();
    void started(service.cordonAndDrain(await world.agent(), gone.signal));
    await settle();
    gone.abort(new Error('gone'));
    await world.clock.advance(9_000);
    const second = started(service.cordonAndDrain(await world.agent()));
    await world.clock.advance(MINUTE);
    expect(tap.watches.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(1);
    await world.endPod('web-1');
    expect(await outcome(second)).toBe('ok');
  });
});

test('evictions of all drains together are as many as have connections, and those in line are not sent once the replica ends', async () => {
  await world.addNode('n2');
  await world.addShadow('n2');
  for (const node of ['n1', 'n2'])
    for (let index = 0; index < 70; index++) await world.addPod(`${node}-${index}`, { node });
  const replica = world.replica({ maxEvictions: 100 });
  const webhook = Promise.withResolvers<void>();
  replica.tap.before = ({ path }) => (path.endsWith('/eviction') ? webhook.promise : undefined);
  for (const node of ['n1', 'n2']) void started(replica.service.cordonAndDrain(await world.agent(node)));
  await settle();
  expect(evictions(replica)).toHaveLength(MAX_SLOW_REQUESTS);
  replica.service.close();
  const settled = replica.service.settled();
  expect(await outcome(settled)).toBe('pending');
  webhook.resolve();
  expect(await outcome(settled)).toBe('ok');
  await world.clock.advance(60_000);
  expect(evictions(replica)).toHaveLength(MAX_SLOW_REQUESTS);
});

describe('the deadline of a drain', () => {
  const SECONDS = 1_000;
  const BLOCKED = ['PodDisruptionBudget shop/web (pod shop/web-1)'];

  /** A drain that a budget blocks, of a replica that is killed after `ms` milliseconds. */
  async function blockedFor(ms: number): Promise<void> {
    await world.addPod('web-1', { labels: { app: 'web' } });
    await addBudget(world, 'web');
    const first = world.replica({ timeoutSec: 60 });
    void started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(ms);
    first.tap.kill();
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual(BLOCKED);
  }

  test('is answered with what the status says where nobody waited for it', async () => {
    await blockedFor(5 * SECONDS);
    await world.clock.advance(60 * SECONDS);
    const late = started(world.replica({ timeoutSec: 60 }).service.cordonAndDrain(await world.agent()));
    expect(await outcome(late)).toBe('504 DrainTimeout');
    await expect(late).rejects.toThrow(`blocked by ${BLOCKED[0]}; left: shop/web-1 (not evicted yet)`);
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual(BLOCKED);
  });

  test('is answered with what it knows itself by a replica that has only just come to the drain', async () => {
    await blockedFor(59 * SECONDS);
    const second = world.replica({ timeoutSec: 60 });
    const eviction = hold(second.tap, ({ path }) => path.endsWith('/eviction'));
    const late = started(second.service.cordonAndDrain(await world.agent()));
    await eviction.reached();
    await world.clock.advance(1 * SECONDS);
    await expect(late).rejects.toThrow('60 s; left: shop/web-1 (not evicted yet)');
    await eviction.release();
  });

  test('is one for every replica, counted from its beginning', async () => {
    await world.addPod('web-1');
    const first = world.replica({ timeoutSec: 60 });
    const begun = started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(40_000);
    first.service.close();
    expect(await outcome(begun)).toBe('503 ShuttingDown');
    const second = world.replica({ timeoutSec: 60 });
    const resumed = started(second.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(19_000);
    expect(await outcome(resumed)).toBe('pending');
    await world.clock.advance(1_000);
    expect(await outcome(resumed)).toBe('504 DrainTimeout');
    await world.endPod('web-1');
    await second.service.cordonAndDrain(await world.agent());
  });

  test('is answered by one more look, not by what the watch has shown', async () => {
    await world.addPod('web-1');
    const { service, tap } = world.replica({ timeoutSec: 60 });
    const blind = new UnreachableError('no watch');
    tap.beforeWatch = ({ path }) => {
      if (path === '/api/v1/pods') throw blind;
    };
    const drain = started(service.cordonAndDrain(await world.agent()));
    await world.clock.advance(59_900);
    await world.endPod('web-1');
    await world.clock.advance(100);
    expect(await outcome(drain)).toBe('ok');
  });

  test('is not the answer to a waiter whose drain is another’s by then', async () => {
    await world.addPod('web-1');
    const [first, second] = [world.replica({ timeoutSec: 60 }), world.replica({ timeoutSec: 60 })];
    const old = started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(59_000);
    const look = hold(first.tap, ({ method, path }) => method === 'GET' && path === '/api/v1/nodes/n1');
    await world.clock.advance(1_000);
    await look.reached();
    void started(second.service.cordonAndDrain(await world.agent('n1', 'boot-2')));
    await settle();
    await look.release();
    expect(await outcome(old)).toBe('503 Superseded');
  });
});

const DAY = 24 * 3_600_000;

describe.each([-30 * DAY, -1_801_000, 1_801_000, 30 * DAY])('a replica whose clock is %d ms ahead', (aheadMs) => {
  test('begins a drain that the others end at its deadline, and no sooner', async () => {
    await world.addPod('web-1');
    const agent = await world.agent();
    const first = new AbortController();
    void started(world.replica({ aheadMs }).service.cordonAndDrain(agent, first.signal));
    await settle();
    first.abort(new Error('gone'));
    const drain = started(world.replica().service.cordonAndDrain(agent));
    await world.clock.advance(1_798_000);
    expect(await outcome(drain)).toBe('pending');
    await world.clock.advance(4_000);
    expect(await outcome(drain)).toBe('504 DrainTimeout');
  });

  test('joins a drain of another, and ends it at its deadline and no sooner', async () => {
    await world.addPod('web-1');
    const agent = await world.agent();
    void started(world.replica().service.cordonAndDrain(agent));
    await world.clock.advance(1_000);
    const drain = started(world.replica({ aheadMs }).service.cordonAndDrain(agent));
    await world.clock.advance(1_797_000);
    expect(await outcome(drain)).toBe('pending');
    await world.clock.advance(4_000);
    expect(await outcome(drain)).toBe('504 DrainTimeout');
  });
});

test.each(['yesterday', '2026-13-45T00:00:00Z', ''])(
  'a drain that began at %j, by its marks, begins now',
  async (since) => {
    await world.addPod('web-1');
    const marks = { id: 'x', since, boot: 'boot-1', owns: ['cordon'] };
    await world.patch('/api/v1/nodes/n1', {
      metadata: { annotations: { [MARKS_ANNOTATION]: JSON.stringify(marks) } },
      spec: { unschedulable: true },
    });
    const drain = started(world.replica({ timeoutSec: 60 }).service.cordonAndDrain(await world.agent()));
    await world.clock.advance(59_000);
    expect(await outcome(drain)).toBe('pending');
    await world.clock.advance(1_000);
    expect(await outcome(drain)).toBe('504 DrainTimeout');
  },
);
