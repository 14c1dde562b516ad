import { expect, test } from '@jest/globals';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { lease, lost } from '../../lab/sim/kubernetes/kubelet/node-status.ts';
import { renewLeases } from '../../lab/sim/world/heartbeats.ts';
import { leasesOf } from '../../runtime/kube/resources.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';

test('Leases of nodes that are up are renewed every ten seconds, and of no others', async () => {
  const clock = new VirtualClock();
  const transport = new EmbeddedCluster({ clock, random: Math.random }).transport(ADMIN);
  const create = (path: string, body: object) => transport.request({ method: 'POST', path, body });
  const begun = clock.now();
  for (const name of ['up', 'down']) {
    await create('/api/v1/nodes', { metadata: { name } });
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: rfc3339(begun) }];
    await transport.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${name}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: name === 'up' ? { conditions } : lost(rfc3339(begun)) },
    });
    await create('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', lease(name, begun));
  }
  const stop = new AbortController();
  const running = renewLeases(transport, clock, stop.signal);
  await clock.advance(95_000);
  stop.abort();
  await running;
  const renewed = async (name: string) => {
    const { spec } = (await leasesOf(transport, 'kube-node-lease').get(name))!;
    return Date.parse(spec!.renewTime!) - begun;
  };
  expect([await renewed('up'), await renewed('down')]).toEqual([90_000, 0]);
});
