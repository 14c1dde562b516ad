import { describe, expect, test } from '@jest/globals';
import { rig } from './rig.ts';

const UPDATE = ['refresh-updates', 'prepare-update', 'activate-update'] as const;

async function staged(upTo: number, world = rig()): Promise<ReturnType<typeof rig>> {
  for (const action of UPDATE.slice(0, upTo)) {
    await world.call(`POST /actions/${action}`);
    await world.clock.advance(30_000);
  }
  return world;
}

describe('a reboot of a simulated host', () => {
  test('into an activated image runs the new version under a new boot id and forgets the status', async () => {
    const { call, clock, host } = await staged(3);
    const before = host.boot?.id;
    expect(await call('POST /actions/reboot')).toBe('204');
    await clock.advance(45_000);
    expect(host.boot?.version).toBe('1.39.0');
    expect(host.boot?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(host.boot?.id).not.toBe(before);
    expect(await call('GET /updates/status')).toMatch(/^404 Update status is uninitialized/);
  });

  test.each([0, 1, 2])('before the activation (step %i) runs the old version', async (steps) => {
    const { clock, host } = await staged(steps);
    host.crash();
    await clock.advance(45_000);
    expect(host.boot?.version).toBe('1.38.0');
  });

  test('after a deactivation runs the old version', async () => {
    const { call, clock, host } = await staged(3);
    await call('POST /actions/deactivate-update');
    await clock.advance(3000);
    await call('POST /actions/reboot');
    await clock.advance(45_000);
    expect(host.boot?.version).toBe('1.38.0');
  });

  test('into an image that does not boot takes a second start, and comes back on the old version', async () => {
    const { call, clock, host } = await staged(3);
    host.inject('boot');
    await call('POST /actions/reboot');
    await clock.advance(84_999);
    expect(host.boot).toBeUndefined();
    await clock.advance(1);
    expect(host.boot?.version).toBe('1.38.0');
  });

  test('after a fallback the broken image is not tried again', async () => {
    const { clock, host } = await staged(3);
    host.inject('boot', { uses: 1 });
    host.crash();
    await clock.advance(80_000);
    host.crash();
    await clock.advance(40_000);
    expect(host.boot?.version).toBe('1.38.0');
  });

  test('goes back to the system before, where somebody has the host do so, and where the new one was never marked', async () => {
    for (const how of ['rollBack', 'unmarked'] as const) {
      const { call, clock, host } = await staged(3);
      expect(host.rollBack()).toBe('Inactive partition cannot be rolled back to');
      if (how === 'unmarked') host.inject(how);
      await call('POST /actions/reboot');
      await clock.advance(60_000);
      expect(host.version).toBe('1.39.0');
      if (how === 'rollBack') expect(host.rollBack()).toBeUndefined();
      host.crash();
      await clock.advance(60_000);
      expect(host.version).toBe('1.38.0');
      host.crash();
      await clock.advance(60_000);
      expect(host.version).toBe('1.38.0');
    }
  });

  test('into an image that boots nowhere falls back, on a machine without any fault', async () => {
    const { call, clock, host } = await staged(3, rig({ boots: (version) => version !== '1.39.0' }));
    await call('POST /actions/reboot');
    await clock.advance(85_000);
    expect(host.boot?.version).toBe('1.38.0');
  });

  test('never ends on a machine that was switched off in the middle of it, and does once that is switched on', async () => {
    const { call, clock, host } = await staged(3);
    await call('POST /actions/reboot');
    await clock.advance(20_000);
    host.powerOff();
    await clock.advance(3_600_000);
    expect(host.boot).toBeUndefined();
    host.powerOn();
    host.powerOn();
    await clock.advance(40_000);
    expect(host.boot?.version).toBe('1.39.0');
  });

  test('kills the action that runs', async () => {
    const { call, clock, host } = await staged(1);
    await call('POST /actions/prepare-update');
    await clock.advance(20_000);
    host.crash();
    await clock.advance(60_000);
    await call('POST /actions/refresh-updates');
    await clock.advance(3000);
    expect(await call('GET /updates/status')).toMatch(/"update_state":"Available".*"staging_partition":null/);
  });

  test('is told to observers in the order in which it happens', async () => {
    const { call, clock, host } = await staged(3);
    const seen: string[] = [];
    host.observe({
      onDown: () => seen.push('down'),
      onUp: ({ version }) => seen.push(`up ${version}`),
      onSocket: (listening) => seen.push(listening ? 'socket' : 'no socket'),
    });
    await call('POST /actions/reboot');
    await clock.advance(4999);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(['no socket', 'down']);
    await clock.advance(40_000);
    expect(seen).toEqual(['no socket', 'down', 'socket', 'up 1.39.0']);
  });

  test('counts from the request to the new boot among the intervals of the host', async () => {
    const { call, clock, host } = await staged(3);
    const start = clock.now();
    await call('POST /actions/reboot');
    await clock.advance(60_000);
    expect(host.intervals.map(({ action, startMs, endMs }) => [action, endMs - startMs])).toEqual([
      ['refresh', 3000],
      ['prepare', 30_000],
      ['activate', 3000],
      ['reboot', 45_000],
    ]);
    expect(host.intervals.at(-1)?.startMs).toBe(start);
  });

  test('does not happen any more after the end of the host', async () => {
    const world = rig();
    const life = new AbortController();
    world.host.start(life.signal);
    await world.call('POST /actions/reboot');
    life.abort();
    await world.clock.advance(60_000);
    expect(world.host.intervals).toEqual([]);
    expect(await world.call('GET /os')).toBe('dropped');
  });
});
