import { expect, test } from '@jest/globals';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../../lab/sim/cluster/cluster.ts';
import { PROGRAMS } from './programs.ts';

test("Kubernetes' programs say the version that go.mod pins, which is what the embedded cluster says too", async () => {
  const transport = new EmbeddedCluster({ clock: new VirtualClock(), random: () => 0.5 }).transport(ADMIN);
  const { gitVersion, major, minor } = (await transport.request({ method: 'GET', path: '/version' })) as {
    readonly [name: string]: string;
  };
  const [{ variables } = {}] = PROGRAMS;
  expect(Object.values(variables ?? {})).toEqual([gitVersion, major, minor]);
});
