import { expect, test } from '@jest/globals';
import type { Channel } from '../controller/k3os/stage.ts';
import { withRollout } from './support.ts';

test('hosts of all three kinds go over in one rollout, by their own tools, and k3OS by its channel', () =>
  withRollout({ options: { nodes: 3, hosts: ['k3os', 'bottlerocket', 'updog'] } }, async (rollout) => {
    await rollout.over;
    expect(rollout.summary().faults).toEqual([]);
    const { nodes, transport } = rollout.world;
    const asked = (name: string) => Object.fromEntries(nodes.get(name)?.host.requests ?? []);
    expect([asked('node-1'), asked('node-2'), asked('node-3')]).toEqual([
      expect.objectContaining({ 'k3os ops': 1 }),
      expect.objectContaining({ 'POST /actions/reboot': 1 }),
      expect.objectContaining({ 'updog update-image': 1 }),
    ]);
    for (const { host } of nodes.values())
      expect(host.intervals.filter(({ action }) => action === 'reboot')).toHaveLength(1);
    const path = '/apis/k3os.io/v1/namespaces/k3os-system/updatechannels/github-releases';
    const { spec, status } = (await transport.request({ method: 'GET', path })) as Channel;
    expect([spec?.version, status?.polling]).toEqual(['v1.39.0', '']);
  }));
