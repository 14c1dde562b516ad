import { afterEach, describe, expect, test } from '@jest/globals';
import { POLICIES_PATH } from '../../runtime/api/resources.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

/** A policy that wants a drain to wait for room says so to the apiserver, which looks; and what is waited for is told. */

let stage: Stage;
afterEach(() => stage.end());

const MINUTE = 60_000;
const LACK = '14 CPU needed, 9 free';

/** `a` is told to drain under a policy. */
async function toldToDrain(capacity: 'warn' | 'wait', more: object = {}): Promise<void> {
  stage = await Stage.with('a', 'b');
  await definePolicies(stage, { all: { nodeSelector: {}, maxConcurrent: 1, capacity, ...more } });
  await stage.pass(31_000);
  stage.start();
  await stage.pass(MINUTE);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(10_000);
}

const lacking = (blocked_by: readonly string[] = [`NoRoom: ${LACK}`]): Promise<unknown> =>
  stage.report('a', { drain: { started_at: '2026-01-01T00:00:01Z', pods_left: 1, blocked_by: [...blocked_by] } });
const specOf = async (name: string) => (await stage.shadows.get(`brs-${name}`))!.spec;
const saidOf = async (name: string) => (await stage.shadows.get(`brs-${name}`))!.status?.conditions?.[0];

test('without it, the spec says nothing of room', async () => {
  await toldToDrain('warn');
  expect(await specOf('a')).not.toHaveProperty('capacity');
});

describe('a node whose drain waits for room', () => {
  test('says so, leaves its permit to a node that waits, and says the same while it is left alone', async () => {
    await toldToDrain('wait');
    expect(await specOf('a')).toMatchObject({ state: 'RebootedIntoUpdate', capacity: 'wait' });
    await lacking();
    await stage.pass(MINUTE);
    expect(await saidOf('a')).toMatchObject({
      reason: 'NoRoom',
      message: `there is no room for its pods elsewhere: ${LACK}`,
    });
    await stage.pass(MINUTE + 1_000);
    expect(await specOf('a')).toMatchObject({ state: 'Idle', version: '1.1.0' });
    expect((await specOf('a')).capacity ?? null).toBeNull();
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(30_000);
    expect(await stage.permits()).toEqual(['brs-b']);
    expect(await saidOf('a')).toMatchObject({ reason: 'NoRoom' });
  });

  test('is blocked by its budget too, where that is so', async () => {
    await toldToDrain('wait', { maxConcurrent: 'unlimited' });
    await lacking([`NoRoom: ${LACK}`, 'PodDisruptionBudget shop/web (pod shop/web-1)']);
    await stage.pass(10_000);
    expect(await saidOf('a')).toMatchObject({ reason: 'DrainBlocked' });
  });

  test.each([
    ['says so no more', { capacity: 'warn' }],
    ['is paused', { paused: true }],
  ])('goes on as it likes once its policy %s', async (_, change) => {
    await toldToDrain('wait');
    await lacking();
    await stage.patch(`${POLICIES_PATH}/all`, { spec: change });
    await stage.pass(10_000);
    const { state, capacity } = await specOf('a');
    expect([state, capacity ?? null]).toEqual(['paused' in change ? 'Idle' : 'RebootedIntoUpdate', null]);
  });

  test('goes on once its policy is gone, and not while that may only be made anew', async () => {
    await toldToDrain('wait');
    await lacking();
    await stage.delete(`${POLICIES_PATH}/all`);
    await stage.pass(20_000);
    expect(await specOf('a')).toMatchObject({ capacity: 'wait' });
    await stage.pass(MINUTE);
    expect((await specOf('a')).capacity ?? null).toBeNull();
  });
});

test('a node whose drain has begun without room says so until it is back', async () => {
  await toldToDrain('warn');
  await stage.mark('a');
  await stage.report('a', {
    no_room: LACK,
    drain: { started_at: '2026-01-01T00:00:01Z', pods_left: 1, blocked_by: [] },
  });
  await stage.pass(10_000);
  expect(await saidOf('a')).toMatchObject({ reason: 'Updating', message: expect.stringContaining(`NoRoom: ${LACK}`) });
  await stage.report('a', { current_version: '1.1.0', current_state: 'RebootedIntoUpdate' });
  await stage.pass(10_000);
  expect(await saidOf('a')).not.toMatchObject({ message: expect.stringContaining('NoRoom') });
});
