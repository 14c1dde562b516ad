import { describe, expect, test } from '@jest/globals';
import type { FaultName, FaultTerms } from '../../lab/sim/hosts/faults.ts';
import { reports, staged } from './hand.ts';
import { build, offered, world } from './stage.ts';
import type { WorldOptions } from './world.ts';

const MINUTE_MS = 60_000;
const starts = (action: string): number[] =>
  world.host.intervals.filter((interval) => interval.action === action).map(({ startMs }) => startMs);

/** A world whose host gets the fault when it is about to be asked for `action`. */
function failing(action: 'prepare' | 'activate', fault: FaultName, terms: FaultTerms): void {
  const { operator, host } = build();
  operator.before = (ask) => {
    const isDue =
      action === 'activate' ? ask === 'cordonAndDrain' : ask === 'putStatus' && world.asked('refresh-updates') > 0;
    if (!isDue) return;
    operator.before = () => undefined;
    host.inject(fault, terms);
  };
}

describe('work that fails on the host is tried again until the deadline of its step', () => {
  test.each<[FaultName, 'prepare' | 'activate', number]>([
    ['prepare', 'prepare', 3],
    ['activate', 'activate', 2],
    ['dispatcher-killed', 'prepare', 3],
    ['updog-killed', 'activate', 2],
    ['offer-gone', 'prepare', 1],
  ])('%s in %s, %d times: the update is completed', async (fault, action, uses) => {
    failing(action, fault, { uses });
    await world.until(() => world.updated || world.restored);
    expect(reports(world)).toEqual([]);
    expect(world.operator.status.crash_count).toBe(0);
  });

  test('downloads that fail end after 20 minutes with one report, and come ever less often, up to a minute apart', async () => {
    build().host.inject('prepare');
    await world.until(() => world.restored);
    expect(reports(world)).toHaveLength(1);
    const times = starts('prepare');
    const gaps = times.slice(1).map((start, index) => start - times[index]! - 30_000);
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(17 * MINUTE_MS);
    expect(times.at(-1)! - times[0]!).toBeLessThan(20 * MINUTE_MS);
    expect(gaps[0]).toBeLessThan(10_000);
    expect(Math.min(...gaps.slice(5))).toBeGreaterThan(40_000);
    expect(Math.max(...gaps)).toBeLessThan(80_000);
  });

  test('an activation that fails does so for good within two minutes: the node is drained meanwhile', async () => {
    build().host.inject('activate');
    await world.until(() => world.restored);
    const times = starts('activate');
    expect(times.length).toBeGreaterThan(2);
    expect(times.at(-1)! - times[0]!).toBeLessThan(2 * MINUTE_MS);
    expect(reports(world)).toHaveLength(1);
  });

  test('a download whose end nobody could see is not made twice', async () => {
    build();
    await world.until(() => world.asked('prepare-update') === 1);
    world.host.inject('silent', { forMs: 5 * MINUTE_MS });
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(1);
    expect(reports(world)).toEqual([]);
  });

  test.each<[string, WorldOptions]>([
    ['', {}],
    [', in a cluster that does not keep what failed', { drops: ['last_failure'] }],
  ])(
    'a permit that a failed download wiped is not activated, though the host still calls it staged%s',
    async (_, options) => {
      build(options).host.inject('activate');
      await world.until(() => world.restored);
      world.host.clear('activate');
      world.host.inject('prepare');
      world.operator.want(staged('1.39.0'));
      await world.until(() => world.restored && world.operator.status.crash_count === 2);
      world.host.clear('prepare');
      world.operator.want(staged('1.39.0'));
      await world.until(() => world.updated || world.operator.status.crash_count === 3);
      expect(reports(world)).toHaveLength(2);
      expect(world.updated).toBe(true);
    },
  );

  test('another version that somebody stages while the node is drained is replaced by the wanted one', async () => {
    build().operator.drainMs = 5 * MINUTE_MS;
    await world.until(() => world.operator.node.cordoned);
    world.releases.publish({ version: '1.40.0' });
    for (const path of ['/actions/refresh-updates', '/actions/prepare-update']) {
      await world.host.handle({ method: 'POST', path, body: undefined });
      await world.advance(MINUTE_MS);
    }
    world.releases.withdraw('1.40.0');
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
    expect(world.host.version).toBe('1.39.0');
  });

  test('another version that somebody stages between the look and the activation is never booted', async () => {
    failing('activate', 'restaged-by-hand', {});
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
    expect(world.asked('deactivate-update')).toBe(1);
    expect(starts('reboot')).toHaveLength(1);
  });
});

describe('a host that cannot be spoken to fails the attempt after the deadline of the step, and blames no release', () => {
  test.each<FaultName>(['silent', 'garbage', 'truncated', 'denied', 'dispatcher-failed', 'deactivate'])(
    '%s before the download: HostFailed',
    async (fault) => {
      await offered();
      world.host.inject(fault, { uses: Infinity, forMs: Infinity });
      if (fault === 'deactivate') {
        for (const path of ['/actions/prepare-update', '/actions/activate-update']) {
          await world.host.handle({ method: 'POST', path, body: undefined });
          await world.advance(MINUTE_MS);
        }
      }
      world.operator.holding = false;
      world.operator.want(staged('1.39.0'));
      await world.advance(18 * MINUTE_MS);
      expect(reports(world)).toEqual([]);
      await world.until(() => reports(world).length > 0, 10 * MINUTE_MS);
      await world.until(() => world.restored);
      expect(world.operator.status).toMatchObject({ crash_count: 1, last_failure: { reason: 'HostFailed' } });
      expect(world.operator.status.failed_versions).toBeUndefined();
    },
  );

  test('nor does a repository that cannot be reached', async () => {
    build().operator.obeying = false;
    await world.until(() => world.operator.status.target_version === '1.39.0');
    world.host.inject('refresh');
    const looks = world.asked('refresh-updates');
    await world.until(() => world.asked('refresh-updates') > looks);
    world.operator.obeying = true;
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.restored);
    expect(world.operator.status.last_failure?.reason).toBe('HostFailed');
    expect(world.operator.status.failed_versions).toBeUndefined();
  });

  test.each<FaultName>(['silent', 'garbage', 'dispatcher-failed'])(
    '%s at the activation: HostFailed',
    async (fault) => {
      failing('activate', fault, { uses: Infinity, forMs: Infinity });
      await world.until(() => world.restored);
      expect(world.operator.status.last_failure?.reason).toBe('HostFailed');
      expect(world.operator.status.failed_versions).toBeUndefined();
    },
  );

  test('for ten minutes only delays the update', async () => {
    failing('prepare', 'silent', { forMs: 10 * MINUTE_MS });
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });

  test('because its tool hangs gives its place back after two hours: others are not kept waiting until it boots', async () => {
    await offered();
    world.host.inject('hang');
    await world.host.handle({ method: 'POST', path: '/actions/prepare-update', body: undefined });
    world.operator.holding = false;
    world.operator.want(staged('1.39.0'));
    await world.advance(118 * MINUTE_MS);
    expect(reports(world)).toEqual([]);
    await world.until(() => world.restored, 10 * MINUTE_MS);
    expect(reports(world)).toHaveLength(1);
    expect(world.operator.status.last_failure).toMatchObject({
      reason: 'HostFailed',
      message: expect.stringMatching(/^busy for 2 hours: /),
    });
    expect(world.operator.status.failed_versions).toBeUndefined();
    world.host.crash();
    await world.until(() => world.host.boot !== undefined && world.operator.status.target_version === '1.39.0');
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.updated);
  });

  test('unless it is only busy twice, before a drain of three hours and after it', async () => {
    build().operator.drainMs = 180 * MINUTE_MS;
    const { operator, host } = world;
    const moments = [() => operator.log.at(-1)?.startsWith('Staged'), () => operator.node.drained];
    world.onMoment = () => {
      if (!moments[0]?.()) return;
      moments.shift();
      host.inject('busy', { forMs: 2 * MINUTE_MS });
    };
    await world.advance(178 * MINUTE_MS);
    expect(operator.node).toMatchObject({ cordoned: true, drained: false });
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });
});
