import { describe, expect, test } from '@jest/globals';
import type { AgentStatus, Status } from '../../runtime/api/shadow/model.ts';
import { World } from './world.ts';

const OURS = { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: '', time: '2026-01-01T00:00:00Z' } as const;

/** All that the older implementation's agent says. */
const older = (said: Partial<AgentStatus>): AgentStatus => ({
  current_version: '1.38.0',
  target_version: '1.39.0',
  current_state: 'ErrorReset',
  crash_count: 1,
  state_transition_failure_timestamp: '2026-01-02T00:00:00Z',
  ...said,
});

/** The status after an agent of ours has left `before`, and an older one has said `said`, twice. */
async function after(before: Partial<Status>, said: AgentStatus): Promise<Partial<Status>> {
  const world = await World.create();
  await world.setStatus(before);
  const { service } = world.replica();
  for (let time = 0; time < 2; time++)
    await service.putStatus({ agent: await world.agent(), status: said, version: undefined });
  return (await world.shadow()).status ?? {};
}

describe('an agent of the older implementation that follows one of ours', () => {
  test('gets its own failures recorded beside the one that ours left', async () => {
    const status = await after({ failed_versions: ['1.30.0'], last_failure: OURS, crash_count: 0 }, older({}));
    expect(status).toMatchObject({ crash_count: 1, failed_versions: ['1.30.0', '1.39.0'] });
    expect(status.last_failure ?? null).toBeNull();
  });

  test('is on record where it fails again', async () => {
    const before = { failed_versions: ['1.30.0'], last_failure: OURS, crash_count: 3 };
    expect((await after(before, older({ crash_count: 4 }))).failed_versions).toEqual(['1.30.0', '1.39.0']);
  });

  test('is blamed for nothing that it did not say: a status without a failure leaves the record', async () => {
    const before = { failed_versions: ['1.30.0'], last_failure: OURS, crash_count: 1 };
    const said = older({ current_state: 'Idle' });
    expect(await after(before, said)).toMatchObject({ failed_versions: ['1.30.0'], last_failure: OURS });
  });

  test('does not report failed looks, so those that ours reported are cleared', async () => {
    const check = { failing_since: OURS.time, succeeded_at: null, error: 'no answer' };
    expect((await after({ check }, older({ current_state: 'Idle' }))).check ?? null).toBeNull();
  });

  test('does not say what ours has set on the host: it stays there, and so does the only record of it', async () => {
    const version_wish = { ours: { version_lock: '1.39.0' }, before: { version_lock: 'latest' } };
    expect((await after({ version_wish }, older({ current_state: 'Idle' }))).version_wish).toMatchObject(version_wish);
  });

  test('does not say what it has finished: what ours has finished is not taken for it', async () => {
    const finished = { version: '1.40.0', at: OURS.time, boot_id: 'boot-1', unasked_boots: 0 };
    const left = async (state: 'Idle' | 'RebootedIntoUpdate') =>
      (await after({ finished }, older({ current_state: state }))).finished ?? null;
    expect(await left('RebootedIntoUpdate')).toBeNull();
    expect(await left('Idle')).toEqual(finished);
  });

  test('begins its attempt without the record that an attempt before has left', async () => {
    const reboot = { boot_id: 'boot-1', version: '1.39.0', requested_at: OURS.time };
    const said = older({ current_state: 'StagedAndPerformedUpdate' });
    expect((await after({ current_state: 'Idle', reboot }, said)).reboot ?? null).toBeNull();
    const again = { current_state: 'StagedAndPerformedUpdate', reboot } as const;
    expect((await after(again, said)).reboot).toMatchObject(reboot);
  });

  test('keeps no record of a reboot: its drain ends the probe that says that nobody asks for one, and no request', async () => {
    const drained = async (requested_at: string | null, bootId: string | null): Promise<Status | null | undefined> => {
      const world = await World.create();
      await world.setStatus({ reboot: { boot_id: 'boot-1', version: '1.39.0', requested_at } });
      await world.replica().service.cordonAndDrain({ ...(await world.agent()), bootId });
      return (await world.shadow()).status;
    };
    expect((await drained(null, null))?.reboot ?? null).toBeNull();
    expect((await drained(OURS.time, null))?.reboot).toMatchObject({ requested_at: OURS.time });
    expect((await drained(null, 'boot-1'))?.reboot).toMatchObject({ boot_id: 'boot-1' });
  });

  test('makes up for a failure by running the version', async () => {
    const before = { failed_versions: ['1.30.0', '1.39.0'], last_failure: OURS, crash_count: 1 };
    const said = older({ current_version: '1.39.0', current_state: 'RebootedIntoUpdate' });
    expect((await after(before, said)).failed_versions).toEqual(['1.30.0']);
  });
});

test('an agent of ours says itself what failed', async () => {
  const said = older({ last_failure: OURS, failed_versions: ['1.30.0'], reboot: null });
  expect((await after({ failed_versions: ['1.30.0'] }, said)).failed_versions).toEqual(['1.30.0']);
});

test('an agent says what it has set on its host, and nothing is left of what it has said before', async () => {
  const all = { version_lock: '1.39.0', ignore_waves: true };
  const before = { version_wish: { ours: all, before: all, refused: 'HostFailed', detail: 'no answer' } };
  const version_wish = { ours: { version_lock: '1.40.0' }, before: { version_lock: 'latest' } };
  const said = (told: AgentStatus['version_wish']): AgentStatus => older({ last_failure: null, version_wish: told });
  const { ours, before: was, refused } = (await after(before, said(version_wish))).version_wish ?? {};
  expect([ours?.ignore_waves ?? null, was?.ignore_waves ?? null, refused ?? null]).toEqual([null, null, null]);
  expect([ours?.version_lock, was?.version_lock]).toEqual(['1.40.0', 'latest']);
  expect((await after(before, said(null))).version_wish ?? null).toBeNull();
});
