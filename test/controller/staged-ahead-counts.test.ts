import { afterEach, expect, test } from '@jest/globals';
import type { Status } from '../../runtime/api/shadow/model.ts';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import { disturbedBy } from '../../runtime/controller/telling/notifications/disturbed.ts';
import { Stage } from './stage.ts';

/** What counts while `a` is updated, and `b` prepares its update ahead, at rest. */

let stage: Stage;
afterEach(() => stage.end());

async function preparing(...names: readonly string[]): Promise<Manager> {
  stage = await Stage.with(...names);
  for (const name of names) await stage.report(name, { staged: {} });
  const controller = stage.start();
  await stage.pass();
  return controller;
}

const staged = (name: string, more: Partial<NonNullable<Status['staged']>> = {}): Promise<void> =>
  stage.report(name, { staged: { version: '1.1.0', boot_id: 'boot-1', ...more } });

const verdictOn = (controller: Manager, name: string) =>
  controller.preview().verdicts.find(({ node }) => node === name);

const metric = async (controller: Manager, name: string): Promise<number> =>
  Number(
    (await controller.metrics.registry.metrics())
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.split(' ')[1],
  );

test('an update is in progress from its permit on, not from its download', async () => {
  const controller = await preparing('a', 'b');
  await staged('b');
  await stage.pass();
  expect(await metric(controller, 'brupop_controller_slots')).toBe(1);
  expect(['a', 'b'].map((name) => verdictOn(controller, name)?.step)).toEqual(['StagedAndPerformedUpdate', undefined]);
  expect(verdictOn(controller, 'b')?.ahead).toEqual({ version: '1.1.0', isStaged: true });
});

test('the step of staging lasts seconds where the version was staged ahead', async () => {
  const controller = await preparing('a', 'b');
  const name = 'brupop_controller_step_duration_seconds_sum{step="StagedAndPerformedUpdate"}';
  await staged('b');
  await stage.pass(200_000);
  await stage.update('a');
  const ofA = await metric(controller, name);
  await stage.pass();
  await stage.update('b');
  expect([Math.round(ofA / 100), (await metric(controller, name)) - ofA]).toEqual([2, expect.closeTo(1, -1)]);
});

test('staging takes too long under a permit alone, and staging ahead blames nobody', async () => {
  const controller = await preparing('a', 'b');
  await staged('b', { error: 'no space left' });
  await stage.pass(3 * 3_600_000 - 60_000);
  expect(verdictOn(controller, 'b')).toMatchObject({ reason: 'WaitingForSlot', ahead: { error: 'no space left' } });
  await stage.pass(120_000);
  const late = (await stage.told()).filter(({ reason }) => reason === 'ProgressDeadlineExceeded');
  expect(late.map(({ involvedObject }) => involvedObject.name)).toEqual(['brs-a']);
  // The first has given it its place.
  expect(['a', 'b'].map((name) => verdictOn(controller, name)?.reason)).toEqual(['WaitingForSlot', 'Updating']);
  expect(controller.preview().releases.map(({ failed }) => failed)).toEqual([0, 0]);
});

test('a failure counts though its Node is gone', async () => {
  const controller = await preparing('a', 'b');
  await stage.askForReboot('a');
  await stage.pass();
  await stage.transport.request({ method: 'DELETE', path: '/api/v1/nodes/a' });
  await stage.pass(60_000);
  const failed = (): readonly number[] => controller.preview().releases.map((one) => one.failed);
  expect(Math.max(...failed())).toBe(1);
});

test('a node is silenced from its drain on', async () => {
  const controller = await preparing('a', 'b');
  const silenced = (): readonly string[] => {
    const planned = controller.preview();
    return [...disturbedBy({ plan: planned, snapshot: planned.snapshot }).begun.values()];
  };
  await staged('b');
  await stage.pass();
  expect(silenced()).toEqual([]);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  expect((await stage.shadows.get(shadowName('a')))?.spec.state).toBe('RebootedIntoUpdate');
  expect(silenced()).toEqual(['a']);
});
