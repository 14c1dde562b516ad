import { beforeEach, describe, expect, test } from '@jest/globals';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { AgentStatus } from '../../../runtime/api/shadow/model.ts';
import { addBudget, addSpare } from '../budgets.ts';
import { World } from '../world.ts';

/** A node with an update is looked at for what its drain would wait for, before anything disturbs it, and once more when that is prepared. */

const WEB = 'PodDisruptionBudget shop/web (pod shop/web-1)';
const staged = { version: '1.39.0', boot_id: 'boot-1' };

let world: World;

beforeEach(async () => {
  world = await World.create();
  await world.addPod('web-1', { labels: { app: 'web' } });
  await addBudget(world, 'web');
});

/** Anew, as an agent comes to say that. */
const put = async (sent: object, { service } = world.replica()) => {
  if ((await world.shadow()).status?.current_state === 'StagedAndPerformedUpdate')
    await world.setStatus({ current_state: 'Idle' });
  const status = { current_version: '1.38.0', target_version: '1.39.0', crash_count: 0, ...sent };
  await service.putStatus({ agent: await world.agent(), status, version: undefined });
  return (await world.shadow()).status?.preflight ?? undefined;
};

describe.each<[string, Pick<AgentStatus, 'current_state' | 'staged'>]>([
  ['at rest that an update is offered', { current_state: 'Idle', staged: {} }],
  ['at rest that it is prepared', { current_state: 'Idle', staged }],
  ['with its permit that it is prepared', { current_state: 'StagedAndPerformedUpdate' }],
  ['with its permit, where it was prepared before', { current_state: 'StagedAndPerformedUpdate', staged }],
])('a node that says %s', (_when, prepared) => {
  beforeEach(async () => {
    await world.setSpec({ state: prepared.current_state });
    await world.setStatus({ current_state: 'Idle' });
  });

  test('says since when which pods no eviction can move, anew each time', async () => {
    expect(await put(prepared)).toEqual({ looked_at: rfc3339(world.clock.now()), blocked_by: [WEB] });
    await addSpare(world, 'web');
    await world.clock.advance(60_000);
    expect(await put(prepared)).toEqual({ looked_at: rfc3339(world.clock.now()), blocked_by: [] });
  });

  test('says nothing of a drain: none has begun', async () => {
    await put(prepared);
    expect((await world.shadow()).status?.drain ?? null).toBeNull();
  });

  test('costs no list of budgets for each of those that are prepared at the same time', async () => {
    const replica = world.replica();
    for (let times = 0; times < 3; times++) await put(prepared, replica);
    expect(replica.tap.requests.filter(({ path }) => path.endsWith('/poddisruptionbudgets'))).toHaveLength(1);
  });

  test('says that it is where the pods cannot be read, and nothing of them', async () => {
    await put(prepared);
    const refused = { kind: 'refuse', code: 403, reason: 'Denied', message: 'no' } as const;
    world.cluster.disturb({ resource: 'pods', verbs: ['list'] }, refused);
    expect(await put(prepared)).toBeUndefined();
    expect((await world.shadow()).status?.current_state).toBe(prepared.current_state);
  });
});

test('with its permit, what was found stays while its agent goes on, and is looked at once', async () => {
  await world.setStatus({ current_state: 'Idle' });
  const found = await put({ current_state: 'StagedAndPerformedUpdate' });
  const { service, tap } = world.replica();
  const reboot = { boot_id: 'boot-1', version: '1.39.0', requested_at: rfc3339(world.clock.now()) };
  const { status } = await world.shadow();
  const { current_version, target_version, current_state, crash_count } = status!;
  const told = { current_version, target_version, current_state, crash_count, reboot };
  await service.putStatus({ agent: await world.agent(), status: told, version: undefined });
  expect((await world.shadow()).status).toMatchObject({ preflight: found, reboot });
  expect(tap.requests.filter(({ path }) => path.includes('/pods'))).toEqual([]);
});

test.each([
  ['is offered nothing', { current_state: 'Idle', target_version: '1.38.0', staged: {} }],
  ['is back from its reboot', { current_state: 'RebootedIntoUpdate' }],
  ['has failed', { current_state: 'ErrorReset' }],
])('a node that %s is looked at for nothing, and what was found before goes', async (_what, sent) => {
  await world.setSpec({ state: 'Idle' });
  await put({ current_state: 'Idle', staged });
  const replica = world.replica();
  expect(await put(sent, replica)).toBeUndefined();
  expect(replica.tap.requests.filter(({ path }) => path.includes('/pods'))).toEqual([]);
});
