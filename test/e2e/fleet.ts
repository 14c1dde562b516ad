import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import type { SimOptions } from '../../lab/sim/options.ts';
import { createFleet, type FleetOptions as CreateFleetOptions, nodeNames } from '../../lab/sim/world/fleet.ts';
import type { SimulatedNode } from '../../lab/sim/world/node.ts';
import { OperatorPods, type OperatorPodsOptions } from '../../lab/sim/world/operator-pods.ts';
import type { Mounts } from '../../lab/sim/world/pod-files.ts';
import { imageCommand } from '../../lab/sim/world/programs.ts';
import { initVariable } from '../../lab/sim/world/variables.ts';
import type { RealCluster } from './cluster.ts';
import { type ContainerOptions, containerProgram } from './container.ts';
import { Machine } from './machine.ts';
import { type ClusterNetwork, clusterNetwork } from './network.ts';
import { nodeTransport } from './node-identity.ts';

/** A host went down because a reboot was asked for. */
export interface Reboot {
  readonly node: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

export interface FleetOptions
  extends
    SimOptions,
    Pick<OperatorPodsOptions, 'renewal' | 'liveness'>,
    Pick<CreateFleetOptions, 'times' | 'settings' | 'releases'>,
    Pick<ContainerOptions, 'enter'> {
  /** How many of the hosts, the last ones, are off until they are powered on. @default 0 */
  readonly spares?: number;
}

/** Simulated hosts as nodes of a real cluster. */
export interface Fleet {
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly pods: OperatorPods;
  /** What the hosts are offered: may be changed while they run. */
  readonly releases: Releases;
  /** Folder with the processes' logs. */
  readonly dir: string;
  /** In the order in which they happened. */
  readonly reboots: readonly Reboot[];
  /** Rejects when a node, or a kubelet, could not go on. */
  readonly failed: Promise<never>;
  /** Boots a spare host. */
  powerOn(node: string): void;
  /** Ends a host for good, and everything that runs on it. Resolves when its Node says so. */
  powerOff(node: string): Promise<void>;
  /** Powers everything off. */
  stop(): Promise<void>;
}

/**
 * Boots the hosts. kwok is the kubelet of their nodes, but for the operator's pods: these run as processes in containers with the
 * command, files, tokens and environment of the pods that the real controllers made and the real scheduler placed, had and told of under
 * the identity of their node. All pods share one network, so that ports on which they listen are others than they state, and all hosts one
 * process namespace, so that the init of a k3OS host is another process than its agent expects.
 */
export async function startFleet(cluster: RealCluster, options: FleetOptions): Promise<Fleet> {
  const dir = await mkdtemp(join(cluster.dir, 'fleet-'));
  const failed = Promise.withResolvers<never>();
  // Heard by whoever waits for something; else the process would end of it.
  failed.promise.catch(() => undefined);
  const running: Promise<void>[] = [];
  const keep = (part: Promise<void>): void => void running.push(part.catch(failed.reject));

  const network = await clusterNetwork(cluster, dir);
  const nodes = new Map<string, SimulatedNode>();
  const machines = new Map<string, { readonly machine: Machine; readonly power: AbortController }>();
  const transports = await transportsOf(cluster, options.nodes);
  const pods = operatorPods({ ...options, network, dir, nodes, transports });
  const kubelet = (nodeName: string, labels: Readonly<Record<string, string>>): Machine => {
    const transport = transportOf(transports, nodeName);
    const machine = new Machine({
      ...COMMON,
      transport,
      nodeName,
      labels,
      program: (pod) => pods.program(pod),
      runs: hasProgram,
    });
    const power = new AbortController();
    machines.set(nodeName, { machine, power });
    keep(machine.run(power.signal));
    return machine;
  };
  const reboots: Reboot[] = [];
  const { times, settings, releases = new Releases([options.from, options.to]) } = options;
  const hosts = createFleet({ ...COMMON, options, times, settings, kubelet, releases, dir: join(dir, 'hosts') });
  for (const [name, node] of hosts) {
    nodes.set(name, node);
    noteReboots(name, node, reboots);
  }
  const powerOn = (name: string): void => {
    const [node, machine] = [nodes.get(name), machines.get(name)];
    if (node && machine) keep(node.run(machine.power.signal));
  };
  for (const name of nodeNames(options.nodes - (options.spares ?? 0))) powerOn(name);
  const cut = (name: string): void => machines.get(name)?.power.abort(new Error('powered off'));
  const powerOff = async (name: string): Promise<void> => {
    cut(name);
    await machines.get(name)?.machine.shutdown();
  };
  const stop = async (): Promise<void> => {
    for (const name of machines.keys()) cut(name);
    await Promise.all(running);
    await network.close();
  };
  return { nodes, pods, releases, dir, reboots, failed: failed.promise, powerOn, powerOff, stop };
}

const COMMON = { clock: systemClock, random: Math.random };

/** The API as each node's kubelet asks it, by the node's name. */
type Transports = ReadonlyMap<string, KubeTransport>;

async function transportsOf(cluster: RealCluster, nodes: number): Promise<Transports> {
  const entries = nodeNames(nodes).map(async (name) => [name, await nodeTransport(cluster, name)] as const);
  return new Map(await Promise.all(entries));
}

function transportOf(transports: Transports, node = ''): KubeTransport {
  const transport = transports.get(node);
  if (!transport) throw new Error(`${node} is no node of the fleet`);
  return transport;
}

interface PodParts extends Pick<OperatorPodsOptions, 'dir' | 'renewal' | 'liveness'>, Pick<ContainerOptions, 'enter'> {
  readonly network: ClusterNetwork;
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly transports: Transports;
}

function operatorPods({ network, nodes, transports, enter, ...parts }: PodParts): OperatorPods {
  const hostFiles = (name = ''): Mounts => nodes.get(name)?.files ?? {};
  return new OperatorPods({
    ...parts,
    clock: systemClock,
    endpoints: network.endpoints,
    environment: ({ mounts }) => ({ ...network.environment, ...initVariable(mounts) }),
    transport: ({ spec }) => transportOf(transports, spec?.nodeName),
    program: (pod) =>
      containerProgram(pod, { ...network.container, enter, hostRoot: hostFiles(pod.spec?.nodeName)['/'] }),
    hostFiles,
  });
}

function hasProgram(pod: Pod): boolean {
  return imageCommand(pod) !== undefined;
}

/** By interface 1.0.0, and on k3OS. */
const REBOOTS: ReadonlySet<string> = new Set(['/usr/sbin/shutdown', '/sbin/init']);

/** A host that goes down by itself was not asked to, and notes nothing. */
export function noteReboots(name: string, { host }: SimulatedNode, reboots: Reboot[]): void {
  let asked = false;
  host.observe({
    onCall: ({ method, path }) => {
      asked ||= method === 'POST' && path === '/actions/reboot';
    },
    onRun: ([program = '']) => {
      asked ||= REBOOTS.has(program);
    },
    onDown: () => {
      if (asked) reboots.push({ node: name, atMs: systemClock.now() });
      asked = false;
    },
  });
}
