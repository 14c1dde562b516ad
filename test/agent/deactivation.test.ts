import { describe, expect, test } from '@jest/globals';
import { reports, unplannedReboot } from './hand.ts';
import { build, world } from './stage.ts';

const MINUTE_MS = 60_000;

/** The next activation sets its flags, and nobody is told. */
function cutOff(): void {
  build().operator.before = (ask) => {
    if (ask !== 'cordonAndDrain') return;
    world.operator.before = () => undefined;
    world.host.inject('dispatcher-killed');
  };
}

describe('an activation that was cut off between its flags and its status', () => {
  test('is made good by another download, and the update is completed', async () => {
    cutOff();
    await world.until(() => world.updated);
    expect([reports(world), world.asked('prepare-update')]).toEqual([[], 2]);
  });

  test('is made good by a restarted agent too, which learns of it from the host', async () => {
    cutOff();
    await world.until(() => world.asked('activate-update') === 1);
    world.restart();
    await world.until(() => world.updated);
    expect([reports(world), world.asked('prepare-update')]).toEqual([[], 2]);
  });

  test('is undone before the node goes back into service, though the host says that nothing is activated', async () => {
    cutOff();
    await world.until(() => world.asked('activate-update') === 1);
    world.operator.obeying = false;
    await world.until(() => world.host.intervals.at(-1)?.action === 'activate');
    world.operator.want({ state: 'Idle', version: '1.39.0' });
    await world.until(() => world.idle);
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
  });

  test('is undone as soon as there is something to write over it', async () => {
    cutOff();
    await world.until(() => world.asked('activate-update') === 1);
    world.operator.obeying = false;
    await world.until(() => world.host.intervals.at(-1)?.action === 'activate');
    world.host.inject('offer-gone', { uses: 2 });
    world.operator.want({ state: 'Idle', version: '1.39.0' });
    await world.until(() => world.idle);
    await world.advance(10 * MINUTE_MS);
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
  });
});

test('a host that cannot be deactivated is asked until it is, and the failure says so', async () => {
  build({ hostTimes: { refreshMs: 11_000 } }).operator.answer = (ask) =>
    ask === 'cordonAndDrain' && world.asked('activate-update') > 0 ? { kind: 'deadline', message: '504' } : undefined;
  world.host.inject('deactivate');
  await world.until(() => world.restored);
  world.operator.holding = true;
  expect(world.operator.status.last_failure?.message).toMatch(
    /^1\.39\.0 may still be booted: deactivate failed .*; 504$/s,
  );
  await world.advance(30 * MINUTE_MS);
  world.host.clear('deactivate');
  await world.advance(3 * MINUTE_MS);
  await unplannedReboot(world);
  expect(world.host.version).toBe('1.38.0');
});
