import { describe, expect, test } from '@jest/globals';
import type { HostStatus, HostUpdater } from '../../runtime/agent/host/port.ts';
import { UpdateGoneError } from '../../runtime/agent/host/errors.ts';
import { reports, staged } from './hand.ts';
import { build, world } from './stage.ts';

/**
 * A driver that offers nothing, takes what it is told, and writes only when it activates: its host's tool cannot keep a download apart from what
 * boots next.
 */
function told(api: HostUpdater, exists: (version: string) => boolean): HostUpdater {
  let prepared: string | undefined;
  const seen = (): HostStatus => {
    const image = { version: prepared ?? '', variant: 'aws-k8s-1.33', arch: 'x86_64' };
    const staging = prepared === undefined ? undefined : { image, nextToBoot: false };
    return {
      state: staging ? 'Staged' : 'Idle',
      chosen: undefined,
      active: undefined,
      staging,
      lastCommand: undefined,
    };
  };
  return {
    traits: { versions: 'told', limits: { prepareMs: 60_000, activateMs: 180_000, goingDownMs: 90_000 } },
    os: (signal) => api.os(signal),
    bootId: () => api.bootId(),
    status: async () => seen(),
    refresh: async () => seen(),
    prepare: async (version) => {
      if (!exists(version)) throw new UpdateGoneError(`there is no ${version}`);
      prepared = version;
      return seen();
    },
    activate: async (version, signal) => {
      await api.refresh(signal);
      await api.prepare(version, signal);
      return api.activate(version, signal);
    },
    deactivate: async (signal) => {
      await api.deactivate(signal);
      return seen();
    },
    reboot: (signal) => api.reboot(signal),
  };
}

async function atRest(exists: (version: string) => boolean = () => true): Promise<void> {
  build({ driven: (api) => told(api, exists) });
  await world.until(() => world.idle);
}

describe('a host that is told which version to take', () => {
  test('offers none, takes the one of the order, and writes it only once its node is drained', async () => {
    await atRest();
    await world.advance(600_000);
    expect(world.operator.status.target_version).toBe('1.38.0');
    world.operator.before = (ask) => {
      if (ask === 'cordonAndDrain' && !world.operator.node.drained) expect(world.asked('prepare-update')).toBe(0);
    };
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.updated);
    expect([reports(world), world.asked('prepare-update')]).toEqual([[], 1]);
  });

  test('is not drained for a version that does not exist, and no release is blamed', async () => {
    await atRest(() => false);
    world.operator.before = (ask) => expect(ask).not.toBe('cordonAndDrain');
    world.operator.want(staged('1.39.9'));
    await world.until(() => reports(world).length > 0);
    expect(world.operator.status).toMatchObject({ crash_count: 0, last_failure: { reason: 'TargetChanged' } });
  });

  test('may be down as late as its driver says, and no later', async () => {
    await atRest();
    world.host.inject('reboot-ignored');
    world.operator.want(staged('1.39.0'));
    await world.until(() => reports(world).length > 0);
    expect(world.operator.status.last_failure).toMatchObject({
      reason: 'RebootFailed',
      message: expect.stringContaining('did not go down for 90 seconds'),
    });
  });
});
