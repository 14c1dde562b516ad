import { afterEach, describe, expect, test } from '@jest/globals';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import type { AgentStatus } from '../../runtime/shadow/model.ts';
import { hold, outcome, type Replica, started, World } from '../apiserver/world.ts';
import { World as AgentWorld } from './world.ts';

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

const putting =
  (world: World) =>
  async ({ service }: Replica, status: AgentStatus, version: string): Promise<unknown> =>
    service.putStatus({ agent: await world.agent(), status, version });
const versionOf = async (world: World): Promise<string> => (await world.shadow()).metadata.resourceVersion;

const LATE: Readonly<Record<string, AgentStatus>> = {
  'the record of a reboot': { ...BEFORE, crash_count: 0, reboot: RECORD },
  'an old crash count': BEFORE,
};
const ASLEEP: Readonly<Record<string, (request: KubeRequest) => boolean>> = {
  'before its write': ({ method, path }) => method === 'PATCH' && path.endsWith('/status'),
  'before its look': ({ method, path }) => method === 'GET' && path.endsWith('/brs-n1'),
};

describe.each(Object.entries(ASLEEP))(
  'trace 21: a status that a replica writes late, asleep until then %s',
  (_, when) => {
    test.each(Object.entries(LATE))('does not bring back %s', async (__, status) => {
      const world = await World.create();
      const [paused, other] = [world.replica(), world.replica()];
      const put = putting(world);
      const seen = await versionOf(world);
      const asleep = hold(paused.tap, when);
      const late = started(put(paused, status, seen));
      await asleep.reached();
      await put(other, status, seen);
      await put(other, { ...AFTER, reboot: null }, await versionOf(world));
      await asleep.release();
      expect(await outcome(late)).toBe('409 Conflict');
      const { status: stored } = await world.shadow();
      expect(stored).toMatchObject({ current_state: 'Idle', crash_count: 0 });
      expect(stored?.reboot ?? null).toBeNull();
    });
  },
);

let agent: AgentWorld | undefined;
afterEach(() => agent?.end());

test('trace 21: what an older apiserver wrote late all the same is put right, though it was said before', async () => {
  const world = (agent = new AgentWorld({ older: true }));
  world.operator.holding = true;
  await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
  world.operator.overwrite({ target_version: '1.38.0' });
  await world.advance(150_000);
  expect(world.operator.status.target_version).toBe('1.39.0');
});
