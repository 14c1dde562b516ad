import { beforeEach, describe, expect, test } from '@jest/globals';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { settle } from '../../../lab/sim/clock.ts';
import { evictions, outcome, started, World } from '../world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const GRACE = 30 * SECOND;

let world: World;

beforeEach(async () => {
  world = await World.create();
  await setReady(true);
});

/** What the node's kubelet, or the lack of one, makes of its condition. */
function setReady(isReady: boolean): Promise<unknown> {
  const lastTransitionTime = rfc3339(world.clock.now());
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'Unknown', lastTransitionTime }];
  return world.patch('/api/v1/nodes/n1/status', { status: { conditions } });
}

/** A pod that nothing but a reboot ends: somebody has deleted it. */
async function addStuck(): Promise<void> {
  await world.addPod('stuck', { graceSeconds: GRACE / SECOND });
  await world.delete('/api/v1/namespaces/shop/pods/stuck');
}

const told = async (): Promise<readonly string[]> =>
  (await world.told()).flatMap(({ reason, message }) => (reason === 'PodsStuckTerminating' ? [message] : []));

describe('a pod that has not ended five minutes after it was due', () => {
  test('is named when the drain begins, and not waited for', async () => {
    await addStuck();
    await world.addPod('web-1');
    await world.clock.advance(GRACE + 5 * MINUTE);
    const replica = world.replica({ preflight: 'refuse' });
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    await settle();
    expect(await told()).toEqual([expect.stringMatching(/: shop\/stuck \(due at 2026-01-01T00:00:30Z\)$/)]);
    expect((await world.shadow()).status?.drain?.pods_left).toBe(1);
    await world.endPod('web-1');
    expect(await outcome(drain)).toBe('ok');
    expect(evictions(replica)).toEqual(['web-1']);
  });

  test('ends a drain that waited for it just then, by any replica, and is named', async () => {
    await addStuck();
    const first = world.replica();
    void started(first.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(2 * MINUTE);
    first.tap.kill();
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await world.clock.advance(GRACE + 3 * MINUTE - 1);
    expect([await outcome(drain), await told()]).toEqual(['pending', []]);
    await world.clock.advance(1);
    expect([await outcome(drain), await told()]).toEqual(['ok', [expect.stringContaining('shop/stuck')]]);
  });

  test('keeps no volumes for which its drain would wait', async () => {
    const volume = await world.addClaim('data', 'vol-1');
    await world.addPod('stuck', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] });
    await world.delete('/api/v1/namespaces/shop/pods/stuck');
    await world.useVolumes([volume]);
    await world.clock.advance(GRACE + 5 * MINUTE);
    expect(await outcome(started(world.replica().service.cordonAndDrain(await world.agent())))).toBe('ok');
  });

  test.each([
    ['the node is not Ready', () => setReady(false)],
    [
      'the node was not Ready when it was due: its kubelet may have told it only now',
      async () => {
        await setReady(false);
        await world.clock.advance(2 * MINUTE);
        await setReady(true);
      },
    ],
    ['nobody knows since when the node is Ready', () => world.patch('/api/v1/nodes/n1/status', NOT_SAID)],
  ])('is waited for where %s', async (_, happens) => {
    await addStuck();
    await happens();
    await world.clock.advance(10 * MINUTE);
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await world.clock.advance(10 * MINUTE);
    expect([await outcome(drain), await told()]).toEqual(['pending', []]);
    await world.endPod('stuck');
    expect(await outcome(drain)).toBe('ok');
  });

  test('is still waited for where only the replica’s clock is ahead of the API server’s', async () => {
    await addStuck();
    await world.clock.advance(GRACE);
    const replica = world.replica({ aheadMs: 10 * MINUTE });
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(4 * MINUTE);
    expect([await outcome(drain), await told()]).toEqual(['pending', []]);
  });

  test('is waited for where the node goes away while its drain waits', async () => {
    await addStuck();
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await world.clock.advance(MINUTE);
    await setReady(false);
    await world.clock.advance(10 * MINUTE);
    expect(await outcome(drain)).toBe('pending');
  });

  test('is waited for where the time for it is set to none', async () => {
    await addStuck();
    const drain = started(world.replica({ skipWaitSec: 0, timeoutSec: 0 }).service.cordonAndDrain(await world.agent()));
    await world.clock.advance(60 * MINUTE);
    expect(await outcome(drain)).toBe('pending');
  });
});

const NOT_SAID = { status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: null }] } };
