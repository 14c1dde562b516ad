import { describe, expect, test } from '@jest/globals';
import type { FailureReason } from '../../runtime/api/shadow/model.ts';
import { seeds, stride } from '../random.ts';
import { reports } from './hand.ts';
import { everyMoment } from './moments.ts';
import { type DriverName, DRIVERS } from './drivers.ts';
import type { World, WorldOptions } from './world.ts';

interface Path {
  readonly end: 'updated' | FailureReason;
  /** What goes wrong by itself, whatever else happens. */
  readonly arrange: (world: World) => void;
  /** An unplanned reboot may come when the host is activated, and then completes the update. */
  readonly activated?: true;
  readonly hostTimes?: WorldOptions['hostTimes'];
}

const drainFails = (world: World, when: () => boolean): void => {
  world.operator.answer = (ask) =>
    ask === 'cordonAndDrain' && when() ? { kind: 'deadline', message: '504: pod shop/web-1 is left' } : undefined;
};

const PATHS: Readonly<Record<string, Path>> = {
  'that waits for load balancers': { end: 'updated', arrange: () => undefined },
  'to a release that does not boot': {
    end: 'BootFailed',
    arrange: ({ host }) => host.inject('boot'),
  },
  'whose activation fails': { end: 'HostFailed', arrange: ({ host }) => host.inject('activate') },
  'whose drain fails': { end: 'DrainFailed', arrange: (world) => drainFails(world, () => true) },
  'whose drain fails once the host is activated': {
    end: 'DrainFailed',
    arrange: (world) => drainFails(world, () => world.asked('activate-update') > 0),
    activated: true,
    // It is drained once more only where it took long.
    hostTimes: { refreshMs: 11_000, prepareMs: 300, rebootMs: 2000, shutdownMs: 500 },
  },
  'whose reboot never comes': {
    end: 'RebootFailed',
    arrange: ({ host }) => host.inject('reboot-ignored', { uses: Infinity }),
    activated: true,
  },
};

const TIMES = { lbWaitMs: 400 };
/** Each thirteenth moment, others in each run, and at night all. */
const [seed = 1] = seeds(1);
const FEW = stride(13, seed);
const MOMENTS = `at moments (seed ${seed}) of an update`;
/** An update has more than so many. */
const FEWEST = Math.floor(75 / FEW.step);

/** A host without a status of its own says nothing to an agent that was restarted: the image is written once more. */
const DOWNLOADS: Readonly<Record<DriverName, number>> = { api: 1, updog: 2 };

/** Ended as it should, in service, with nothing left on node, shadow or host. */
async function expectEnd(world: World, end: Path['end']): Promise<void> {
  const { operator, host } = world;
  expect(world.undrainedReboots).toEqual([]);
  expect(operator.node).toMatchObject({ cordoned: false, lbExcluded: false });
  expect(operator.status.reboot).toBeUndefined();
  expect(reports(world)).toHaveLength(end === 'updated' ? 0 : 1);
  if (end === 'updated') expect(world.updated).toBe(true);
  else expect(operator.status).toMatchObject({ crash_count: 1, last_failure: { reason: end, version: '1.39.0' } });
  const { version } = host;
  host.clear('boot');
  host.crash();
  await world.advance(5000);
  expect(host.version).toBe(version);
  world.end();
}

const cases = DRIVERS.flatMap((driver) =>
  Object.entries(PATHS).map(([name, path]) => ({
    path,
    name,
    driver,
    options: { driver, times: TIMES, ...(path.hostTimes && { hostTimes: path.hostTimes }) },
  })),
);

describe.each(cases)(`${MOMENTS} by $driver $name`, ({ path, driver, options }) => {
  const { end, arrange, activated = false } = path;
  test('an agent that is killed comes to the same end, with one report, no download too many and one reboot at most', async () => {
    const worlds = await everyMoment({
      disturb: (world) => world.restart(),
      prepare: arrange,
      options,
      stride: FEW,
    });
    expect(worlds.length).toBeGreaterThan(FEWEST);
    for (const world of worlds) {
      expect(world.asked('prepare-update')).toBeLessThanOrEqual(DOWNLOADS[driver]);
      expect(world.host.intervals.filter(({ action }) => action === 'reboot').length).toBeLessThanOrEqual(1);
      await expectEnd(world, end);
    }
  });

  test('an unplanned reboot of the host costs one more download at most, and is taken for ours only where ours was due', async () => {
    const due = new Set<World>();
    const disturb = (world: World): void => {
      if (world.operator.shadow.value?.status?.reboot?.requested_at) due.add(world);
      world.host.crash();
    };
    const worlds = await everyMoment({ disturb, prepare: arrange, options, stride: FEW });
    expect(worlds.length).toBeGreaterThan(FEWEST);
    for (const world of worlds) {
      expect(world.asked('prepare-update')).toBeLessThanOrEqual(2);
      if (end === 'BootFailed') expect(world.asked('reboot') > 0 || due.has(world)).toBe(true);
      await expectEnd(world, activated && world.updated ? 'updated' : end);
    }
  });
});
