import { describe, expect, test } from '@jest/globals';
import { staged } from './hand.ts';
import { build, world } from './stage.ts';
import type { WorldOptions } from './world.ts';

const calls = (): number => [...world.host.requests.values()].reduce((sum, count) => sum + count, 0);

/** At rest, with nothing offered. */
async function atRest(options?: WorldOptions): Promise<void> {
  build(options).releases.withdraw('1.39.0');
  await world.until(() => world.asked('refresh-updates') === 1 && world.idle);
  await world.advance(10_000);
}

test('the version that runs is told of a node whose release is held up', async () => {
  build().operator.answer = (ask) => (ask === 'uncordon' ? { kind: 'again', message: 'refused' } : undefined);
  await world.until(() => world.operator.status.current_version === '1.39.0');
  expect(world.operator.node.cordoned).toBe(true);
  world.operator.answer = () => undefined;
  await world.until(() => world.updated);
});

test('an update goes through its states in order, drained before it is activated, and ends at rest in service', async () => {
  build();
  await world.until(() => world.idle && world.operator.status.current_version === '1.39.0');
  expect(world.operator.log).toEqual([
    'createShadow',
    'Idle ->1.38.0',
    'Idle ->1.39.0',
    'StagedAndPerformedUpdate ->1.39.0 probe',
    'cordonAndDrain',
    'StagedAndPerformedUpdate ->1.39.0 record',
    'uncordon',
    'RebootedIntoUpdate ->1.39.0',
    'MonitoringUpdate ->1.39.0',
    'Idle ->1.39.0',
  ]);
  expect(world.operator.node).toMatchObject({ cordoned: false, drained: false, lbExcluded: false });
  expect(world.operator.status).toMatchObject({ crash_count: 0 });
  expect(world.operator.status.reboot).toBeUndefined();
  expect(world.asked('prepare-update')).toBe(1);
});

describe('an agent at rest', () => {
  test('writes nothing, and asks the host less than 130 times an hour', async () => {
    await atRest();
    const [before, said] = [calls(), world.operator.log.length];
    let asked = 0;
    world.operator.answer = () => void asked++;
    await world.advance(3600_000);
    expect(calls() - before).toBeLessThan(130);
    expect(calls() - before).toBeGreaterThan(50);
    expect(world.operator.log).toHaveLength(said);
    expect(asked).toBe(0);
  });

  test('keeps the last offer while the host cannot look for updates', async () => {
    build().operator.obeying = false;
    await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
    world.host.inject('refresh');
    await world.advance(600_000);
    expect(world.operator.status.target_version).toBe('1.39.0');
  });

  test('begins the moment spec changes, and reports the moment the host has answered', async () => {
    build().operator.obeying = false;
    await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
    await world.advance(10_000);
    const before = calls();
    world.operator.want(staged('1.39.0'));
    await world.clock.advance(0);
    expect(calls()).toBeGreaterThan(before);
    let last = 0;
    world.onMoment = () => {
      last = world.clock.now();
    };
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    const prepared = world.host.intervals.find(({ action }) => action === 'prepare')!.endMs;
    expect(last - prepared).toBeLessThan(1000);
  });
});

describe('a shadow', () => {
  test('that is deleted is created again', async () => {
    await atRest();
    world.operator.deleteShadow();
    await world.until(() => world.operator.shadow.value?.status !== undefined, 5000);
    expect(world.operator.log.filter((line) => line === 'createShadow')).toHaveLength(2);
  });

  test('is served again once a node whose UID was not accepted has been read again', async () => {
    await atRest();
    world.operator.replaceNode();
    world.operator.deleteShadow();
    await world.until(() => world.idle, 60_000);
    expect(world.operator.shadow.value?.metadata.ownerReferences?.[0]?.uid).toBe(world.operator.node.uid);
  });
});

describe('outages', () => {
  test('a restart of the host’s API server is nothing to an agent that reaches the new socket', async () => {
    await atRest();
    world.host.restartApi(20_000);
    await world.advance(3600_000);
    expect(world.ends).toEqual([]);
  });
});

test.each([-24, 24])(
  'a wall clock that jumps by %d hours at every moment hurries, delays and fails nothing',
  async (hours) => {
    build();
    world.onMoment = () => void (world.wallErrorMs += hours * 3600_000);
    const start = world.clock.monotonic();
    await world.until(() => world.updated);
    expect(world.clock.monotonic() - start).toBeLessThan(180_000);
    expect(world.operator.status.crash_count).toBe(0);
  },
);

test('a node in front of load balancers leaves them, waits, and is put back before it is reported', async () => {
  build({ times: { lbWaitMs: 90_000 } });
  let excludedAt = 0;
  let drainedAt = 0;
  world.operator.before = (ask) => {
    if (ask === 'excludeFromLb') excludedAt ||= world.clock.now();
    if (ask === 'cordonAndDrain') drainedAt ||= world.clock.now();
  };
  await world.until(() => world.updated);
  expect(drainedAt - excludedAt).toBeGreaterThanOrEqual(90_000);
  expect(drainedAt - excludedAt).toBeLessThan(91_000);
  expect(world.operator.node.lbExcluded).toBe(false);
  const { log } = world.operator;
  expect(log.indexOf('removeExclusionFromLb')).toBeLessThan(log.indexOf('RebootedIntoUpdate ->1.39.0'));
});

test('a step that begins anew on a drained node does not wait for load balancers again', async () => {
  build({ times: { lbWaitMs: 30_000 } });
  const BUSY_MS = 150_000;
  let busyUntil: number | undefined;
  let rebootedAt = Infinity;
  world.host.observe({
    onCall: ({ path }) => {
      // The node is drained by now.
      if (path !== '/actions/activate-update' || busyUntil !== undefined) return;
      busyUntil = world.clock.monotonic() + BUSY_MS;
      world.host.inject('busy', { forMs: BUSY_MS });
    },
    onDown: () => (rebootedAt = Math.min(rebootedAt, world.clock.monotonic())),
  });
  await world.until(() => world.updated);
  expect(rebootedAt).toBeGreaterThan(busyUntil!);
  expect(rebootedAt).toBeLessThan(busyUntil! + 25_000);
});
