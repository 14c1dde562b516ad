import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ADMIN } from '../../lab/sim/cluster/cluster.ts';
import type { Rollout } from '../../lab/sim/rollout.ts';
import type { DoctorFinding } from '../../runtime/cli/doctor/finding.ts';
import { brupop } from '../cli/served.ts';
import type { Channel } from '../controller/k3os/stage.ts';
import { isOver, withRollout } from './support.ts';

async function diagnosisOf({ world, dir }: Rollout): Promise<{ readonly findings: readonly DoctorFinding[] }> {
  const file = join(dir, 'kubeconfig');
  await writeFile(file, world.served.kubeconfig(ADMIN));
  const { out } = await brupop(['doctor', '-o', 'json'], { env: { KUBECONFIG: file } });
  return JSON.parse(out) as { findings: DoctorFinding[] };
}

test('hosts of all three kinds go over in one rollout, by their own tools, k3OS by its channel, and doctor finds all well', () =>
  withRollout({ options: { nodes: 3, hosts: ['k3os', 'bottlerocket', 'updog'] } }, async (rollout) => {
    await isOver(rollout);
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
    const { findings } = await diagnosisOf(rollout);
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([]);
    for (const agent of ['brupop-agent', 'brupop-agent-updog', 'brupop-agent-k3os'])
      expect(findings).toContainEqual({ check: 'parts', state: 'ok', says: `${agent}: 1 of 1 pods are ready` });
  }));
