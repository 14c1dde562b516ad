import { describe, expect, test } from '@jest/globals';
import type { FaultName } from '../../lab/sim/hosts/faults.ts';
import { rebooted, reports, staged } from './hand.ts';
import { build, offered, world } from './stage.ts';
import type { WorldOptions } from './world.ts';

const MINUTE_MS = 60_000;

/** 1.39.0 is staged, and its node waits for its turn for long enough that nobody knows any more what its host is offered. */
async function waiting(options?: WorldOptions): Promise<void> {
  await offered(options);
  world.operator.want(staged('1.39.0'));
  await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
  await world.advance(10 * MINUTE_MS);
}

function itsTurn(): void {
  world.operator.holding = false;
  world.operator.want(rebooted('1.39.0'));
}

/** Nothing was done to the node. */
function expectUndisturbed(): void {
  const { log, node } = world.operator;
  expect(log.filter((line) => line === 'cordonAndDrain' || line === 'excludeFromLb')).toEqual([]);
  expect(node).toMatchObject({ cordoned: false, lbExcluded: false });
}

describe.each(['api', 'updog'] as const)(
  'before its node is disturbed, a host driven by %s looks once more',
  (driver) => {
    test('and where its repository is away, the node waits in service', async () => {
      await waiting({ driver, times: { lbWaitMs: 1000 } });
      world.host.inject('repository-gone');
      itsTurn();
      await world.advance(15 * MINUTE_MS);
      expectUndisturbed();
      expect(reports(world)).toEqual([]);
      world.host.clear('repository-gone');
      await world.until(() => world.updated);
      expect(reports(world)).toEqual([]);
    });

    test('and where its repository stays away, the attempt fails, and nobody is disturbed or blamed', async () => {
      await waiting({ driver });
      world.host.inject('repository-gone');
      itsTurn();
      await world.until(() => world.restored);
      expectUndisturbed();
      const { last_failure: failure, failed_versions: failed } = world.operator.status;
      expect([failure?.reason, failed ?? []]).toEqual(['HostFailed', []]);
    });

    test.each<[string, FaultName, string]>([
      ['is withdrawn', 'no-wave', '1.38.0'],
      ['is not what somebody has locked the host to', 'downgrade', '1.37.0'],
    ])('and a version that %s disturbs nobody', async (_, fault, target) => {
      await waiting({ driver });
      world.operator.obeying = false;
      world.host.inject(fault, { forMs: Infinity });
      itsTurn();
      await world.until(() => reports(world).length === 1);
      expectUndisturbed();
      expect(world.operator.status).toMatchObject({
        target_version: target,
        crash_count: 0,
        last_failure: { reason: 'TargetChanged' },
      });
    });
  },
);

describe('no look is made', () => {
  const looks = (): number => world.asked('refresh-updates');

  test('where the host was asked within the last two minutes', async () => {
    build();
    await world.until(() => world.updated);
    expect(looks()).toBe(1);
  });

  test('once there are marks of ours: a new agent goes on with the drain', async () => {
    build().operator.drainMs = 10 * MINUTE_MS;
    await world.until(() => world.operator.node.cordoned);
    const before = looks();
    world.restart();
    await world.until(() => world.asked('reboot') === 1);
    expect(looks()).toBe(before);
  });

  test('nor another download, though the look was the last thing that the host was asked for', async () => {
    await waiting();
    world.operator.drainMs = 10 * MINUTE_MS;
    itsTurn();
    await world.until(() => world.operator.node.cordoned);
    expect(looks()).toBe(2);
    world.host.inject('repository-gone', { forMs: 5 * MINUTE_MS });
    world.restart();
    await world.until(() => world.updated);
    expect([looks(), world.asked('prepare-update'), reports(world)]).toEqual([2, 1, []]);
  });
});
