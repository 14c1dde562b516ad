import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Status } from '../../runtime/api/shadow/model.ts';
import type { State } from '../../runtime/api/shadow/states.ts';
import { hold, outcome, SHADOWS, started, World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const reboot = { boot_id: 'boot-1', version: '1.39.0', requested_at: '2026-01-01T00:00:00Z' };
const plain = {
  current_version: '1.38.0',
  target_version: '1.39.0',
  current_state: 'StagedAndPerformedUpdate',
  crash_count: 0,
} as const;

async function versionNow(): Promise<string> {
  return (await world.shadow()).metadata.resourceVersion;
}

/** A status that the agent of `n1` made from the shadow at `version`. */
async function put(
  service: ReturnType<World['replica']>['service'],
  status: object,
  version: string,
  state?: State,
): Promise<Status> {
  return service.putStatus({ agent: await world.agent(), status, version, state });
}

describe('a status that sleeps in a paused replica', () => {
  const failed = { ...plain, current_state: 'ErrorReset', crash_count: 3, reboot: null };

  test.each([
    ['before it looks at the shadow', 'GET'],
    ['before it writes', 'PATCH'],
  ])('%s brings back neither a record of a reboot nor an old count of failures', async (_where, method) => {
    const [paused, second] = [world.replica(), world.replica()];
    const asleep = hold(paused.tap, (request) => request.method === method && request.path.includes('/brs-n1'));
    const late = started(put(paused.service, { ...plain, reboot }, await versionNow()));
    await asleep.reached();
    await put(second.service, { ...plain, reboot }, await versionNow());
    await put(second.service, failed, await versionNow());
    await asleep.release();
    expect(await outcome(late)).toBe('409 Conflict');
    expect((await world.shadow()).status).toMatchObject({ current_state: 'ErrorReset', crash_count: 3 });
    expect((await world.shadow()).status?.reboot).toBeUndefined();
  });

  test('is refused once the update was ended, so that no reboot is recorded then', async () => {
    const { service, tap } = world.replica();
    const asleep = hold(tap, ({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
    const late = started(put(service, { ...plain, reboot }, await versionNow()));
    await asleep.reached();
    await world.setSpec({ state: 'Idle' });
    await asleep.release();
    expect(await outcome(late)).toBe('409 Conflict');
    expect((await world.shadow()).status?.reboot).toBeUndefined();
  });
});

test('a status of an agent that does not say its shadow’s version is merged into the newest', async () => {
  const { service, tap } = world.replica();
  const asleep = hold(tap, ({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
  const status = { ...plain, target_version: '1.40.0' };
  const late = started(service.putStatus({ agent: await world.agent(), status, version: undefined }));
  await asleep.reached();
  const drain = { started_at: '2026-01-01T00:00:00Z', pods_left: 3, blocked_by: [] };
  await world.setStatus({ drain });
  await asleep.release();
  expect(await outcome(late)).toBe('ok');
  expect((await world.shadow()).status).toMatchObject({ target_version: '1.40.0', drain });
});

describe('a status that says its shadow’s version, of an agent whose shadow this replica has seen', () => {
  const atRest = { ...plain, current_state: 'Idle', failed_versions: null } as const;

  async function seen() {
    const replica = world.replica();
    await put(replica.service, atRest, await versionNow());
    replica.tap.requests.length = 0;
    return replica;
  }
  const asked = ({ tap }: Awaited<ReturnType<typeof seen>>): readonly string[] =>
    tap.requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);

  test('is one request, even if others wrote the shadow meanwhile', async () => {
    const replica = await seen();
    await world.setSpec({ state: 'RebootedIntoUpdate', version: '1.39.0' });
    await put(replica.service, { ...atRest, current_state: 'RebootedIntoUpdate' }, await versionNow());
    expect(asked(replica)).toEqual(['PATCH status']);
    expect((await world.shadow()).status?.current_state).toBe('RebootedIntoUpdate');
  });

  test('is refused where the shadow has changed since, and where it is gone', async () => {
    const replica = await seen();
    const before = await versionNow();
    await world.setSpec({ state: 'Idle', version: '1.39.0' });
    const late = { ...atRest, target_version: '1.40.0' };
    expect(await outcome(started(put(replica.service, late, before)))).toBe('409 Conflict');
    expect((await world.shadow()).status?.target_version).toBe('1.39.0');
    await world.delete(`${SHADOWS}/brs-n1`);
    const gone = replica.service.putStatus({ agent: await world.agent(), status: late, version: before });
    expect(await outcome(started(gone))).toBe('409 NotAllowed');
  });

  const drain = { started_at: '2026-01-01T00:00:00Z', pods_left: 0, blocked_by: [] };
  const told = { ...plain, failed_versions: null } as const;

  test.each([
    ['that it has reached already', undefined, ['GET brs-n1', 'PATCH status']],
    ['that it says it had reached, without reading it', 'StagedAndPerformedUpdate', ['PATCH status']],
  ] as const)(
    'keeps the progress of its drain where it records the reboot, in the state %s',
    async (_, state, asks) => {
      const replica = await seen();
      await put(replica.service, told, await versionNow());
      await world.setStatus({ drain });
      replica.tap.requests.length = 0;
      await put(replica.service, { ...told, reboot }, await versionNow(), state);
      expect((await world.shadow()).status).toMatchObject({ drain, reboot });
      expect(asked(replica)).toEqual(asks);
    },
  );

  test('looks for what its drain has displaced without reading that again, where it has just come back', async () => {
    const replica = await seen();
    const owner = { kind: 'ReplicaSet', namespace: 'shop', name: 'web', uid: 'gone', ready: 1 };
    await world.setStatus({ displaced: { owners: [owner], missing: [] } });
    const back = { ...told, current_version: '1.39.0', current_state: 'RebootedIntoUpdate' } as const;
    await put(replica.service, back, await versionNow(), 'StagedAndPerformedUpdate');
    await world.setSpec({ state: 'MonitoringUpdate', version: '1.39.0' });
    replica.tap.requests.length = 0;
    await put(
      replica.service,
      { ...back, current_state: 'MonitoringUpdate' },
      await versionNow(),
      'RebootedIntoUpdate',
    );
    expect((await world.shadow()).status?.displaced).toBeUndefined();
    expect(asked(replica)).toEqual(['GET web', 'PATCH status']);
  });

  test('ends the drain of an earlier attempt, without reading it, where it says that it was at rest', async () => {
    const replica = await seen();
    await world.setStatus({ drain });
    replica.tap.requests.length = 0;
    await put(replica.service, told, await versionNow(), 'Idle');
    expect((await world.shadow()).status?.drain).toBeUndefined();
    expect(asked(replica)).toEqual(['GET pods', 'PATCH status']);
  });
});
