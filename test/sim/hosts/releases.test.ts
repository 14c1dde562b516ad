import { describe, expect, test } from '@jest/globals';
import { DEFAULT_WAVES, Releases } from '../../../sim/hosts/releases.ts';
import { rig } from './rig.ts';

const HOUR = 3600_000;
const host = { running: '1.38.0', seed: 0, ignoreWaves: false, versionLock: 'latest', now: 0 };

describe('what a host is offered', () => {
  test('is the newest version, and nothing where it runs that', () => {
    const releases = new Releases(['1.9.0', '1.38.0', '1.39.0', '1.40.1']);
    expect(releases.choose(host)).toBe('1.40.1');
    expect(releases.choose({ ...host, running: '1.40.1' })).toBeUndefined();
  });

  test('is never older than what it runs, unless it is locked to that', () => {
    const releases = new Releases(['1.37.0', '1.38.0']);
    expect(releases.choose({ ...host, running: '1.41.0' })).toBeUndefined();
    expect(releases.choose({ ...host, versionLock: '1.37.0' })).toBe('1.37.0');
  });

  test('is nothing where it is locked to a version that is not there', () => {
    expect(new Releases(['1.39.0']).choose({ ...host, versionLock: '1.50.0' })).toBeUndefined();
  });

  test('is at most the greatest version of the repository', () => {
    const releases = new Releases(['1.39.0', '1.40.0']);
    releases.maxVersion = '1.39.0';
    expect(releases.choose(host)).toBe('1.39.0');
  });

  test('comes in waves, by the seed of the host', () => {
    const releases = new Releases(['1.38.0']);
    releases.publish({ version: '1.39.0', startMs: 0, waves: DEFAULT_WAVES });
    const at = (seed: number, hours: number) => releases.choose({ ...host, seed, now: hours * HOUR });
    expect([at(0, 0.9), at(0, 1), at(1000, 47), at(1000, 96), at(2047, 143), at(2047, 144)]).toEqual([
      undefined,
      '1.39.0',
      undefined,
      '1.39.0',
      undefined,
      '1.39.0',
    ]);
    expect(releases.choose({ ...host, seed: 2047, ignoreWaves: true, now: 1 })).toBe('1.39.0');
  });
});

describe('the settings of a host', () => {
  test('show the part that concerns updates', async () => {
    const { call } = rig({ settings: { seed: 1625 } });
    expect(JSON.parse((await call('GET /settings?prefix=updates')).slice(4))).toMatchObject({
      updates: { 'ignore-waves': false, seed: 1625, 'version-lock': 'latest' },
    });
  });

  test('change when a transaction is committed, and outlive a reboot', async () => {
    const { call, clock, host: simulated, driver, finish } = rig();
    expect(await call('PATCH /settings?tx=t', '{"updates":{"version-lock":"1.37.0"}}')).toBe('204');
    expect(simulated.settings.updates['version-lock']).toBe('latest');
    expect(await call('POST /tx/commit_and_apply?tx=t')).toBe('200 ["settings.updates.version-lock"]');
    expect(await call('POST /tx/commit_and_apply?tx=t')).toBe('422 Tried to commit with no pending changes');
    simulated.crash();
    await clock.advance(60_000);
    expect((await finish(driver.refresh())).chosen?.version).toBe('1.37.0');
  });

  test.each(['nonsense', '{"updates":{"version-lock":7}}', '{"updates":{"unknown":"x"}}', '[]'])(
    'refuse %s',
    async (body) => {
      expect(await rig().call('PATCH /settings?tx=t', body)).toMatch(/^400 /);
    },
  );
});
