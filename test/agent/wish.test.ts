import { describe, expect, test } from '@jest/globals';
import type { VersionWish, WishState } from '../../runtime/api/shadow/model.ts';
import type { FaultName } from '../../lab/sim/hosts/faults.ts';
import { reports, wish } from './hand.ts';
import { build, offered, world } from './stage.ts';

const MINUTE_MS = 60_000;

const told = (): WishState | null | undefined => world.operator.status.version_wish;
const locked = (): unknown[] => {
  const { 'version-lock': lock, 'ignore-waves': ignores } = world.host.settings.updates;
  return [lock, ignores];
};
/** As the tools for updates have it. */
const counts = (): unknown => world.host.settings.rendered['version-lock'];

/** By hand, as the host's owner does it. */
async function set(updates: object): Promise<void> {
  await world.host.handle({ method: 'PATCH', path: '/settings?tx=default', body: JSON.stringify({ updates }) });
  await world.host.handle({ method: 'POST', path: '/tx/commit_and_apply?tx=default' });
  await world.advance(1000);
}

/** At rest, with 1.39.0 on offer, and wishes. */
async function wished(wanted: VersionWish, options?: Parameters<typeof offered>[0]): Promise<void> {
  await offered(options);
  wish(world, wanted);
  await world.advance(10_000);
}

const LOCK: VersionWish = { version_lock: '1.37.0' };
const OURS = { ours: { version_lock: '1.37.0' }, before: { version_lock: 'latest' } };

const FAILED = { refused: 'HostFailed', detail: 'version-lock is latest, and the host goes on choosing 1.37.0' };

describe('a version that is wished', () => {
  test('is set within seconds, counts, is what the host offers, and costs no write more', async () => {
    await wished(LOCK);
    expect([locked(), counts(), told()]).toEqual([['1.37.0', false], '1.37.0', OURS]);
    expect(world.operator.status.target_version).toBe('1.37.0');
    const written = world.operator.log.length;
    await world.advance(60 * MINUTE_MS);
    expect(world.operator.log).toHaveLength(written);
    expect(world.host.requests.get('POST /tx/commit')).toBe(1);
    expect(world.host.requests.get('POST /tx/apply')).toBe(1);
  });

  test('is on record before it is set', async () => {
    await offered();
    let before: unknown;
    const patched = world.host.settings.commit.bind(world.host.settings);
    world.host.settings.commit = (call) => {
      before ??= told();
      return patched(call);
    };
    wish(world, LOCK);
    await world.until(() => locked()[0] === '1.37.0');
    expect(before).toEqual(OURS);
  });

  test('gives way to another: what was there before both is given back in the end', async () => {
    await wished(LOCK);
    wish(world, { version_lock: '1.38.0', ignore_waves: true });
    await world.advance(10_000);
    const ours = { version_lock: '1.38.0', ignore_waves: true };
    expect(told()).toEqual({ ours, before: { version_lock: 'latest', ignore_waves: false } });
    expect([locked(), world.operator.status.target_version]).toEqual([['1.38.0', true], '1.38.0']);
    wish(world, null);
    await world.advance(10_000);
    expect([locked(), counts(), told() ?? null]).toEqual([['latest', false], 'latest', null]);
    expect(world.operator.status.target_version).toBe('1.39.0');
  });

  test('older than what runs is an update like another, and stays', async () => {
    await wished(LOCK);
    world.operator.holding = false;
    world.operator.want({ state: 'StagedAndPerformedUpdate', version: '1.37.0' });
    await world.until(() => world.idle && world.operator.status.current_version === '1.37.0');
    await world.advance(10 * MINUTE_MS);
    expect([world.host.version, told(), reports(world)]).toEqual(['1.37.0', OURS, []]);
    expect(world.operator.status.target_version).toBe('1.37.0');
  });

  test('is set again after each boot of a host that forgets, before it looks for updates', async () => {
    await wished(LOCK);
    world.host.inject('forgetful');
    world.host.crash();
    const offers = new Set<string>();
    await world.until(() => {
      offers.add(world.operator.status.target_version);
      return locked()[0] === '1.37.0' && world.host.boot !== undefined;
    }, 600_000);
    await world.advance(MINUTE_MS);
    expect([...offers, counts(), told()]).toEqual(['1.37.0', '1.37.0', OURS]);
  });

  test("that somebody has set already is nobody else's to give back", async () => {
    await offered();
    await set({ 'version-lock': 'v1.37.0' });
    wish(world, LOCK);
    await world.advance(10_000);
    expect(told()).toEqual({ ours: {}, before: {} });
    wish(world, null);
    await world.advance(10_000);
    expect([locked()[0], told() ?? null]).toEqual(['v1.37.0', null]);
  });

  test('is set by hands that leave the transactions of others alone', async () => {
    await offered();
    const body = JSON.stringify({ updates: { seed: 7 } });
    await world.host.handle({ method: 'PATCH', path: '/settings', body });
    await world.host.handle({ method: 'PATCH', path: '/settings?tx=brupop', body });
    wish(world, LOCK);
    await world.advance(10_000);
    expect(world.host.settings.updates.seed).not.toBe(7);
    expect(await world.host.handle({ method: 'GET', path: '/tx/list' })).toMatchObject({ body: '["default"]' });
  });

  test('stays on record after it was given back, until that counts', async () => {
    await wished(LOCK);
    world.host.inject('unrendered');
    wish(world, null);
    await world.advance(10 * MINUTE_MS);
    expect([locked()[0], counts(), told()]).toEqual(['latest', '1.37.0', { ...OURS, ...FAILED }]);
    world.restart();
    world.host.clear('unrendered');
    await world.advance(10 * MINUTE_MS);
    expect([counts(), told() ?? null]).toEqual(['latest', null]);
  });

  test('is on record again before it is set again, where the shadow is made anew', async () => {
    await wished(LOCK);
    let record: unknown = 'never set again';
    const commit = world.host.settings.commit.bind(world.host.settings);
    world.host.settings.commit = (call) => {
      record = told();
      return commit(call);
    };
    await set({ 'version-lock': 'latest' });
    const { shadow } = world.operator;
    const { uid } = shadow.value?.metadata ?? {};
    world.operator.deleteShadow();
    await world.until(() => shadow.value !== undefined && shadow.value.metadata.uid !== uid);
    wish(world, LOCK);
    await world.until(() => locked()[0] === '1.37.0', 300_000);
    expect(record).toEqual(OURS);
  });

  test('is given back where the shadow is deleted and made anew without the wish', async () => {
    await wished(LOCK);
    world.operator.deleteShadow();
    await world.until(() => locked()[0] === 'latest', 300_000);
    await world.advance(MINUTE_MS);
    expect(told() ?? null).toBeNull();
  });
});

describe('a lock of somebody else', () => {
  const elsewhere = { ours: {}, before: {}, refused: 'LockedElsewhere', detail: expect.stringContaining('1.38.0') };

  test.each([
    ['before the wish', async () => {}],
    ['over ours', () => wished({ ...LOCK, ignore_waves: true })],
  ])('that was set %s is not touched, and waves are waited for', async (_, first) => {
    await offered();
    await first();
    await set({ 'version-lock': '1.38.0' });
    wish(world, { ...LOCK, ignore_waves: true });
    await world.advance(5 * MINUTE_MS);
    expect([locked(), told()]).toEqual([['1.38.0', false], elsewhere]);
    wish(world, null);
    await world.advance(5 * MINUTE_MS);
    expect([locked(), told() ?? null]).toEqual([['1.38.0', false], null]);
  });

  test('that names the version in other letters over ours is not given back', async () => {
    await wished(LOCK);
    await set({ 'version-lock': 'v1.37.0' });
    await world.advance(5 * MINUTE_MS);
    expect(told()).toEqual({ ours: {}, before: {} });
    wish(world, null);
    await world.advance(5 * MINUTE_MS);
    expect([locked()[0], told() ?? null]).toEqual(['v1.37.0', null]);
  });

  test('that is taken away makes room for the wish', async () => {
    await offered();
    await set({ 'version-lock': '1.38.0' });
    wish(world, LOCK);
    await world.advance(5 * MINUTE_MS);
    await set({ 'version-lock': 'latest' });
    await world.advance(5 * MINUTE_MS);
    expect([locked()[0], told()]).toEqual(['1.37.0', OURS]);
  });
});

describe('a wish that does not hold is told with its reason', () => {
  test('where the host may not have the version, until it may', async () => {
    await wished({ version_lock: '1.40.0' });
    expect(told()).toMatchObject({
      ours: { version_lock: '1.40.0' },
      refused: 'NotOffered',
      detail: 'the host may not have 1.40.0, but 1.39.0, 1.38.0, 1.37.0',
    });
    expect(world.operator.status.target_version).toBe('1.38.0');
    world.releases.publish({ version: '1.40.0' });
    await world.advance(5 * MINUTE_MS);
    expect(told()?.refused).toBeUndefined();
    expect(world.operator.status.target_version).toBe('1.40.0');
  });

  test.each<[FaultName, string]>([
    ['lockdown', 'Lockdown'],
    ['no-settings', 'NoSettings'],
    ['unrendered', 'HostFailed'],
  ])('%s: %s, and looks for updates go on', async (fault, refused) => {
    await offered();
    world.host.inject(fault);
    const looks = world.asked('refresh-updates');
    wish(world, LOCK);
    await world.advance(5 * MINUTE_MS);
    expect(told()?.refused).toBe(refused);
    expect(world.asked('refresh-updates')).toBeGreaterThan(looks + 1);
    world.host.clear(fault);
    await world.advance(5 * MINUTE_MS);
    expect([told(), counts()]).toEqual([OURS, '1.37.0']);
  });

  test.each(['updog', 'k3os'] as const)('%s: NoSettings', async (driver) => {
    build({ driver }).operator.holding = true;
    await world.until(() => world.idle);
    wish(world, LOCK);
    await world.advance(5 * MINUTE_MS);
    expect(told()).toMatchObject({ ours: {}, refused: 'NoSettings' });
    wish(world, null);
    await world.advance(5 * MINUTE_MS);
    expect(told() ?? null).toBeNull();
  });

  test('where no path of migrations leads there: at once, blaming nobody, until the wish changes', async () => {
    await wished(LOCK);
    world.host.inject('no-migrations');
    world.operator.holding = false;
    world.operator.want({ state: 'StagedAndPerformedUpdate', version: '1.37.0' });
    await world.until(() => reports(world).length > 0, 120_000);
    expect(world.operator.status).toMatchObject({ last_failure: { reason: 'Unsupported' } });
    expect(world.operator.status.failed_versions?.length ?? 0).toBe(0);
    await world.advance(10 * MINUTE_MS);
    expect(told()).toMatchObject({ ...OURS, refused: 'NoMigrations', detail: expect.stringContaining('1.37.0') });
    wish(world, { version_lock: '1.38.0' });
    await world.advance(10_000);
    expect(told()?.refused).toBeUndefined();
  });
});

test('nothing is set where the cluster keeps no record of it, and that is asked of it once an hour', async () => {
  await wished(LOCK, { drops: ['version_wish'] });
  await world.advance(30 * MINUTE_MS);
  expect([locked()[0], told() ?? null]).toEqual(['latest', null]);
  let writes = 0;
  world.operator.before = () => void writes++;
  await world.advance(300 * MINUTE_MS);
  expect(locked()[0]).toBe('latest');
  expect(writes).toBeLessThanOrEqual(2 * 6);
});
