import { beforeEach, describe, expect, test } from '@jest/globals';
import { HOLD_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { reports, staged, unplannedReboot } from './hand.ts';
import { build, world } from './stage.ts';

const HOUR_MS = 3_600_000;

/** At rest on 1.39.0, which it has just finished. Nothing starts by itself. */
async function finished(): Promise<void> {
  build();
  await world.until(() => world.updated);
  world.operator.obeying = false;
}

async function rollBack(): Promise<void> {
  expect(world.host.rollBack()).toBeUndefined();
  await unplannedReboot(world);
  expect(world.host.version).toBe('1.38.0');
}

const held = (by: string | null): Promise<unknown> =>
  world.operator.transport.request({
    method: 'PATCH',
    path: '/api/v1/nodes/n1',
    body: { metadata: { annotations: { [HOLD_ANNOTATION]: by } } },
    contentType: 'application/merge-patch+json',
  });

const said = () => {
  const { crash_count: crashes, last_failure: failure, failed_versions: failed } = world.operator.status;
  return { crashes, reason: failure?.reason, version: failure?.version, failed };
};
const NOTHING = { crashes: 0, reason: undefined, version: undefined, failed: undefined };

describe('a node that has finished an update', () => {
  beforeEach(finished);

  test('remembers it', () => {
    expect(world.operator.status.finished).toEqual({
      version: '1.39.0',
      at: expect.any(String),
      boot_id: world.host.boot?.id,
      unasked_boots: 0,
    });
  });

  test.each([0, 48])('and boots its earlier version %d hours later is Reverted, at rest', async (hours) => {
    await world.advance(hours * HOUR_MS);
    await rollBack();
    expect(said()).toEqual({ crashes: 1, reason: 'Reverted', version: '1.39.0', failed: ['1.39.0'] });
    expect(world.operator.status).toMatchObject({
      current_state: 'Idle',
      current_version: '1.38.0',
      last_failure: { message: expect.stringContaining('has booted 1.38.0') },
    });
    expect(world.operator.status.finished).toBeUndefined();
    expect(reports(world)).toEqual([]);
    await world.advance(HOUR_MS);
    // It goes on to say what it is offered.
    expect([world.operator.status.target_version, world.operator.status.crash_count]).toEqual(['1.39.0', 1]);
  });

  test('says so once, however often it boots, and forgets it once it has finished the version again', async () => {
    await rollBack();
    await unplannedReboot(world);
    expect(said().crashes).toBe(1);
    world.operator.obeying = true;
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.updated);
    expect(said()).toEqual(NOTHING);
    expect(world.operator.status.finished?.version).toBe('1.39.0');
  });

  test('and is held is not blamed: a person who goes back holds the node first', async () => {
    await held('ops: 1.39.0 breaks the shop');
    await rollBack();
    expect(said()).toEqual(NOTHING);
    await held(null);
    await unplannedReboot(world);
    expect(said()).toEqual(NOTHING);
  });

  test('and boots twice within an hour of that is Unstable, and counts while it runs the version', async () => {
    await unplannedReboot(world);
    expect(said()).toEqual(NOTHING);
    await unplannedReboot(world);
    expect(said()).toEqual({ crashes: 1, reason: 'Unstable', version: '1.39.0', failed: ['1.39.0'] });
    await unplannedReboot(world);
    await world.advance(HOUR_MS);
    expect(said()).toEqual({ crashes: 1, reason: 'Unstable', version: '1.39.0', failed: ['1.39.0'] });
  });

  test('and boots once within the hour, and any number of times later, is not Unstable', async () => {
    await unplannedReboot(world);
    await world.advance(HOUR_MS);
    for (const _ of [1, 2, 3]) await unplannedReboot(world);
    expect(said()).toEqual(NOTHING);
    expect(world.operator.status.finished).toMatchObject({ boot_id: world.host.boot?.id, unasked_boots: 1 });
  });

  test('and is held is not Unstable either', async () => {
    await held('ops');
    for (const _ of [1, 2, 3]) await unplannedReboot(world);
    expect(said()).toEqual(NOTHING);
  });

  test('and goes back by an update, because it is locked to what it ran, has done what it was asked', async () => {
    world.host.inject('downgrade');
    world.operator.obeying = true;
    await world.until(() => world.idle && world.operator.status.current_version === '1.37.0');
    await world.advance(HOUR_MS);
    expect(said()).toEqual(NOTHING);
    expect(world.operator.status.finished?.version).toBe('1.37.0');
  });

  test('and boots unasked during a further update counts for that update', async () => {
    world.releases.publish({ version: '1.40.0' });
    world.host.inject('boot');
    world.operator.obeying = true;
    await world.until(() => world.operator.status.crash_count === 1 && world.idle);
    world.operator.obeying = false;
    await world.advance(10_000);
    expect(said()).toMatchObject({ crashes: 1, reason: 'BootFailed', failed: ['1.40.0'] });
    expect(world.operator.status.finished).toMatchObject({ version: '1.39.0', unasked_boots: 0 });
    await unplannedReboot(world);
    expect(world.operator.status.finished).toMatchObject({ unasked_boots: 1 });
  });

  test('and goes back during a further update is Reverted once that update is over', async () => {
    world.host.inject('repository-gone');
    world.operator.want(staged('1.40.0'));
    await rollBack();
    await world.until(() => reports(world).length === 1);
    expect(said()).toMatchObject({ reason: 'HostFailed', failed: undefined });
    world.operator.want({ state: 'Idle', version: '1.40.0' });
    await world.until(() => said().reason === 'Reverted');
    expect(said()).toMatchObject({ crashes: 2, version: '1.39.0', failed: ['1.39.0'] });
  });

  test.each([-48, 48])('and boots twice by a clock that is %d hours wrong is not Unstable', async (hours) => {
    world.wallErrorMs = hours * HOUR_MS;
    for (const _ of [1, 2, 3]) await unplannedReboot(world);
    expect(said()).toEqual(NOTHING);
  });

  test('and boots twice on a version that was installed by hand is neither Reverted nor Unstable', async () => {
    world.operator.overwrite({ finished: { ...world.operator.status.finished!, version: '1.38.5' } });
    for (const _ of [1, 2, 3]) await unplannedReboot(world);
    expect(said()).toEqual(NOTHING);
  });

  test('is Reverted once the apiserver can be reached again', async () => {
    world.operator.answer = (ask) => (ask === 'putStatus' ? { kind: 'again', message: 'ECONNREFUSED' } : undefined);
    await rollBack();
    expect(said()).toEqual(NOTHING);
    world.operator.answer = () => undefined;
    await world.until(() => said().crashes === 1);
  });
});

test('a cluster that drops the finished update gets no Reverted, and the offer as ever', async () => {
  build({ drops: ['finished'] });
  await world.until(() => world.updated);
  world.operator.obeying = false;
  await rollBack();
  await world.until(() => world.operator.status.target_version === '1.39.0');
  expect(said()).toEqual(NOTHING);
});
