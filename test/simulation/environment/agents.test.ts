import { describe, expect, test } from '@jest/globals';
import { MINUTE, readiness, Rig } from './rig.ts';

const BAD = '1.39.0';

/** A fleet whose hosts have all been brought to a release as an agent brings them, one action after the other. */
async function updated(bad: 'does-not-boot' | 'never-ready' | 'agent-never-runs' | 'unwell-later'): Promise<Rig> {
  const releases = [
    { version: '1.38.0', from: 0 },
    { version: BAD, from: MINUTE, bad },
  ];
  const rig = await Rig.at(5 * MINUTE, { nodes: 3, releases });
  const host = rig.containers.get('agent-node-1')!.host!.connect(rig.time);
  for (const action of ['refresh-updates', 'prepare-update', 'activate-update', 'reboot']) {
    expect(await host.request({ method: 'POST', path: `/actions/${action}`, timeoutMs: 5000 })).toMatchObject({
      status: 204,
    });
    await rig.pass(4 * MINUTE);
  }
  await rig.pass(MINUTE);
  return rig;
}

async function osImage(rig: Rig): Promise<string | undefined> {
  return (await rig.node()).status?.nodeInfo?.osImage;
}

describe('agents of the simulation', () => {
  test('that crash are started again, each time later', async () => {
    const rig = await Rig.at();
    for (let crash = 0; crash < 4; crash++) {
      rig.environment.machines.crashAgent('node-1');
      await rig.pass(100);
      expect((await rig.agent())?.status?.containerStatuses?.[0]?.state?.running).toBeUndefined();
      await rig.pass(3 * MINUTE);
    }
    const starts = rig.when('agent-node-1 starts').slice(1);
    const ends = rig.when('agent-node-1 killed');
    const pauses = starts.map((at, index) => at - (ends[index] ?? 0));
    expect(pauses).toEqual([1000, 11_000, 21_000, 41_000]);
    expect((await rig.agent())?.status?.containerStatuses).toMatchObject([{ restartCount: 4 }]);
  });

  test('that cannot be started are not there for as long as it lasts, in either of two ways', async () => {
    const ways = new Set<string>();
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const rig = await Rig.at(2 * MINUTE, { nodes: 3, seed });
      const regain = rig.environment.machines.loseAgent('node-1');
      await rig.pass(MINUTE);
      expect(rig.containers.has('agent-node-1')).toBe(false);
      ways.add((await rig.agent()) ? 'waits' : 'gone');
      regain();
      await rig.pass(2 * MINUTE);
      expect(rig.containers.has('agent-node-1')).toBe(true);
    }
    expect([...ways].toSorted()).toEqual(['gone', 'waits']);
  });

  test('are stopped where the node is no longer managed, and started where it is again', async () => {
    const rig = await Rig.at();
    rig.environment.people.setManaged('node-1', false);
    await rig.pass(MINUTE);
    expect(await rig.agent()).toBeUndefined();
    expect(rig.when('agent-node-1 terminated')).toHaveLength(1);
    rig.environment.people.setManaged('node-1', true);
    await rig.pass(MINUTE);
    expect(rig.containers.has('agent-node-1')).toBe(true);
  });

  test('have a token that is renewed in time, but for where it expires or the kubelet is mute', async () => {
    const rig = await Rig.at();
    const host = rig.containers.get('agent-node-1')!.host!;
    const token = (): string => host.token();
    const isValid = (): boolean => {
      const claims = JSON.parse(Buffer.from(token().split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
      return claims.exp * 1000 > rig.time.now() && !token().endsWith('expired');
    };
    for (let hour = 0; hour < 5; hour++) {
      await rig.pass(57 * MINUTE);
      expect(isValid()).toBe(true);
    }
    const renew = rig.environment.machines.expireToken('node-1');
    expect(isValid()).toBe(false);
    renew();
    expect(isValid()).toBe(true);
    const speak = rig.environment.machines.muteKubelet('node-1');
    await rig.pass(61 * MINUTE);
    expect(isValid()).toBe(false);
    speak();
    await rig.pass(2 * MINUTE);
    expect(isValid()).toBe(true);
  });

  test('ended at a time that their kubelets know, or at null', async () => {
    const rig = await Rig.at(5 * MINUTE, { nodes: 12 });
    for (const node of rig.environment.nodes) rig.environment.machines.rebootUnplanned(node);
    await rig.pass(5 * MINUTE);
    const agents = await Promise.all(rig.environment.nodes.map((node) => rig.agent(node)));
    const ends = agents.map((agent) => agent?.status?.containerStatuses?.[0]?.lastState?.terminated?.finishedAt);
    expect(ends).toContain(null);
    expect(ends).toContainEqual(expect.any(String));
    expect(ends).not.toContain(undefined);
  });

  test('never run on a release that keeps them from it', async () => {
    const rig = await updated('agent-never-runs');
    expect(await osImage(rig)).toContain(BAD);
    expect(readiness(await rig.node())).toBe('True');
    expect(rig.containers.has('agent-node-1')).toBe(false);
    expect((await rig.agent())?.status?.containerStatuses).toMatchObject([
      { state: { waiting: {} }, lastState: { terminated: {} } },
    ]);
  });
});

describe('bad releases', () => {
  test('that do not boot leave the machine on the older one', async () => {
    const rig = await updated('does-not-boot');
    await rig.pass(5 * MINUTE);
    expect(await osImage(rig)).toContain('1.38.0');
    expect(rig.containers.has('agent-node-1')).toBe(true);
  });

  test('that are never Ready boot, and run agents', async () => {
    const rig = await updated('never-ready');
    expect(await osImage(rig)).toContain(BAD);
    expect(readiness(await rig.node())).toBe('False');
    expect(rig.containers.has('agent-node-1')).toBe(true);
  });

  test('that are unwell later are Ready at first', async () => {
    const rig = await updated('unwell-later');
    const seen = new Set<string | undefined>();
    for (let minute = 0; minute < 30; minute++) {
      seen.add(readiness(await rig.node()));
      await rig.pass(MINUTE);
    }
    expect([...seen]).toEqual(['True', 'False']);
  });

  test('are not on offer before their time', async () => {
    const releases = [
      { version: '1.38.0', from: 0 },
      { version: BAD, from: 60 * MINUTE },
    ];
    const rig = await Rig.at(59 * MINUTE, { nodes: 3, releases });
    const host = rig.containers.get('agent-node-1')!.host!.connect(rig.time);
    const offered = async (): Promise<string> => {
      await host.request({ method: 'POST', path: '/actions/refresh-updates', timeoutMs: 5000 });
      await rig.pass(10_000);
      return (await host.request({ method: 'GET', path: '/updates/status', timeoutMs: 5000 })).body;
    };
    expect(await offered()).not.toContain(BAD);
    await rig.pass(MINUTE);
    expect(await offered()).toContain(`"chosen_update":{"arch":"x86_64","version":"${BAD}"`);
  });
});
