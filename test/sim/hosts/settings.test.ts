import { describe, expect, test } from '@jest/globals';
import { Releases } from '../../../lab/sim/hosts/releases.ts';
import { rig } from './rig.ts';

type Rig = ReturnType<typeof rig>;

/** What a host of Bottlerocket's API answers of its settings, and what comes of them for its choice of updates. */

const TX = 'tx=ours';
const LOCK = 'settings.updates.version-lock';
const patch = (updates: object): [string, string] => [`PATCH /settings?${TX}`, JSON.stringify({ updates })];

async function set({ call }: Rig, updates: object): Promise<void> {
  expect(await call(...patch(updates))).toBe('204');
  expect(await call(`POST /tx/commit?${TX}`)).toMatch(/^200 /);
}

const apply = ({ call }: Rig): Promise<string> => call(`POST /tx/apply?keys=${LOCK}`);

/** Locked, and by now the tools for updates know. */
async function lock(world: Rig, updates: object): Promise<void> {
  await set(world, updates);
  await apply(world);
  await world.clock.advance(1000);
}

const chosen = async ({ driver, finish }: Rig): Promise<string | undefined> =>
  (await finish(driver.refresh())).chosen?.version;

describe('settings are answered', () => {
  test.each([
    ['keys=settings.updates.seed,settings.updates.ignore-waves', '200 {"updates":{"ignore-waves":false,"seed":7}}'],
    ['keys=updates.seed,settings.updates.none', '200 {}'],
    ['keys=', "400 Input 'keys' cannot be empty"],
    ['prefix=', "400 Input 'prefix' cannot be empty"],
    ['prefix=none', '200 {}'],
  ])('to %s', async (query, answer) => {
    expect(await rig({ settings: { seed: 7 } }).call(`GET /settings?${query}`)).toBe(answer);
  });

  test('whole to a prefix', async () => {
    expect(await rig({ settings: { seed: 7 } }).call('GET /settings?prefix=updates')).toMatch(/^200 .*"seed":7/);
  });
});

describe('a transaction', () => {
  test.each([
    ['{"updates":{"version-lock":"1.63"}}', 400],
    ['{"updates":{"version-lock":"vv1.0.0"}}', 400],
    ['{"updates":{"version-lock":""}}', 400],
    ['{"updates":{"version-lock":7}}', 400],
    ['{"updates":{"none":true}}', 400],
    ['no JSON', 400],
    ['{"updates":{"version-lock":"v1.63.0"}}', 204],
    ['{"updates":{"version-lock":"1.63.0-rc.1+build"}}', 204],
    ['{"updates":{"version-lock":"latest","ignore-waves":true}}', 204],
  ])('takes %s with %d', async (body, status) => {
    expect(await rig().call(`PATCH /settings?${TX}`, body)).toMatch(new RegExp(`^${status}`));
  });

  test.each(['{}', '{"updates":null}', '{"updates":{"version-lock":null}}'])(
    'takes %s, and then has nothing to commit: no setting can be removed',
    async (body) => {
      const { call } = rig();
      expect(await call(`PATCH /settings?${TX}`, body)).toBe('204');
      expect(await call(`POST /tx/commit?${TX}`)).toBe('422 Tried to commit with no pending changes');
    },
  );

  test('is kept under its name, merges what it is given, and is over once committed or dropped', async () => {
    const { call, host } = rig();
    await call(...patch({ 'version-lock': 'v1.39.0' }));
    await call(...patch({ 'ignore-waves': true }));
    expect(await call('GET /tx/list')).toBe('200 ["ours"]');
    expect(await call('GET /tx')).toBe('200 {}');
    expect(await call(`GET /tx?${TX}`)).toBe('200 {"updates":{"version-lock":"v1.39.0","ignore-waves":true}}');
    expect(await call('POST /tx/commit?tx=other')).toMatch(/^422/);
    expect(await call(`POST /tx/commit?${TX}`)).toBe(`200 ["${LOCK}","settings.updates.ignore-waves"]`);
    expect(await call(`POST /tx/commit?${TX}`)).toMatch(/^422/);
    expect(host.settings.updates).toMatchObject({ 'version-lock': 'v1.39.0', 'ignore-waves': true });
    await call(...patch({ 'version-lock': 'latest' }));
    expect(await call(`DELETE /tx?${TX}`)).toBe(`200 ["${LOCK}"]`);
    expect(await call(`DELETE /tx?${TX}`)).toBe('200 []');
    expect(await call(`POST /tx/commit?${TX}`)).toMatch(/^422/);
  });

  test('that is pending is dropped at a boot, and what was committed stays', async () => {
    const world = rig();
    await set(world, { 'version-lock': '1.37.0' });
    await world.call(...patch({ 'version-lock': '1.39.0' }));
    world.host.crash();
    await world.clock.advance(60_000);
    expect(await world.call('GET /tx/list')).toBe('200 []');
    expect(world.host.settings.updates['version-lock']).toBe('1.37.0');
  });

  test('is committed although the program that applies it does not start: 500, and 422 to a second try', async () => {
    const { call, host } = rig();
    host.inject('applier-failed');
    await call(...patch({ 'version-lock': '1.37.0' }));
    expect(await call(`POST /tx/commit_and_apply?${TX}`)).toMatch(/^500 .*config applier/);
    expect(host.settings.updates['version-lock']).toBe('1.37.0');
    expect(await call(`POST /tx/commit_and_apply?${TX}`)).toMatch(/^422/);
  });

  test('that is committed unchanged is 200', async () => {
    const world = rig();
    await set(world, { 'version-lock': 'latest' });
  });
});

describe('the version-lock', () => {
  test('counts for the choice once it is applied, and at the next look', async () => {
    const world = rig();
    await chosen(world);
    await set(world, { 'version-lock': '1.37.0' });
    expect(await chosen(world)).toBe('1.39.0');
    expect(await apply(world)).toBe('204 null');
    await world.clock.advance(1000);
    expect((await world.status()).chosen_update?.version).toBe('1.39.0');
    expect(await chosen(world)).toBe('1.37.0');
  });

  test('that was never applied counts from the next boot', async () => {
    const world = rig();
    await set(world, { 'version-lock': '1.37.0' });
    world.host.crash();
    await world.clock.advance(60_000);
    expect(await chosen(world)).toBe('1.37.0');
  });

  test('of other keys is not rendered', async () => {
    const world = rig();
    await set(world, { 'version-lock': '1.37.0' });
    expect(await world.call('POST /tx/apply?keys=settings.motd')).toBe('204 null');
    await world.clock.advance(1000);
    expect(await chosen(world)).toBe('1.39.0');
  });

  test('on what runs is no update, on an older release a whole one, on what nobody has nothing', async () => {
    const world = rig();
    for (const [version, choice] of [
      ['1.38.0', undefined],
      ['v1.37.0', '1.37.0'],
      ['1.50.0', undefined],
      ['latest', '1.39.0'],
    ] as const) {
      await lock(world, { 'version-lock': version });
      expect(await chosen(world)).toBe(choice);
      expect((await world.status()).available_updates).toEqual(['1.39.0', '1.38.0', '1.37.0']);
    }
    await lock(world, { 'version-lock': '1.37.0' });
    await chosen(world);
    const { driver, finish, clock, host } = world;
    await finish(driver.prepare('1.37.0'));
    await finish(driver.activate('1.37.0'));
    await finish(driver.reboot());
    await clock.advance(60_000);
    expect([host.version, host.settings.updates['version-lock']]).toEqual(['1.37.0', '1.37.0']);
  });

  test('that changes before a download is what the download takes, and the status names the choice of before', async () => {
    const world = rig();
    await chosen(world);
    await lock(world, { 'version-lock': '1.37.0' });
    expect(await world.call('POST /actions/prepare-update')).toBe('204');
    await world.clock.advance(60_000);
    const { staging_partition, most_recent_command } = await world.status();
    expect(staging_partition?.image.version).toBe('1.39.0');
    expect(most_recent_command?.stderr).toBe('Starting update to 1.37.0\n');
  });

  test('passes no wave and no max_version: only ignore-waves does the first', async () => {
    const world = rig({ releases: new Releases(['1.38.0']), settings: { seed: 2000 } });
    world.releases.publish({ version: '1.39.0', waves: { 0: world.clock.now() + 3_600_000 } });
    world.releases.publish({ version: '1.40.0', maxVersion: '1.39.0' });
    await lock(world, { 'version-lock': '1.39.0' });
    expect(await chosen(world)).toBeUndefined();
    await lock(world, { 'ignore-waves': true });
    expect(await chosen(world)).toBe('1.39.0');
    await lock(world, { 'version-lock': '1.40.0' });
    expect(await chosen(world)).toBeUndefined();
  });
});

describe('a host', () => {
  test('that is locked down answers 500 of its settings until it boots, and looks for updates', async () => {
    const world = rig();
    world.host.inject('lockdown');
    expect(await world.call('GET /settings?prefix=updates')).toMatch(/^500 .*Live datastore missing/);
    expect(await world.call(...patch({ 'version-lock': '1.37.0' }))).toMatch(/^500 .*Required key not available/);
    expect(await chosen(world)).toBe('1.39.0');
    world.host.crash();
    await world.clock.advance(60_000);
    expect(await world.call('GET /settings?prefix=updates')).toMatch(/^200/);
  });

  test('without settings of updates tells none, and takes none', async () => {
    const { call, host } = rig();
    host.inject('no-settings');
    expect(await call('GET /settings?prefix=updates')).toBe('200 {}');
    expect(await call(...patch({ 'version-lock': '1.37.0' }))).toMatch(/^400/);
  });

  test('that forgets has the settings of its user data after each boot', async () => {
    const world = rig({ settings: { 'version-lock': '1.38.0' } });
    world.host.inject('forgetful');
    await lock(world, { 'version-lock': '1.37.0', 'ignore-waves': true });
    world.host.crash();
    await world.clock.advance(60_000);
    expect(world.host.settings.updates).toMatchObject({ 'version-lock': '1.38.0', 'ignore-waves': false });
    expect(world.host.settings.rendered['version-lock']).toBe('1.38.0');
  });
});
