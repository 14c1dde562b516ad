import { describe, expect, test } from '@jest/globals';
import { reports } from './hand.ts';
import { everyMoment, quickWorld } from './moments.ts';
import { DRIVERS, TOLD_DRIVERS } from './drivers.ts';
import { type WorldOptions } from './world.ts';
import { seeds, stride } from '../random.ts';

/** Each eighth moment, others in each run, and at night all. */
const [seed = 1] = seeds(1);
const EIGHTH = stride(8, seed);
/** An update has more than so many. */
const FEWEST = Math.floor(100 / EIGHTH.step);
const MOMENTS = `at moments (seed ${seed}) of an update`;

/** A host without a status of its own says nothing to an agent that was restarted: the image is written once more. */
const DOWNLOADS = { api: 1, updog: 2, k3os: 2 } as const;

describe.each([...DRIVERS, ...TOLD_DRIVERS])(`${MOMENTS} by %s`, (driver) => {
  test('an agent that is killed and started again completes it, without a download or reboot that is not needed', async () => {
    const worlds = await everyMoment({ disturb: (world) => world.restart(), options: { driver }, stride: EIGHTH });
    expect(worlds.length).toBeGreaterThan(FEWEST);
    for (const world of worlds) {
      expect(world.updated).toBe(true);
      expect(world.undrainedReboots).toEqual([]);
      expect(world.operator.status).toMatchObject({ crash_count: 0 });
      expect(reports(world)).toEqual([]);
      expect(world.asked('prepare-update')).toBeLessThanOrEqual(DOWNLOADS[driver]);
      expect(world.host.intervals.filter(({ action }) => action === 'reboot')).toHaveLength(1);
    }
  });

  test('an unplanned reboot of the host is survived: the update is completed, and never reported as BootFailed', async () => {
    const worlds = await everyMoment({ disturb: (world) => world.host.crash(), options: { driver }, stride: EIGHTH });
    expect(worlds.length).toBeGreaterThan(FEWEST);
    for (const world of worlds) {
      expect(world.updated).toBe(true);
      expect(world.undrainedReboots).toEqual([]);
      expect(reports(world)).toEqual([]);
    }
  });

  test('an agent that is told to end does so at once', async () => {
    for (let at = EIGHTH.first; ; at += EIGHTH.step) {
      const world = quickWorld({ driver });
      let moment = 0;
      world.onMoment = () => {
        if (moment++ !== at) return;
        world.ends.length = 0;
        world.stop();
      };
      await world.until(() => moment > at || world.updated);
      await world.advance(0);
      world.end();
      if (moment <= at) return;
      expect(world.ends).toEqual(['stopped']);
    }
  });
});

describe(MOMENTS, () => {
  test('an agent with an apiserver and a CRD of the older implementation is killed without harm', async () => {
    const options: WorldOptions = { older: true, drops: ['reboot', 'last_failure', 'failed_versions'] };
    for (const world of await everyMoment({ disturb: (at) => at.restart(), options, stride: EIGHTH })) {
      expect(world.updated).toBe(true);
      expect(world.undrainedReboots).toEqual([]);
      expect(world.asked('prepare-update')).toBe(1);
      expect(world.operator.status.crash_count).toBe(0);
    }
  });

  test('a CRD that drops the record turns an unplanned reboot into a failure at worst: the node is updated or restored', async () => {
    const options: WorldOptions = { older: true, drops: ['reboot', 'last_failure', 'failed_versions'] };
    for (const world of await everyMoment({ disturb: (at) => at.host.crash(), options, stride: EIGHTH })) {
      expect(world.updated || world.restored).toBe(true);
      expect(world.undrainedReboots).toEqual([]);
      expect(reports(world).length).toBeLessThanOrEqual(1);
    }
  });
});
