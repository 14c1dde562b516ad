import { describe, expect, test } from '@jest/globals';
import { rebooted, reports, staged } from './hand.ts';
import { build, offered, world } from './stage.ts';
import type { WorldOptions } from './world.ts';

/** Drains hang, so that the host can be disturbed while one runs. */
async function whileDraining(options?: WorldOptions): Promise<void> {
  build(options).operator.drainMs = 600_000;
  await world.until(() => world.operator.node.cordoned);
}

describe('the record of a reboot', () => {
  test('is seen in the watch before the reboot is asked for', async () => {
    build();
    await world.until(() => world.operator.log.at(-1)?.endsWith('record') ?? false);
    expect(world.operator.status.reboot).toMatchObject({ boot_id: world.host.boot?.id, version: '1.39.0' });
    await world.until(() => world.updated);
    expect(world.operator.status.reboot).toBeUndefined();
  });

  test('is waited for 30 seconds, and no longer, where the cluster drops it', async () => {
    build({ drops: ['reboot'] });
    await world.until(() => world.updated);
    const reboot = world.host.intervals.find(({ action }) => action === 'reboot');
    const activated = world.host.intervals.find(({ action }) => action === 'activate');
    expect(reboot!.startMs - activated!.endMs).toBeGreaterThanOrEqual(30_000);
    expect(reboot!.startMs - activated!.endMs).toBeLessThan(32_000);
  });
});

describe('the last drain', () => {
  const drains = (): number => world.operator.log.filter((line) => line === 'cordonAndDrain').length;
  const uncordon = (): Promise<unknown> =>
    world.operator.transport.request({
      method: 'PATCH',
      path: '/api/v1/nodes/n1',
      body: { spec: { unschedulable: null } },
      contentType: 'application/merge-patch+json',
    });

  test.each([1, 30])(
    'is made again where the request cannot be recorded for %d minutes: pods may have come',
    async (minutes) => {
      build().operator.answer = (ask) =>
        ask === 'putStatus' && drains() === 1 ? { kind: 'again', message: 'ECONNREFUSED' } : undefined;
      await world.until(() => drains() === 1);
      await world.advance(minutes * 30_000);
      await uncordon();
      await world.advance(minutes * 30_000);
      expect(world.asked('reboot')).toBe(0);
      world.operator.answer = () => undefined;
      await world.until(() => world.updated);
      expect(reports(world)).toEqual([]);
    },
  );

  test('comes before the request is recorded, and after an activation that took long: for a node that dies in it no reboot was requested', async () => {
    build({ hostTimes: { refreshMs: 11_000 } }).operator.before = (ask) => {
      if (ask === 'cordonAndDrain') expect(world.operator.status.reboot).toMatchObject({ version: '1.39.0' });
      if (ask === 'cordonAndDrain') expect(world.operator.status.reboot?.requested_at).toBeUndefined();
    };
    await world.until(() => world.updated);
    expect(drains()).toBe(2);
  });

  test('comes after the probe: one before it tells nothing of the pods that came since', async () => {
    await offered();
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    world.operator.overwrite({ reboot: null });
    world.operator.holding = false;
    world.operator.want(rebooted('1.39.0'));
    await world.until(() => world.updated);
    expect(drains()).toBe(2);
  });
});

/** The watch is silent from the first status on that is sent once `fits`. */
function silentOnce(fits: () => boolean): void {
  const { operator } = world;
  operator.before = (ask) => {
    if (ask === 'putStatus' && fits()) operator.watchable = false;
  };
}

function heard(): void {
  world.operator.before = () => undefined;
  world.operator.watchable = true;
}

describe('a watch that lags', () => {
  test('by ten minutes after the probe is waited for: its silence does not say that the probe was dropped', async () => {
    await whileDraining();
    silentOnce(() => true);
    world.host.crash();
    await world.until(() => world.operator.log.at(-1)?.endsWith('probe') ?? false);
    await world.advance(600_000);
    expect(world.asked('prepare-update')).toBe(1);
    world.operator.drainMs = 1000;
    heard();
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });

  test('after the record holds the reboot back until the record is seen', async () => {
    build();
    silentOnce(() => world.asked('activate-update') === 1);
    await world.until(() => world.operator.log.at(-1)?.endsWith('record') ?? false);
    await world.advance(300_000);
    expect(world.asked('reboot')).toBe(0);
    heard();
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });

  test('that shows a newer shadow without the probe tells at once that the probe was dropped', async () => {
    await whileDraining({ drops: ['reboot'] });
    world.host.crash();
    const dropped = new Promise<void>((resolve) => {
      world.operator.before = (ask) => {
        if (ask !== 'putStatus') return;
        world.operator.before = () => undefined;
        void world.clock.sleep(5000).then(() => world.operator.overwrite({}));
        resolve();
      };
    });
    await world.until(() => world.host.boot !== undefined);
    await world.clock.advanceUntil(dropped, 600_000);
    await world.until(() => reports(world).length === 1, 8000);
    expect(world.operator.status.last_failure?.reason).toBe('BootFailed');
  });
});

describe('an unplanned reboot while a drain runs', () => {
  test('boots the old system, and the update goes on with a download, without a failure', async () => {
    await whileDraining();
    world.host.crash();
    world.operator.drainMs = 1000;
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
    expect(world.asked('prepare-update')).toBe(2);
    expect(world.operator.log).toContain('StagedAndPerformedUpdate ->1.39.0 probe');
  });

  test('may happen twice', async () => {
    await whileDraining();
    for (const _ of [1, 2]) {
      const probes = world.operator.log.length;
      world.host.crash();
      await world.until(() => world.operator.log.slice(probes).some((line) => line.endsWith('probe')));
      await world.advance(60_000);
    }
    world.operator.drainMs = 1000;
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
    expect(world.asked('prepare-update')).toBe(3);
  });

  test('is a BootFailed where the cluster drops the probe, so that no node reboots for ever', async () => {
    await whileDraining({ drops: ['reboot'] });
    world.host.crash();
    await world.until(() => world.restored);
    expect(world.operator.status).toMatchObject({ crash_count: 1, last_failure: { reason: 'BootFailed' } });
  });
});

describe('a host that is activated', () => {
  test('by an older agent is used in the reboot step as it is', async () => {
    await offered();
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    await world.host.handle({ method: 'POST', path: '/actions/activate-update', body: undefined });
    await world.advance(5000);
    world.operator.holding = false;
    world.operator.want(rebooted('1.39.0'));
    await world.until(() => world.updated);
    expect(world.asked('activate-update')).toBe(1);
    expect(world.asked('prepare-update')).toBe(1);
  });
});

describe('an update that is called off', () => {
  test('between the last drain and the reboot is not rebooted into', async () => {
    build().operator.before = (ask) => {
      if (ask !== 'putStatus' || world.asked('activate-update') === 0) return;
      world.operator.before = () => undefined;
      world.operator.obeying = false;
      world.operator.deleteShadow();
    };
    await world.until(() => world.operator.log.lastIndexOf('createShadow') > 0);
    await world.advance(600_000);
    expect(world.asked('reboot')).toBe(0);
    expect(world.operator.status).toMatchObject({ current_state: 'Idle', crash_count: 0 });
  });

  test('once the reboot was asked for waits until the host is down: the node is not given back before that', async () => {
    build();
    await world.until(() => world.asked('reboot') === 1);
    const boot = world.host.boot?.id;
    world.operator.obeying = false;
    world.operator.deleteShadow();
    await world.until(() => world.host.boot?.id !== boot);
    expect(world.operator.log.filter((entry) => entry === 'createShadow')).toHaveLength(1);
    await world.until(() => world.idle);
    expect(world.operator.status.current_version).toBe('1.39.0');
  });

  test('once the reboot may have been asked for, because no answer comes, waits as well', async () => {
    build({ hostTimes: { shutdownMs: 10_000 } }).host.observe({
      onCall: ({ path }) => {
        if (path === '/actions/reboot') world.host.inject('half-open');
      },
    });
    await world.until(() => world.asked('reboot') === 1);
    const boot = world.host.boot?.id;
    world.operator.obeying = false;
    world.operator.deleteShadow();
    await world.until(() => world.host.boot?.id !== boot);
    expect(world.operator.log.filter((entry) => entry === 'createShadow')).toHaveLength(1);
  });

  test('once the reboot was asked for leads back to rest where the host does not go down', async () => {
    build().host.inject('reboot-ignored');
    await world.until(() => world.asked('reboot') === 1);
    world.operator.obeying = false;
    world.operator.deleteShadow();
    await world.advance(355_000);
    expect(world.operator.shadow.value).toBeUndefined();
    await world.until(() => world.idle);
    expect(world.host.version).toBe('1.38.0');
  });

  test('in the download leads back to rest, without a failure', async () => {
    build();
    await world.until(() => world.asked('prepare-update') === 1);
    world.operator.obeying = false;
    world.operator.overwrite({ current_state: 'StagedAndPerformedUpdate' });
    world.operator.want({ state: 'Idle', version: '1.39.0' });
    await world.until(() => world.idle);
    expect(reports(world)).toEqual([]);
    expect(world.operator.log).toContain('uncordon');
  });
});

test('a status made from an older view is refused, and made again from the newest one', async () => {
  build().operator.before = (ask) => {
    if (ask !== 'putStatus' || !world.operator.shadow.value?.status) return;
    world.operator.before = () => undefined;
    world.operator.overwrite({ crash_count: 3 });
  };
  await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
  expect(world.operator.status.crash_count).toBe(3);
});
