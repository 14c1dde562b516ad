import { systemClock } from '../../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import { serveCluster } from '../../sim/cluster/https.ts';
import { addAccounts, addAgentPod, projectedToken } from '../../../test/apiserver/agents.ts';
import { Objects } from '../../../test/apiserver/objects.ts';
import { MemoryCgroup } from '../cgroup.ts';
import { MeteredCluster } from './metered.ts';
import { Replica } from './replica.ts';

/** How an agent shows who it is. */
export interface Identity {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly token: string;
}

/** One apiserver as a process, the embedded cluster over HTTPS in this one, and agents on nodes that may be drained. */
export interface Stand {
  readonly objects: Objects;
  readonly metered: MeteredCluster;
  readonly replica: Replica;
  readonly agents: readonly Identity[];
}

/** What the manifest allows an apiserver. Node makes its heap to fit, so that without it the numbers would be another's. */
const LIMIT_MIB = 256;

/** Builds a stand, lets `use` work on it and takes it down. Needs root, for a memory cgroup. @param root folder of the project, whose `build/` is current */
export async function withStand<T>(
  { root, agents: count }: { readonly root: string; readonly agents: number },
  use: (stand: Stand) => Promise<T>,
): Promise<T> {
  const cluster = new EmbeddedCluster({ clock: systemClock, random: Math.random });
  const metered = new MeteredCluster(cluster);
  const objects = new Objects(cluster.transport(ADMIN));
  await objects.prepare();
  await addAccounts(objects);
  const agents: Identity[] = [];
  for (let index = 0; index < count; index++) agents.push(await addAgent(objects, `n${index}`));
  const served = await serveCluster(metered);
  const config = JSON.parse(served.kubeconfig(ADMIN)) as { users: [{ user: { token: string } }] };
  const cgroup = await MemoryCgroup.create(LIMIT_MIB);
  const replica = await Replica.start(root, { ...served, token: config.users[0].user.token }, cgroup);
  try {
    return await use({ objects, metered, replica, agents });
  } finally {
    await replica.end();
    await cgroup.remove();
    await served.close();
  }
}

async function addAgent(objects: Objects, nodeName: string): Promise<Identity> {
  const pod = `agent-${nodeName}`;
  await objects.addNode(nodeName);
  await objects.addShadow(nodeName);
  await addAgentPod(objects, pod, { node: nodeName });
  const token = await projectedToken(objects, { pod });
  return { nodeName, nodeUid: (await objects.node(nodeName)).metadata.uid, token };
}
