import { describe, expect, test } from '@jest/globals';
import { Releases, type Waiting } from '../../../sim/hosts/releases.ts';
import { rig } from './rig.ts';

const waiting: Waiting = { seed: 0, ignoreWaves: false, now: Date.parse('2026-09-10T00:00:00Z') };
const chosen = (releases: Releases, running = '1.38.0', versionLock = 'latest') =>
  releases.choose({ running, versionLock }, releases.available(waiting));

describe('what a host is offered', () => {
  test('is the newest version, and nothing where it runs that', () => {
    const releases = new Releases(['1.9.0', '1.38.0', '1.39.0', '1.40.1']);
    expect(chosen(releases)).toBe('1.40.1');
    expect(chosen(releases, '1.40.1')).toBeUndefined();
  });

  test('is never older than what it runs, unless it is locked to that', () => {
    const releases = new Releases(['1.37.0', '1.38.0']);
    expect(chosen(releases, '1.41.0')).toBeUndefined();
    expect(chosen(releases, '1.38.0', '1.37.0')).toBe('1.37.0');
  });

  test.each(['1.38.1', 'v1.38.1'])('is what it is locked to by %s, and nothing where it runs that', (lock) => {
    const releases = new Releases(['1.38.0', '1.38.1', '1.39.0']);
    expect([chosen(releases, '1.38.0', lock), chosen(releases, '1.38.1', lock)]).toEqual(['1.38.1', undefined]);
  });

  test('is nothing where it is locked to a version that is not there', () => {
    expect(chosen(new Releases(['1.39.0']), '1.38.0', '1.50.0')).toBeUndefined();
  });

  test('is an older version where it runs one above the greatest that may run', () => {
    const releases = new Releases([]);
    for (const version of ['1.38.0', '1.39.0', '1.40.0']) releases.publish({ version, maxVersion: '1.39.0' });
    expect(releases.available(waiting)).toEqual(['1.39.0', '1.38.0']);
    expect([chosen(releases), chosen(releases, '1.39.0'), chosen(releases, '1.40.0')]).toEqual([
      '1.39.0',
      undefined,
      '1.39.0',
    ]);
  });
});

const waves = (times: Readonly<Record<number, string>>): Readonly<Record<number, number>> =>
  Object.fromEntries(Object.entries(times).map(([seed, time]) => [seed, Date.parse(time)]));
const WAVES: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  '1.45.0': waves({
    0: '2026-08-25T18:00Z',
    20: '2026-08-25T21:00Z',
    102: '2026-08-26T17:00Z',
    307: '2026-08-27T17:00Z',
    819: '2026-08-29T17:00Z',
    1228: '2026-08-30T17:00Z',
    1843: '2026-08-31T17:00Z',
  }),
  '1.45.1': waves({ 0: '2026-09-01T00:00Z' }),
  '1.45.2': {},
  '1.45.3': waves({ 512: '2026-09-01T00:00Z', 1024: '2026-09-02T00:00Z' }),
};

describe('a release comes to a host in waves, by its seed', () => {
  const released = (version: string): Releases => {
    const releases = new Releases([]);
    releases.publish({ version, waves: WAVES[version] ?? {} });
    return releases;
  };
  const isThere = (version: string, seed: number, now: number): boolean =>
    released(version).available({ ...waiting, seed, now }).length > 0;

  // To the second in which the crate of the hosts themselves lets it come.
  test.each([
    ['1.45.0', 1, '2026-08-25T18:09:00Z'],
    ['1.45.0', 19, '2026-08-25T20:51:00Z'],
    ['1.45.0', 20, '2026-08-25T21:00:00Z'],
    ['1.45.0', 21, '2026-08-26T02:07:20Z'],
    ['1.45.0', 60, '2026-08-26T11:38:03Z'],
    ['1.45.0', 102, '2026-08-26T17:00:00Z'],
    ['1.45.0', 103, '2026-08-27T05:03:31Z'],
    ['1.45.0', 512, '2026-08-29T17:00:00Z'],
    ['1.45.0', 820, '2026-08-30T17:00:00Z'],
    ['1.45.0', 1844, '2026-08-31T17:00:00Z'],
    ['1.45.1', 1, '2026-09-01T00:00:00Z'],
    ['1.45.1', 2047, '2026-09-01T00:00:00Z'],
    ['1.45.3', 820, '2026-09-02T00:00:00Z'],
    ['1.45.3', 1844, '2026-09-02T00:00:00Z'],
  ])('%s to the host of seed %d at %s', (version, seed, time) => {
    const now = Date.parse(time);
    expect([isThere(version, seed, now - 1000), isThere(version, seed, now)]).toEqual([false, true]);
  });

  test.each([
    ['1.45.0', 0],
    ['1.45.1', 0],
    ['1.45.2', 2047],
    ['1.45.3', 0],
    ['1.45.3', 512],
  ])('%s to the host of seed %d at once', (version, seed) => {
    expect(isThere(version, seed, 0)).toBe(true);
  });

  test('but at once to one that ignores them', () => {
    expect(released('1.45.0').available({ seed: 2047, ignoreWaves: true, now: 0 })).toEqual(['1.45.0']);
  });

  test('and is not chosen before, not even by a lock', async () => {
    const releases = new Releases(['1.38.0']);
    releases.publish({ version: '1.39.0', waves: { 0: Date.parse('2026-02-01T00:00Z') } });
    const { driver, finish } = rig({ releases, settings: { seed: 7, 'version-lock': 'v1.39.0' } });
    expect(await finish(driver.refresh())).toMatchObject({ state: 'Idle', chosen: undefined });
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

  test('keep a lock as it is written', async () => {
    const { call, host: simulated } = rig();
    await call('PATCH /settings?tx=t', '{"updates":{"version-lock":"v1.39.0"}}');
    await call('POST /tx/commit_and_apply?tx=t');
    expect(simulated.settings.updates['version-lock']).toBe('v1.39.0');
  });

  test.each([
    'nonsense',
    '{"updates":{"version-lock":7}}',
    '{"updates":{"version-lock":"1.39"}}',
    '{"updates":{"unknown":"x"}}',
    '[]',
  ])('refuse %s', async (body) => {
    expect(await rig().call('PATCH /settings?tx=t', body)).toMatch(/^400 /);
  });
});
