import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { collectionPath } from '../../runtime/kube/paths.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import type { SimOptions } from '../sim/options.ts';
import { createFleet, nodeNames } from '../sim/world/fleet.ts';
import type { SimulatedNode } from '../sim/world/node.ts';
import type { RealCluster } from '../../test/e2e/cluster.ts';
import { Daemon } from '../../test/e2e/controlplane/daemon.ts';
import { controlPlaneCa, kubeconfig } from '../../test/e2e/controlplane/pki.ts';
import { noteReboots, type Reboot } from '../../test/e2e/fleet.ts';
import { type Address, addressOf, API_HOST, laySegment, routesOf } from './network.ts';
import { removeAbandoned, removeAll } from './node/cgroups.ts';
import { kubeProxyConfig } from './node/config.ts';
import { type NodeIdentity, RealNode } from './node/real-node.ts';
import type { NodeTools } from './tools.ts';

export interface RealFleetOptions {
  readonly fleet: SimOptions;
  readonly tools: NodeTools;
}

/** Real nodes, each with a simulated Bottlerocket host below it. */
export interface RealFleet {
  readonly nodes: ReadonlyMap<string, RealNode>;
  readonly hosts: ReadonlyMap<string, SimulatedNode>;
  /** In the order in which they happened. */
  readonly reboots: readonly Reboot[];
  /** Rejects when a node could not follow its host. */
  readonly failed: Promise<never>;
  /** Ends everything, and leaves no cgroup behind. */
  stop(): Promise<void>;
}

/** Boots the hosts and the nodes on them. Resolves when every node's programs have been started. */
export async function startRealFleet(cluster: RealCluster, { fleet, tools }: RealFleetOptions): Promise<RealFleet> {
  await removeAbandoned();
  const proxy = await startNetwork(cluster, fleet.nodes, tools);
  const make = await nodeMaker(cluster, fleet.nodes, tools);
  const nodes = new Map<string, RealNode>();
  const kubelet = (name: string, labels: Readonly<Record<string, string>>): RealNode => {
    const node = make(name, labels);
    nodes.set(name, node);
    return node;
  };
  const dir = join(cluster.dir, 'run');
  const hosts = createFleet({ options: fleet, clock: systemClock, random: Math.random, kubelet, dir });
  for (const node of nodes.values()) await node.install();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const power = new AbortController();
  const reboots: Reboot[] = [];
  const running = [...hosts].map(([name, host]) => {
    noteReboots(name, host, reboots);
    return host.run(power.signal).catch(failed.reject);
  });
  const stop = async (): Promise<void> => {
    power.abort(new Error('powered off'));
    await Promise.all(running);
    await Promise.all([...nodes.values()].map((node) => node.shutdown()));
    await proxy.stop('SIGKILL');
    await removeAll(cluster.dir);
  };
  return { nodes, hosts, reboots, failed: failed.promise, stop };
}

/** The segment, and a kube-proxy that lets who is on the control plane find Services too. */
async function startNetwork(cluster: RealCluster, count: number, tools: NodeTools): Promise<Daemon> {
  await laySegment(addresses(count));
  await publishApi(cluster);
  const own = join(cluster.dir, 'kube-proxy');
  await mkdir(own);
  const access = join(own, 'kubeconfig');
  const config = join(own, 'config.json');
  await writeFile(access, await kubeconfigFor(cluster, PROXY), { mode: 0o600 });
  // Of a Node that is not there it waits half a minute for the address.
  const [first = ''] = nodeNames(count);
  await writeFile(config, JSON.stringify(kubeProxyConfig(first, access)));
  const proxy = new Daemon({
    file: 'env',
    args: [`PATH=${tools.path}`, tools.kubeProxy, `--config=${config}`],
    logFile: join(cluster.dir, 'logs', 'kube-proxy.log'),
  });
  proxy.start();
  void proxy.keep(systemClock);
  return proxy;
}

/** The API server's own endpoint, which it does not publish itself: see its flags. */
async function publishApi({ transport, api }: RealCluster): Promise<void> {
  const group = 'discovery.k8s.io';
  await transport.request({
    method: 'POST',
    path: collectionPath({ group, version: 'v1', plural: 'endpointslices', namespace: 'default' }),
    body: {
      metadata: { name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port: api.port }],
      endpoints: [{ addresses: [API_HOST], conditions: { ready: true } }],
    },
  });
}

const PROXY = { commonName: 'system:kube-proxy' };

async function nodeMaker(
  cluster: RealCluster,
  count: number,
  tools: NodeTools,
): Promise<(name: string, labels: Readonly<Record<string, string>>) => RealNode> {
  const baseSpec = await specWithHook(tools);
  const all = addresses(count);
  const names = nodeNames(count);
  const identities = new Map<string, NodeIdentity>();
  for (const name of names) identities.set(name, await identityOf(cluster, name));
  return (name, labels) => {
    const address = all[names.indexOf(name)];
    const identity = identities.get(name);
    if (!address || !identity) throw new Error(`${name} is no node of the fleet`);
    return new RealNode({
      name,
      labels,
      address,
      identity,
      tools,
      baseSpec,
      routes: routesOf(address, all),
      clusterDir: cluster.dir,
      run: join(cluster.dir, 'run', name),
      disk: join(cluster.dir, 'disks', name),
    });
  };
}

function addresses(count: number): readonly Address[] {
  return nodeNames(count).map((_, index) => addressOf(index + 1));
}

async function identityOf(cluster: RealCluster, name: string): Promise<NodeIdentity> {
  const node = { commonName: `system:node:${name}`, organization: 'system:nodes' };
  return {
    kubelet: await kubeconfigFor(cluster, node),
    kubeProxy: await kubeconfigFor(cluster, PROXY),
    caPem: cluster.api.caPem,
  };
}

async function kubeconfigFor(
  { dir, api }: RealCluster,
  user: { readonly commonName: string; readonly organization?: string },
): Promise<string> {
  return kubeconfig(await controlPlaneCa(systemClock, dir), `https://${API_HOST}:${api.port}`, user);
}

/** containerd's own, with the hook by which containers see their node's boot id. */
async function specWithHook({ ctr }: NodeTools): Promise<object> {
  const { stdout } = await promisify(execFile)(ctr, ['oci', 'spec']);
  const hook = { path: '/etc/boot-id-hook', args: ['boot-id-hook'], env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'] };
  return { ...(JSON.parse(stdout) as object), hooks: { createContainer: [hook] } };
}
