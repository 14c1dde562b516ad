import { describe, expect, test } from '@jest/globals';
import type { FaultName } from '../../lab/sim/hosts/faults.ts';
import { seeds, stride } from '../random.ts';
import { everyMoment } from './moments.ts';
import { reports, staged } from './hand.ts';
import { offered, world } from './stage.ts';
import type { World } from './world.ts';

const [seed = 1] = seeds(1);
/** Each fifth moment, others in each run, and at night all. */
const FIFTH = stride(5, seed);

/** The controller goes on, and wants `version` first. */
function want(version: string): void {
  world.operator.holding = false;
  world.operator.want(staged(version));
}

/** By the host's settings API, as an administrator does it. */
async function lock(version: string): Promise<void> {
  const body = JSON.stringify({ updates: { 'version-lock': version } });
  await world.host.handle({ method: 'PATCH', path: '/settings?tx=test', body });
  await world.host.handle({ method: 'POST', path: '/tx/commit_and_apply?tx=test' });
  await world.advance(1000);
}

const reboots = (): number => world.host.intervals.filter(({ action }) => action === 'reboot').length;

describe('a download that took another version than the status names', () => {
  test('because a release came out in between ends the attempt without a failure or an activation, and the new offer is followed', async () => {
    await offered();
    world.host.inject('released');
    want('1.39.0');
    await world.until(() => world.operator.status.target_version === '1.40.0');
    expect(reports(world)).toEqual([]);
    await world.until(() => reports(world).length > 0, 130_000);
    expect(world.operator.status).toMatchObject({ crash_count: 0, last_failure: { reason: 'TargetChanged' } });
    expect(world.operator.status.failed_versions).toBeUndefined();
    expect(world.asked('activate-update')).toBe(0);
    await world.until(() => world.idle && world.operator.status.current_version === '1.40.0');
    expect([reports(world).length, reboots(), world.asked('prepare-update')]).toEqual([1, 1, 2]);
  });

  test('once only is put right by another download', async () => {
    await offered();
    world.host.inject('torn-settings', { uses: 1 });
    want('1.39.0');
    await world.until(() => world.updated);
    expect([reports(world).length, reboots(), world.asked('prepare-update')]).toEqual([0, 1, 2]);
  });

  test('and does so again after the status was renewed, is a failure of the host and of no release', async () => {
    await offered();
    world.host.inject('torn-settings');
    want('1.39.0');
    await world.until(() => world.restored);
    expect(world.operator.status).toMatchObject({
      crash_count: 1,
      last_failure: { reason: 'HostFailed', message: expect.stringContaining('1.37.0') },
    });
    expect(world.operator.status.failed_versions).toBeUndefined();
    expect([world.asked('prepare-update'), world.asked('activate-update')]).toEqual([2, 0]);
    // What is on the disk is not what the status goes on to name, also for the next attempt.
    world.host.clear('torn-settings');
    want('1.39.0');
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(3);
  });

  test('and fails at that is not blamed on the version that was wanted', async () => {
    await offered();
    world.host.inject('torn-settings');
    world.host.inject('prepare');
    want('1.39.0');
    await world.until(() => world.restored);
    expect(world.operator.status.last_failure?.reason).toBe('HostFailed');
    expect(world.operator.status.failed_versions).toBeUndefined();
  });

  test('or none, is no success: an update that is no longer required ends without a failure', async () => {
    await offered();
    await lock('1.38.0');
    want('1.39.0');
    await world.until(() => reports(world).length > 0);
    await world.until(() => world.idle);
    expect(world.operator.status).toMatchObject({
      crash_count: 0,
      target_version: '1.38.0',
      last_failure: { reason: 'TargetChanged' },
    });
    expect([world.asked('activate-update'), reboots()]).toEqual([0, 0]);
  });
});

test(`an agent that is killed at moments (seed ${seed}) of such a download boots the wanted version, and no other`, async () => {
  const prepare = ({ host }: World): void => host.inject('torn-settings', { uses: 1 });
  const worlds = await everyMoment({ disturb: (each) => each.restart(), prepare, stride: FIFTH });
  expect(worlds.length).toBeGreaterThan(Math.floor(150 / FIFTH.step));
  for (const each of worlds) {
    expect([each.updated, reports(each)]).toEqual([true, []]);
    expect(each.host.intervals.filter(({ action }) => action === 'reboot')).toHaveLength(1);
    expect(each.undrainedReboots).toEqual([]);
  }
});

describe('what is in the permit', () => {
  test.each<[string, FaultName]>([
    ['took another version', 'torn-settings'],
    ['failed, and left nothing', 'prepare'],
  ])(
    'is looked at after the drain as well: what somebody prepared in it, and that %s, is prepared again',
    async (_, fault) => {
      await offered();
      world.operator.drainMs = 300_000;
      want('1.39.0');
      await world.until(() => world.operator.node.cordoned);
      world.host.inject(fault, { uses: 1 });
      await world.host.handle({ method: 'POST', path: '/actions/prepare-update' });
      await world.until(() => world.updated);
      expect([reports(world).length, reboots()]).toEqual([0, 1]);
    },
  );

  test('is replaced where another version is wanted meanwhile', async () => {
    await offered();
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    world.releases.publish({ version: '1.40.0' });
    world.operator.overwrite({ current_state: 'Idle' });
    want('1.40.0');
    await world.until(() => world.idle && world.operator.status.current_version === '1.40.0');
    expect([reports(world).length, world.asked('prepare-update')]).toEqual([0, 2]);
  });

  test('is downloaded again where another version was written over it', async () => {
    await offered();
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    world.releases.publish({ version: '1.40.0' });
    world.host.inject('prepare');
    world.operator.want(staged('1.40.0'));
    world.operator.overwrite({ current_state: 'Idle' });
    await world.until(() => world.operator.status.last_failure?.reason === 'PrepareFailed');
    world.host.clear('prepare');
    world.releases.withdraw('1.40.0');
    world.operator.want({ state: 'Idle', version: '1.40.0' });
    await world.until(() => world.idle && world.operator.status.target_version === '1.39.0');
    want('1.39.0');
    await world.until(() => world.updated);
    expect(reboots()).toBe(1);
  });

  test('is not downloaded again for a drain that failed', async () => {
    await offered();
    let drains = 0;
    world.operator.answer = (ask) =>
      ask === 'cordonAndDrain' && drains++ === 0 ? { kind: 'deadline', message: '504' } : undefined;
    want('1.39.0');
    await world.until(() => world.restored);
    const looks = world.asked('refresh-updates');
    await world.until(() => world.asked('refresh-updates') > looks);
    await world.advance(10_000);
    want('1.39.0');
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(1);
  });

  test('is taken from the status where the host names it differently, which is logged', async () => {
    await offered();
    world.host.inject('reworded');
    want('1.39.0');
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(1);
    const lines = world.logged.filter((line) => line.includes('does not say what it has prepared'));
    expect(lines).toEqual([expect.stringContaining('The image is 1.39.0')]);
  });
});
