import { describe, expect, test } from '@jest/globals';
import { death, rebooted, reports, rescue, staged, unplannedReboot } from './hand.ts';
import { build, offered, world } from './stage.ts';

/** Orders of events that broke earlier versions of the protocol, each placed by hand: what the agent owes to it. */

const RECORD = { boot_id: 'an-earlier-boot', version: '1.39.0', requested_at: '2025-01-01T00:00:00Z' };

async function by(...actions: readonly string[]): Promise<void> {
  for (const action of actions) {
    await world.host.handle({ method: 'POST', path: `/actions/${action}`, body: undefined });
    await world.advance(40_000);
  }
}

describe('trace 10: the second drain fails once the host is activated, and an unplanned reboot follows: the old system boots', () => {
  const hostTimes = { refreshMs: 11_000 };
  const failing = (): void => {
    build({ hostTimes }).operator.answer = (ask) =>
      ask === 'cordonAndDrain' && world.asked('activate-update') > 0 ? { kind: 'deadline', message: '504' } : undefined;
  };

  test('while the node is at rest again', async () => {
    failing();
    await world.until(() => world.restored);
    world.operator.holding = true;
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
  });

  test('while the controller has not answered the failure', async () => {
    failing();
    world.operator.before = (ask) => {
      if (ask === 'cordonAndDrain') world.operator.holding = true;
    };
    await death(world, () => reports(world).length === 1);
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
  });

  test('while the node is at rest again, though the host was too busy to be deactivated when the attempt ended', async () => {
    build({ hostTimes });
    world.operator.answer = (ask) => {
      if (ask !== 'cordonAndDrain' || world.asked('activate-update') === 0) return undefined;
      world.host.inject('busy', { forMs: 180_000 });
      return { kind: 'deadline', message: '504' };
    };
    await world.until(() => world.restored);
    world.operator.holding = true;
    await world.advance(600_000);
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
  });

  test('after the rescue of an agent that had died before it could report', async () => {
    failing();
    await death(world, () => world.host.intervals.at(-1)?.action === 'activate');
    rescue(world);
    world.startAgent();
    await world.until(() => world.idle);
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
  });
});

describe('trace 12: a record of a reboot that is left over fails no later update', () => {
  test('of this version, from before it began', async () => {
    await offered();
    world.operator.overwrite({ reboot: RECORD });
    world.operator.holding = false;
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });

  test('of another version, in the step that reboots, where the drain would be refused for it', async () => {
    await offered();
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    world.operator.overwrite({ reboot: { ...RECORD, version: '1.37.0' } });
    world.operator.holding = false;
    world.operator.want(rebooted('1.39.0'));
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });

  test('and neither a failure nor a success leaves one', async () => {
    build().host.inject('boot');
    world.operator.before = (ask) => {
      if (ask === 'cordonAndDrain') world.operator.holding = true;
    };
    await world.until(() => reports(world).length === 1);
    expect(world.operator.status).toMatchObject({
      current_state: 'ErrorReset',
      last_failure: { reason: 'BootFailed' },
    });
    expect(world.operator.status.reboot).toBeUndefined();
    world.host.clear('boot');
    world.operator.before = () => undefined;
    world.operator.want({ state: 'Idle', version: '1.39.0' });
    await world.until(() => world.idle);
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    world.operator.want(rebooted('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'RebootedIntoUpdate');
    expect(world.operator.status.reboot).toBeUndefined();
  });
});

describe('trace 13: a host that is activated for one version while another is wanted', () => {
  test('before the download is deactivated, or it would refuse the download for ever', async () => {
    await offered();
    await by('prepare-update', 'activate-update');
    world.releases.publish({ version: '1.40.0' });
    world.operator.holding = false;
    world.operator.want(staged('1.40.0'));
    await world.until(() => world.idle && world.operator.status.current_version === '1.40.0');
    expect(reports(world)).toEqual([]);
  });

  test('in the step that reboots is deactivated, and not booted', async () => {
    await offered();
    world.releases.publish({ version: '1.40.0' });
    world.operator.want(staged('1.40.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    world.releases.withdraw('1.40.0');
    await by('refresh-updates', 'prepare-update', 'activate-update');
    world.releases.publish({ version: '1.40.0' });
    world.operator.holding = false;
    world.operator.want(rebooted('1.40.0'));
    await world.until(() => world.idle && world.operator.status.current_version === '1.40.0');
    expect(world.host.intervals.filter(({ action }) => action === 'reboot')).toHaveLength(1);
    expect(reports(world)).toEqual([]);
  });
});

describe('trace 15: a node that was replaced under its name does not obey the shadow of the one before', () => {
  const hostActions = (): number =>
    ['prepare', 'activate', 'deactivate'].reduce((n, a) => n + world.asked(`${a}-update`), 0);

  test.each([staged('1.39.0'), rebooted('1.39.0'), { state: 'MonitoringUpdate' } as const, { state: 'Idle' } as const])(
    'which wants $state',
    async (spec) => {
      await offered();
      world.operator.overwrite({ current_state: 'ErrorReset' });
      world.kill();
      world.operator.want(spec);
      if (spec.state !== 'Idle') world.operator.overwrite({ current_state: 'Idle' });
      const asked = world.operator.log.length;
      world.operator.replaceNode();
      world.startAgent();
      await world.advance(600_000);
      expect(hostActions() + world.asked('reboot')).toBe(0);
      expect(world.operator.log.slice(asked)).toEqual([]);
      world.operator.obeying = false;
      world.operator.deleteShadow();
      await world.until(() => world.idle);
      expect(world.operator.shadow.value?.metadata.ownerReferences?.[0]?.uid).toBe(world.operator.node.uid);
    },
  );

  test('replaced under an agent that runs: it is not drained, and its host not rebooted', async () => {
    await offered();
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    world.operator.replaceNode();
    world.operator.want(rebooted('1.39.0'));
    await world.advance(600_000);
    expect(world.operator.node.cordoned).toBe(false);
    expect(world.asked('activate-update') + world.asked('reboot')).toBe(0);
  });
});

describe('trace 20: the version that a node failed on', () => {
  test('is blamed for as long as the node does not run it, also when it fails on, and then runs, another version', async () => {
    build().host.inject('boot');
    await world.until(() => world.restored);
    world.releases.publish({ version: '1.40.0' });
    await world.until(() => world.operator.status.target_version === '1.40.0');
    world.operator.want(staged('1.40.0'));
    await world.until(() => world.operator.status.crash_count === 2 && world.idle);
    expect(world.operator.status.failed_versions).toEqual(['1.39.0', '1.40.0']);
    world.host.clear('boot');
    world.operator.want(staged('1.40.0'));
    await world.until(() => world.idle && world.operator.status.current_version === '1.40.0');
    expect(world.operator.status.failed_versions).toEqual(['1.39.0']);
  });
});

describe('trace 20: a cluster that drops the record of a reboot', () => {
  test('lets no node reboot for ever into a release that does not boot', async () => {
    build({ drops: ['reboot'] }).host.inject('boot');
    await world.until(() => world.restored);
    await world.advance(3600_000);
    expect(world.asked('reboot')).toBe(1);
    expect(world.operator.status).toMatchObject({ crash_count: 1, last_failure: { reason: 'BootFailed' } });
  });
});

test('an offer that is withdrawn is said at once, and fails after the 120 seconds in which the controller may follow', async () => {
  await offered();
  world.releases.withdraw('1.39.0');
  await by('refresh-updates');
  world.operator.want(staged('1.39.0'));
  await world.until(() => world.operator.status.target_version === '1.38.0', 60_000);
  const said = world.clock.monotonic();
  await world.until(() => reports(world).length === 1, 140_000);
  expect(world.clock.monotonic() - said).toBeGreaterThanOrEqual(119_000);
  expect(world.operator.status).toMatchObject({ crash_count: 0, last_failure: { reason: 'TargetChanged' } });
  expect(world.operator.status.failed_versions).toBeUndefined();
  expect(world.asked('prepare-update')).toBe(0);
});

test('trace 21: a late status that an older apiserver wrote is corrected by another report', async () => {
  await offered({ older: true });
  world.operator.overwrite({ target_version: '1.38.0' });
  await world.advance(150_000);
  expect(world.operator.status.target_version).toBe('1.39.0');
});
