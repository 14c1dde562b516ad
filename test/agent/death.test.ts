import { describe, expect, test } from '@jest/globals';
import { death, recorded, reports, rescue, unplannedReboot } from './hand.ts';
import { build, world } from './stage.ts';

describe('trace 18: an agent that dies for good, is rescued, and comes back after all', () => {
  interface Death {
    readonly when: string;
    readonly now: () => boolean;
  }
  let refused = 0;
  const deaths: readonly Death[] = [
    {
      when: 'right after the start',
      now: () => world.operator.shadow.value?.spec.state === 'StagedAndPerformedUpdate',
    },
    { when: 'after a 504 that it never reported', now: () => refused > 0 },
    { when: 'between the record and the reboot', now: () => recorded(world) },
  ];

  test.each(deaths)('$when: reports rest, deactivated, without a record or a failure', async ({ when, now }) => {
    build().operator.answer = (ask) =>
      ask === 'cordonAndDrain' && when.includes('504') && refused++ === 0
        ? { kind: 'deadline', message: '504' }
        : undefined;
    await death(world, now);
    await world.advance(3600_000);
    rescue(world);
    world.startAgent();
    await world.until(() => world.idle);
    await world.advance(10_000);
    expect(world.operator.status).toMatchObject({ current_version: '1.38.0', crash_count: 0 });
    expect(world.operator.status.reboot).toBeUndefined();
    expect(world.operator.node.cordoned).toBe(false);
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
    expect(world.asked('reboot')).toBe(0);
  });

  test('after ErrorReset: the failure stands, and the node is at rest', async () => {
    build().host.inject('activate');
    world.operator.before = (ask) => {
      if (ask === 'cordonAndDrain') world.operator.holding = true;
    };
    await death(world, () => reports(world).length === 1);
    rescue(world);
    world.startAgent();
    await world.until(() => world.restored);
    expect(world.operator.status).toMatchObject({ last_failure: { reason: 'HostFailed' } });
    expect(reports(world)).toHaveLength(1);
  });

  test('after the release, in the new boot: the update is completed', async () => {
    build();
    await death(world, () => world.operator.log.at(-1) === 'uncordon');
    await world.advance(3600_000);
    world.startAgent();
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
  });

  test.each([
    ['boots', '1.39.0'],
    ['does not boot', '1.38.0'],
  ])(
    'between the record and the reboot, the host restarts, and the release %s: says so, spec being left alone',
    async (boots, version) => {
      build();
      if (boots !== 'boots') world.host.inject('boot');
      await death(world, () => recorded(world));
      await unplannedReboot(world);
      world.operator.release();
      await world.until(() => world.updated || world.restored);
      expect(world.operator.status.current_version).toBe(version);
      expect(reports(world)).toHaveLength(boots === 'boots' ? 0 : 1);
    },
  );

  const deletions: readonly [string, () => boolean][] = [
    ['in the download', () => world.asked('prepare-update') === 1],
    ['while the host is activated', () => world.host.intervals.at(-1)?.action === 'activate'],
  ];

  async function expectMadeAnew(): Promise<void> {
    await world.until(() => world.operator.shadow.value?.status !== undefined);
    expect(world.operator.status).toMatchObject({ current_state: 'Idle', crash_count: 0 });
    await unplannedReboot(world);
    expect(world.host.version).toBe('1.38.0');
    expect(world.asked('reboot')).toBe(0);
  }

  test.each(deletions)(
    '%s, its shadow deleted while it is dead: makes it anew, at rest and deactivated',
    async (_, now) => {
      build();
      await death(world, now);
      rescue(world);
      world.operator.deleteShadow();
      await world.advance(3600_000);
      world.startAgent();
      await expectMadeAnew();
    },
  );

  test.each(deletions)(
    '%s, its shadow deleted before, as it asks for a new one: makes it anew, at rest and deactivated',
    async (_, now) => {
      build();
      let deleted = false;
      await death(world, () => {
        if (!deleted && now()) {
          deleted = true;
          world.operator.obeying = false;
          world.operator.deleteShadow();
        }
        return world.operator.log.lastIndexOf('createShadow') > 0;
      });
      await world.advance(3600_000);
      rescue(world);
      world.startAgent();
      await expectMadeAnew();
    },
  );
});
