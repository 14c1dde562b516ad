import { beforeEach, describe, expect, test } from '@jest/globals';
import { disownCordonPatch } from '../../runtime/api/marks/patches.ts';
import { settle } from '../../lab/sim/clock.ts';
import { outcome, type Replica, SHADOWS, World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await World.create();
});

const record = (boot_id: string, requested_at: string | null = '2026-01-01T00:00:00Z') => ({
  reboot: { boot_id, version: '1.39.0', requested_at },
});

describe('a drain is refused', () => {
  test.each(['Idle', 'StagedAndPerformedUpdate', 'MonitoringUpdate'] as const)('while spec is %s', async (state) => {
    await world.setSpec({ state });
    expect(await outcome(world.replica().service.cordonAndDrain(await world.agent()))).toBe('409 NotAllowed');
    expect((await world.node()).spec?.unschedulable).toBeUndefined();
    expect(await world.marks()).toBeUndefined();
  });

  test.each(['RebootedIntoUpdate', 'ErrorReset'] as const)('once %s is reported', async (current_state) => {
    await world.setStatus({ current_state });
    expect(await outcome(world.replica().service.cordonAndDrain(await world.agent()))).toBe('409 NotAllowed');
  });

  test('after the reboot that was requested', async () => {
    await world.setStatus(record('boot-0'));
    expect(await outcome(world.replica().service.cordonAndDrain(await world.agent()))).toBe('409 NotAllowed');
  });

  test('for an agent whose node was replaced under its name', async () => {
    const agent = { ...(await world.agent()), nodeUid: 'another' };
    expect(await outcome(world.replica().service.cordonAndDrain(agent))).toBe('409 NotAllowed');
  });

  test('where the shadow is the agent’s, but the node another of its name', async () => {
    const uid = await nodeUid('n2');
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid }];
    await world.patch(`${SHADOWS}/brs-n1`, { metadata: { ownerReferences } });
    const agent = { ...(await world.agent()), nodeUid: uid };
    expect(await outcome(world.replica().service.cordonAndDrain(agent))).toBe('409 NotAllowed');
  });

  test('where the shadow belongs to an earlier node of that name', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: await nodeUid('n2') }];
    await world.patch(`${SHADOWS}/brs-n1`, { metadata: { ownerReferences } });
    const { service } = world.replica();
    const agent = await world.agent();
    const status = { current_version: '1.39.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0 };
    expect(await outcome(service.cordonAndDrain(agent))).toBe('409 NotAllowed');
    expect(await outcome(service.uncordon(agent))).toBe('409 NotAllowed');
    expect(await outcome(service.excludeFromLb(agent))).toBe('409 NotAllowed');
    expect(await outcome(service.putStatus({ agent, status, version: undefined }))).toBe('409 NotAllowed');
    expect(await outcome(service.createShadow(agent))).toBe('409 NotAllowed');
  });
});

async function nodeUid(name: string): Promise<string> {
  await world.addNode(name);
  return (await world.node(name)).metadata.uid;
}

describe('a drain is allowed', () => {
  test('while the reboot that was requested has not happened', async () => {
    await world.setStatus(record('boot-1'));
    await world.replica().service.cordonAndDrain(await world.agent());
  });

  test('beside a probe of an earlier boot', async () => {
    await world.setStatus(record('boot-0', null));
    await world.replica().service.cordonAndDrain(await world.agent());
  });
});

describe('marks', () => {
  test('of another boot are renewed, and keep what they own', async () => {
    const { service } = world.replica();
    await service.cordonAndDrain(await world.agent());
    const before = await world.marks();
    await world.clock.advance(60_000);
    await service.cordonAndDrain(await world.agent('n1', 'boot-2'));
    const after = await world.marks();
    expect(after).toMatchObject({ boot: 'boot-2', since: '2026-01-01T00:01:00Z', owns: before?.owns });
    expect(after?.id).not.toBe(before?.id);
  });

  test('are joined by an agent that does not say its boot', async () => {
    const { service } = world.replica();
    await service.cordonAndDrain(await world.agent());
    const before = await world.marks();
    await service.cordonAndDrain(await world.agent('n1', null));
    expect((await world.marks())?.id).toBe(before?.id);
  });

  test('own the cordon again once a replica had to cordon again', async () => {
    const { service } = world.replica();
    await service.cordonAndDrain(await world.agent());
    await world.setCordon(false);
    await world.patch('/api/v1/nodes/n1', {
      metadata: { annotations: disownCordonPatch(await world.node())!.metadata.annotations },
    });
    expect((await world.marks())?.owns).not.toContain('cordon');
    await service.cordonAndDrain(await world.agent());
    expect((await world.marks())?.owns).toContain('cordon');
  });
});

describe('an uncordon', () => {
  async function drained(): Promise<ReturnType<World['replica']>['service']> {
    const { service } = world.replica();
    await service.cordonAndDrain(await world.agent());
    return service;
  }

  test('on a node whose image names no version is not checked for it', async () => {
    const service = await drained();
    await world.patch('/api/v1/nodes/n1/status', { status: { nodeInfo: { osImage: 'Debian' } } });
    await service.uncordon(await world.agent());
    expect((await world.node()).spec?.unschedulable).toBeUndefined();
  });
});

describe('a shadow', () => {
  test('is not created for a node that is gone, though its token is still good', async () => {
    const agent = await world.agent();
    const { service } = world.replica();
    expect(await outcome(service.createShadow({ ...agent, nodeUid: 'earlier' }))).toBe('409 NotAllowed');
  });

  test('is created, owned by the Node, once', async () => {
    await world.addNode('n2');
    const { service } = world.replica();
    const agent = await world.agent('n2');
    const created = await service.createShadow(agent);
    expect(created).toMatchObject({
      metadata: {
        name: 'brs-n2',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: agent.nodeUid }],
      },
      spec: { state: 'Idle' },
    });
    expect((await service.createShadow(agent)).metadata.uid).toBe(created.metadata.uid);
  });
});

describe('a status', () => {
  const plain = { current_version: '1.38.0', target_version: '1.39.0', crash_count: 0 };

  describe('of an agent of ours', () => {
    const status = { ...plain, current_state: 'StagedAndPerformedUpdate' };

    /** What it costs, and what comes of it. */
    async function put({ service, tap }: Replica): Promise<readonly string[]> {
      tap.requests.length = 0;
      const { metadata } = await world.shadow();
      const came = await outcome(
        service.putStatus({ agent: await world.agent(), status, version: metadata.resourceVersion }),
      );
      return [...tap.requests.map(({ method }) => method), came];
    }

    test('is written without another look where its replica has just read what the agent has', async () => {
      const replica = world.replica();
      expect(await put(replica)).toEqual(['GET', 'PATCH', 'ok']);
      expect(await put(replica)).toEqual(['PATCH', 'ok']);
      await world.patch(`${SHADOWS}/brs-n1`, { metadata: { annotations: { by: 'another' } } });
      expect(await put(replica)).toEqual(['GET', 'PATCH', 'ok']);
      await world.clock.advance(10_000);
      expect(await put(replica)).toEqual(['GET', 'PATCH', 'ok']);
    });

    test('is not written from an earlier shadow', async () => {
      const { service, tap } = world.replica();
      const [agent, { metadata }] = [await world.agent(), await world.shadow()];
      await world.patch(`${SHADOWS}/brs-n1`, { metadata: { annotations: { by: 'another' } } });
      const version = metadata.resourceVersion;
      expect(await outcome(service.putStatus({ agent, status, version }))).toBe('409 Conflict');
      expect(tap.requests.map(({ method }) => method)).toEqual(['GET']);
    });
  });

  test('leaves alone what it lacks, and the conditions of the controller', async () => {
    const conditions = [
      {
        type: 'UpToDate',
        status: 'False',
        reason: 'Updating',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ] as const;
    await world.setStatus({ conditions: [...conditions], ...record('boot-1') });
    const status = { ...plain, current_state: 'StagedAndPerformedUpdate', conditions: [] };
    const { service } = world.replica();
    expect(await service.putStatus({ agent: await world.agent(), status, version: undefined })).toMatchObject({
      conditions,
      ...record('boot-1'),
    });
  });

  test('that begins an attempt ends the progress of the last drain', async () => {
    const { service } = world.replica();
    await service.cordonAndDrain(await world.agent());
    await world.setStatus({ current_state: 'Idle' });
    const status = { ...plain, current_state: 'StagedAndPerformedUpdate' };
    await service.putStatus({ agent: await world.agent(), status, version: undefined });
    expect((await world.shadow()).status?.drain).toBeUndefined();
  });

  test.each(['ErrorReset', 'RebootedIntoUpdate'] as const)('%s ends the record of a reboot', async (current_state) => {
    await world.setStatus(record('boot-1'));
    const status = { ...plain, current_state };
    await world.replica().service.putStatus({ agent: await world.agent(), status, version: undefined });
    expect((await world.shadow()).status?.reboot).toBeUndefined();
  });

  test('with a probe clears the request of the record before', async () => {
    await world.setStatus(record('boot-1'));
    const probe = { boot_id: 'boot-2', version: '1.39.0' };
    const status = { ...plain, current_state: 'StagedAndPerformedUpdate', reboot: probe };
    await world.replica().service.putStatus({ agent: await world.agent(), status, version: undefined });
    expect((await world.shadow()).status?.reboot).toEqual(probe);
  });

  test('that does not fit the model is refused with its fields', async () => {
    const status = { ...plain, current_version: 'v1', current_state: 'Nowhere' };
    const put = world.replica().service.putStatus({ agent: await world.agent(), status, version: undefined });
    await expect(put).rejects.toThrow(/current_version.*current_state/);
    await settle();
  });
});
