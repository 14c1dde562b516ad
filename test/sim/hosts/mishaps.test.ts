import { describe, expect, test } from '@jest/globals';
import { rig } from './rig.ts';

const REFRESH = 'POST /actions/refresh-updates';
const PREPARE = 'POST /actions/prepare-update';
const ACTIVATE = 'POST /actions/activate-update';
const DEACTIVATE = 'POST /actions/deactivate-update';

/** With `act`: does one after the other, each to its end. */
function world() {
  const plain = rig();
  const act = async (...actions: readonly string[]): Promise<void> => {
    for (const action of actions) {
      expect(await plain.call(action)).toBe('204');
      await plain.clock.advance(30_000);
    }
  };
  return { ...plain, act };
}

describe('what befalls an action of a host', () => {
  test.each([
    ['repository-gone', 1000],
    ['repository-expired', 250],
    ['repository-dropped', 50_000],
    ['repository-silent', 150_000],
  ] as const)('%s: each action fails after %d ms and touches nothing', async (fault, ms) => {
    const { act, call, clock, host, status } = world();
    const before = [
      [REFRESH, []],
      [PREPARE, [REFRESH]],
      [ACTIVATE, [PREPARE]],
      [DEACTIVATE, [ACTIVATE]],
    ] as const;
    for (const [action, earlier] of before) {
      await act(...earlier);
      host.inject(fault);
      expect(await call(action)).toBe('204');
      await clock.advance(ms - 1);
      expect(await call('GET /updates/status')).toMatch(/^423/);
      await clock.advance(1);
      expect((await status()).most_recent_command).toMatchObject({
        cmd_status: 'Failed',
        exit_status: 1,
        stderr: expect.stringMatching(/^Metadata error: /),
      });
      host.clear(fault);
    }
    expect((await status()).update_state).toBe('Ready');
    host.crash();
    await clock.advance(60_000);
    expect(host.version).toBe('1.39.0');
  });

  test('a dispatcher that is killed leaves no result and a free lock, and updog does its work without it', async () => {
    const { act, call, clock, host, status } = world();
    await act(REFRESH, PREPARE);
    const { most_recent_command: before } = await status();
    host.inject('dispatcher-killed');
    await call(ACTIVATE);
    await clock.advance(1500);
    expect(await status()).toMatchObject({ update_state: 'Staged', most_recent_command: before });
    await clock.advance(1500);
    expect(await call(DEACTIVATE)).toBe('409 Update action not allowed according to update state');
    await call(ACTIVATE);
    await clock.advance(3000);
    expect((await status()).most_recent_command?.stderr).toContain('already marked for upgrade');
    await call(PREPARE);
    await clock.advance(30_000);
    host.crash();
    await clock.advance(60_000);
    expect(host.version).toBe('1.38.0');
  });

  test('a deactivation whose dispatcher is killed leaves Ready, and the host boots what it runs', async () => {
    const { act, call, clock, host, status } = world();
    await act(REFRESH, PREPARE, ACTIVATE);
    host.inject('dispatcher-killed');
    await call(DEACTIVATE);
    await clock.advance(3000);
    expect((await status()).update_state).toBe('Ready');
    host.crash();
    await clock.advance(60_000);
    expect(host.version).toBe('1.38.0');
  });

  test('an updog that is killed has failed, with its slot half written', async () => {
    const { act, call, clock, host, status } = world();
    await act(REFRESH, PREPARE);
    host.inject('updog-killed');
    await call(PREPARE);
    await clock.advance(15_000);
    expect((await status()).most_recent_command).toMatchObject({ cmd_status: 'Failed', exit_status: 9 });
    await call(ACTIVATE);
    await clock.advance(3000);
    expect((await status()).most_recent_command).toMatchObject({ cmd_type: 'activate', cmd_status: 'Failed' });
  });

  test('a restart of the API server ends what it has started, and leaves the status as it was and a half-written slot', async () => {
    const { act, call, clock, host, status } = world();
    await act(REFRESH, PREPARE);
    const { most_recent_command: before } = await status();
    await call(PREPARE);
    await clock.advance(20_000);
    host.restartApi(5000);
    await clock.advance(5000);
    expect((await status()).most_recent_command).toEqual(before);
    await clock.advance(30_000);
    await call(ACTIVATE);
    await clock.advance(3000);
    expect((await status()).most_recent_command).toMatchObject({ cmd_type: 'activate', cmd_status: 'Failed' });
  });

  test('a torn file of the status is 500 to whoever reads it, until the host boots', async () => {
    const { act, call, clock, host } = world();
    await act(REFRESH);
    host.inject('torn-status');
    await act(PREPARE);
    const torn = '500 Update dispatcher failed';
    expect([await call('GET /updates/status'), await call(REFRESH), await call(ACTIVATE)]).toEqual([torn, torn, torn]);
    expect(await call('GET /os')).toMatch(/^200/);
    host.crash();
    await clock.advance(60_000);
    expect(await call('GET /updates/status')).toMatch(/^404/);
    await act(REFRESH);
  });

  test('a seed that no host makes for itself makes updog panic', async () => {
    const { call, clock, status } = rig({ settings: { seed: 2049 } });
    await call(REFRESH);
    await clock.advance(3000);
    expect(await status()).toMatchObject({ update_state: 'Idle', most_recent_command: { cmd_status: 'Failed' } });
  });

  test('without updog an action is accepted and has no result; without its configuration a look succeeds with the old choice', async () => {
    const { call, clock, host, releases, status } = world();
    host.inject('updog-missing');
    expect(await call(REFRESH)).toBe('204');
    await clock.advance(3_600_000);
    expect((await status()).most_recent_command).toBeNull();
    host.clear('updog-missing');
    await call(REFRESH);
    await clock.advance(3000);
    releases.publish({ version: '1.40.0' });
    host.inject('stale-choice');
    await call(REFRESH);
    await clock.advance(3000);
    expect(await status()).toMatchObject({
      update_state: 'Available',
      chosen_update: { version: '1.39.0' },
      most_recent_command: { cmd_status: 'Success', exit_status: 0 },
    });
  });
});
