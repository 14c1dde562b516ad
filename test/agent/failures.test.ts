import { describe, expect, test } from '@jest/globals';
import type { FaultName } from '../../lab/sim/hosts/faults.ts';
import { reports, staged } from './hand.ts';
import { build, offered, world } from './stage.ts';

const MINUTE_MS = 60_000;

describe('a failed attempt is reported once, blamed on its cause, and the node goes back into service', () => {
  test('a reboot that the host refuses is blamed on no release', async () => {
    build().host.inject('reboot-500', { uses: Infinity });
    await world.until(() => world.restored);
    const { last_failure: failure, failed_versions: failed } = world.operator.status;
    expect([failure?.reason, failed ?? []]).toEqual(['RebootFailed', []]);
  });

  test('the message holds what the host said', async () => {
    build().host.inject('prepare');
    await world.until(() => world.restored);
    expect(world.operator.status.last_failure?.message).toContain('Failed to prepare: simulated fault');
  });

  test('the message of a fallen-back boot names the partitions, which the host tells only after a look for updates', async () => {
    build().host.inject('boot');
    await world.until(() => world.restored);
    const { message } = world.operator.status.last_failure!;
    expect(message).toBe(
      'the host was rebooted into 1.39.0 and came up with 1.38.0; partitions: 1.38.0 (next to boot)',
    );
  });

  test.each<FaultName>(['refresh', 'busy', 'hang', 'dispatcher-missing'])(
    'a host that cannot look for updates (%s) after a fallen-back boot delays the report by five minutes at most',
    async (fault) => {
      build().host.inject('boot');
      await world.until(() => world.asked('reboot') === 1);
      await world.until(() => world.host.boot === undefined);
      world.host.inject(fault, { uses: Infinity, forMs: Infinity });
      await world.until(() => world.host.boot !== undefined);
      await world.until(() => reports(world).length === 1, 5 * MINUTE_MS);
      expect(world.operator.status.last_failure?.reason).toBe('BootFailed');
    },
  );

  test('a choice that the host kept from before a failed look is looked for anew, and blames nobody', async () => {
    build().operator.obeying = false;
    await world.until(() => world.operator.status.target_version === '1.39.0');
    world.host.inject('refresh', { uses: 1 });
    const looks = world.asked('refresh-updates');
    await world.until(() => world.asked('refresh-updates') > looks);
    await world.advance(10_000);
    world.operator.obeying = true;
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.updated || world.restored);
    expect(world.updated).toBe(true);
    expect(reports(world)).toEqual([]);
  });

  test('a version whose activation failed is downloaded again by the next attempt, which makes up for the failure', async () => {
    build().host.inject('activate');
    await world.until(() => world.restored);
    world.host.clear('activate');
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(2);
    expect(world.operator.status).toMatchObject({ crash_count: 0 });
    expect(world.operator.status.failed_versions).toBeUndefined();
    expect(world.operator.status.last_failure).toBeUndefined();
  });

  test('a drain whose deadline has passed is DrainFailed with the words of the apiserver', async () => {
    build().operator.answer = (ask) =>
      ask === 'cordonAndDrain' ? { kind: 'deadline', message: '504: pod shop/web-1 is left' } : undefined;
    await world.until(() => world.restored);
    const { last_failure: failure } = world.operator.status;
    expect(failure).toMatchObject({ reason: 'DrainFailed', message: '504: pod shop/web-1 is left' });
    expect(world.asked('activate-update')).toBe(0);
  });

  test('a drain that the apiserver refuses for reasons of its own fails after two minutes, not before', async () => {
    build().operator.answer = (ask) => (ask === 'cordonAndDrain' ? { kind: 'failed', message: '500: no' } : undefined);
    await world.until(() => world.operator.shadow.value?.spec.state === 'RebootedIntoUpdate');
    await world.advance(119_000);
    expect(reports(world)).toEqual([]);
    await world.until(() => world.restored);
    expect(world.operator.status.last_failure).toMatchObject({ reason: 'DrainFailed', message: '500: no' });
  });
});

test('one bad answer in a drain that lasts long fails nothing', async () => {
  build();
  let asked = 0;
  world.operator.answer = (ask) => {
    if (ask !== 'cordonAndDrain' || ++asked > 20) return undefined;
    return asked === 15 ? { kind: 'failed', message: '500: no' } : { kind: 'again', message: '503: the drain goes on' };
  };
  await world.until(() => world.updated);
  expect(asked).toBeGreaterThan(20);
  expect(reports(world)).toEqual([]);
});

describe('what is nobody’s failure', () => {
  test('a host that is busy for an hour delays the update and fails nothing', async () => {
    await offered();
    world.host.inject('busy', { forMs: 3600_000 });
    world.operator.holding = false;
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.updated, 2 * 3600_000);
    expect(reports(world)).toEqual([]);
  });

  test('a drain that is superseded, or not yet over, is asked for again', async () => {
    build();
    let asked = 0;
    world.operator.answer = (ask) =>
      ask === 'cordonAndDrain' && asked++ < 20 ? { kind: 'again', message: '503: superseded' } : undefined;
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });
});

describe('an offer that changes in mid-update', () => {
  test('because it is withdrawn just before its download ends the attempt after 120 seconds, without a crash', async () => {
    const { host, releases } = build();
    const unobserve = host.observe({
      onCall: ({ path }) => void (path === '/actions/prepare-update' && releases.withdraw('1.39.0')),
    });
    await world.until(() => world.asked('prepare-update') === 1);
    world.operator.obeying = false;
    await world.advance(115_000);
    expect(reports(world)).toEqual([]);
    await world.until(() => reports(world).length > 0, 15_000);
    expect(world.asked('prepare-update')).toBe(1);
    unobserve();
    releases.publish({ version: '1.39.0' });
    expect(world.operator.status).toMatchObject({ crash_count: 0, last_failure: { reason: 'TargetChanged' } });
    expect(world.operator.status.failed_versions).toBeUndefined();
    world.operator.obeying = true;
    world.operator.want({ state: 'Idle', version: '1.39.0' });
    await world.until(() => world.updated);
  });

  test('is followed when the controller follows', async () => {
    await offered();
    world.releases.publish({ version: '1.40.0' });
    world.releases.withdraw('1.39.0');
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.target_version === '1.40.0');
    world.operator.holding = false;
    world.operator.want({ state: 'StagedAndPerformedUpdate', version: '1.40.0' });
    await world.until(() => world.idle && world.operator.status.current_version === '1.40.0');
    expect(reports(world)).toEqual([]);
  });
});

describe('what somebody else does to the host', () => {
  test.each<[FaultName, string[]]>([
    ['staged-by-hand', []],
    ['activated-by-hand', ['deactivate-update']],
  ])('%s: nothing tells any more what is in the permit, so that it is downloaded again', async (fault, asked) => {
    build().host.inject(fault);
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(1);
    expect(world.asked('deactivate-update')).toBe(asked.length);
  });

  test('a version-lock below the running version is a downgrade that is wanted, and is made', async () => {
    build().host.inject('downgrade');
    await world.until(() => world.idle && world.operator.status.current_version === '1.37.0');
    expect(world.host.version).toBe('1.37.0');
    expect(reports(world)).toEqual([]);
  });

  test('another release chosen just before the download is noticed after it, and the wanted one is downloaded', async () => {
    build().host.inject('offer-changed');
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(2);
    expect(world.host.intervals.filter(({ action }) => action === 'reboot')).toHaveLength(1);
  });

  test('a socket that may not be connected to for an hour is no reason to exit: a new container could not either', async () => {
    build();
    await world.until(() => world.operator.log.length === 2);
    world.host.inject('denied', { forMs: 3600_000 });
    await world.advance(3600_000);
    expect(world.ends).toEqual([]);
    await world.until(() => world.updated);
  });
});

describe('an image without a tool for updates', () => {
  test('has no update to offer; that is logged once, and the agent goes on', async () => {
    build().host.inject('dispatcher-missing');
    await world.advance(3600_000);
    expect(world.operator.status).toMatchObject({ current_state: 'Idle', target_version: '1.38.0' });
    expect(world.logged.filter((line) => line.includes('no updates in place'))).toHaveLength(1);
    expect(world.ends).toEqual([]);
  });

  test('fails an update that is wanted all the same as Unsupported, which is not the fault of the release', async () => {
    build().host.inject('dispatcher-missing');
    await world.until(() => world.operator.shadow.value?.status !== undefined);
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.restored);
    expect(world.operator.status).toMatchObject({ last_failure: { reason: 'Unsupported' } });
    expect(world.operator.status.failed_versions).toBeUndefined();
  });
});
