import { describe, expect, test } from '@jest/globals';
import { MINUTE, readiness, Rig } from './rig.ts';

describe('nodes of the simulation', () => {
  test('come up Ready, each with its agent', async () => {
    const rig = await Rig.at();
    const nodes = await Promise.all(rig.environment.nodes.map((name) => rig.node(name)));
    expect(nodes.map(readiness)).toEqual(['True', 'True', 'True', 'True']);
    expect([...rig.containers.keys()].toSorted()).toEqual([
      'agent-node-1',
      'agent-node-2',
      'agent-node-3',
      'agent-node-4',
      'apiserver-0',
      'apiserver-1',
      'apiserver-2',
      'controller-0',
      'controller-1',
    ]);
  });

  test('are lost 40 s after their last word, and not before', async () => {
    const rig = await Rig.at();
    rig.environment.machines.die('node-1');
    await rig.pass(39_000);
    expect(readiness(await rig.node())).toBe('True');
    await rig.pass(7000);
    const node = await rig.node();
    expect(readiness(node)).toBe('Unknown');
    expect(node.spec?.taints).toContainEqual({ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' });
  });

  test('whose kubelet is mute are lost, too, and their containers go on', async () => {
    const rig = await Rig.at();
    const speak = rig.environment.machines.muteKubelet('node-1');
    await rig.pass(2 * MINUTE);
    expect(readiness(await rig.node())).toBe('Unknown');
    expect(rig.containers.has('agent-node-1')).toBe(true);
    speak();
    await rig.pass(2000);
    expect(readiness(await rig.node())).toBe('True');
    expect((await rig.node()).spec?.taints).toBeUndefined();
    expect(rig.when('agent-node-1 starts')).toHaveLength(1);
  });

  test('that boot while their kubelet is mute register once it is not, and their agent runs again', async () => {
    const rig = await Rig.at();
    const speak = rig.environment.machines.muteKubelet('node-1');
    rig.environment.machines.rebootUnplanned('node-1');
    await rig.pass(5 * MINUTE);
    expect(readiness(await rig.node())).toBe('Unknown');
    speak();
    await rig.pass(MINUTE);
    expect(readiness(await rig.node())).toBe('True');
    expect(rig.when('agent-node-1 starts')).toHaveLength(2);
  });

  test('that die leave nobody behind who could close a connection, unlike those that were asked to reboot', async () => {
    const rig = await Rig.at();
    const host = rig.containers.get('agent-node-2')!.host!.connect(rig.time);
    await host.request({ method: 'POST', path: '/actions/reboot', timeoutMs: 5000 });
    rig.environment.machines.die('node-1');
    await rig.pass(15_000);
    expect(rig.when('agent-node-1 vanished')).toHaveLength(1);
    expect(rig.when('agent-node-2 killed')).toHaveLength(1);
  });

  test('that are dead keep their pods for five minutes; then these are Terminating, and go when the machine is back', async () => {
    const rig = await Rig.at();
    const before = (await rig.pods('node-1')).filter(({ metadata }) => metadata.namespace === 'shop');
    expect(before.length).toBeGreaterThan(0);
    rig.environment.machines.die('node-1');
    const ending = async (): Promise<readonly boolean[]> =>
      (await rig.pods('node-1'))
        .filter(({ metadata }) => before.some(({ metadata: { uid } }) => uid === metadata.uid))
        .map(({ metadata }) => metadata.deletionTimestamp !== undefined);
    await rig.pass(40_000 + 290_000);
    expect(await ending()).toEqual(before.map(() => false));
    await rig.pass(30_000);
    expect(await ending()).toEqual(before.map(() => true));
    await rig.pass(600 * MINUTE);
    expect(await ending()).toEqual(before.map(() => true));
    rig.environment.machines.revive('node-1');
    await rig.pass(15 * MINUTE);
    expect(await ending()).toEqual([]);
    expect(readiness(await rig.node())).toBe('True');
  });

  test('that die long after a request to reboot which came to nothing have not been asked for that', async () => {
    const rig = await Rig.at();
    const host = rig.containers.get('agent-node-2')!.host!.connect(rig.time);
    rig.environment.machines.inject('node-2', 'reboot-ignored');
    await host.request({ method: 'POST', path: '/actions/reboot', timeoutMs: 5000 });
    await rig.pass(5 * MINUTE);
    rig.environment.machines.rebootUnplanned('node-2');
    await rig.pass(MINUTE);
    expect(rig.told.map(({ what }) => what)).toContain('agent-node-2 vanished');
  });

  test('that reboot run their containers anew, under another boot id', async () => {
    const rig = await Rig.at();
    const { bootID } = (await rig.node()).status!.nodeInfo!;
    rig.environment.machines.rebootUnplanned('node-1');
    expect(rig.when('agent-node-1 vanished')).toEqual(rig.when('node-1 down'));
    await rig.pass(10_000);
    // Nobody can have told the API server yet.
    expect((await rig.agent())?.status?.containerStatuses).toMatchObject([{ state: { running: {} } }]);
    await rig.pass(4 * MINUTE);
    expect((await rig.node()).status?.nodeInfo?.bootID).not.toBe(bootID);
    expect((await rig.agent())?.status?.containerStatuses).toMatchObject([
      { restartCount: 1, state: { running: {} }, lastState: { terminated: {} } },
    ]);
    expect(rig.when('agent-node-1 starts')).toHaveLength(2);
  });

  test('that are removed and replaced come back as others of their name, without the pods of before', async () => {
    const rig = await Rig.at();
    const { uid } = (await rig.node()).metadata;
    const agent = (await rig.agent())?.metadata.uid;
    rig.environment.machines.remove('node-1', true);
    await rig.pass(10 * MINUTE);
    expect((await rig.node()).metadata.uid).not.toBe(uid);
    expect(readiness(await rig.node())).toBe('True');
    expect((await rig.agent())?.metadata.uid).not.toBe(agent);
    expect(rig.environment.nodes).toContain('node-1');
    rig.environment.machines.remove('node-2', false);
    await rig.pass(10 * MINUTE);
    expect(rig.environment.nodes).not.toContain('node-2');
    expect(await rig.pods('node-2')).toEqual([]);
  });

  test('that are replaced again before their machine has booted are one machine', async () => {
    const rig = await Rig.at();
    rig.environment.machines.remove('node-1', true);
    rig.environment.machines.remove('node-1', true);
    await rig.pass(10 * MINUTE);
    expect(rig.when('node-1 up')).toHaveLength(2);
    expect(readiness(await rig.node())).toBe('True');
  });

  test('that are replaced as a storm ends are never two machines', async () => {
    const rig = await Rig.at();
    rig.environment.machines.remove('node-1', true);
    rig.environment.calm();
    expect(rig.when('node-1 down')).toEqual([rig.time.monotonic()]);
    await rig.pass(10 * MINUTE);
    expect(rig.when('node-1 up')).toHaveLength(2);
    expect(rig.when('node-1 down')).toHaveLength(1);
  });
});
