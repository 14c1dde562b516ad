import { expect, test } from '@jest/globals';
import type { AgentStatus } from '../../runtime/shadow/model.ts';
import { hold, outcome, type Replica, started, World } from '../apiserver/world.ts';

const RECORD = { boot_id: 'boot-1', version: '1.39.0', requested_at: '2026-01-01T00:00:00Z' };
const BEFORE: AgentStatus = {
  current_version: '1.38.0',
  target_version: '1.39.0',
  current_state: 'StagedAndPerformedUpdate',
  crash_count: 2,
};
const AFTER: AgentStatus = {
  current_version: '1.39.0',
  target_version: '1.39.0',
  current_state: 'Idle',
  crash_count: 0,
};

// Trace 21.
test('a status that a paused replica writes late brings back neither a record of a reboot nor an old crash count', async () => {
  const world = await World.create();
  const [paused, other] = [world.replica(), world.replica()];
  const put = async ({ service }: Replica, status: AgentStatus, version: string): Promise<unknown> =>
    service.putStatus({ agent: await world.agent(), status, version });
  const version = async (): Promise<string> => (await world.shadow()).metadata.resourceVersion;

  const seen = await version();
  const asleep = hold(paused.tap, ({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
  const late = started(put(paused, { ...BEFORE, reboot: RECORD }, seen));
  await asleep.reached();
  await put(other, { ...BEFORE, reboot: RECORD }, seen);
  await put(other, { ...AFTER, reboot: null }, await version());
  await asleep.release();
  expect(await outcome(late)).toBe('409 Conflict');
  const { status } = await world.shadow();
  expect(status).toMatchObject({ current_state: 'Idle', crash_count: 0 });
  expect(status?.reboot ?? null).toBeNull();
});
