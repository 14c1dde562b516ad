import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import type { SimOptions } from '../../sim/options.ts';
import { createFleet, nodeNames } from '../../sim/world/fleet.ts';
import type { SimulatedNode } from '../../sim/world/node.ts';
import { OperatorPods, type OperatorPodsOptions } from '../../sim/world/operator-pods.ts';
import { podProgram, type StartProgram } from '../../sim/world/programs.ts';
import { type ServiceAddress, serveService } from '../../sim/world/service.ts';
import { ServiceEndpoints } from '../../sim/world/service-endpoints.ts';
import { pathVariables } from '../../sim/world/variables.ts';
import { WEBHOOK_HOST } from '../contract/real.ts';
import type { RealCluster } from './cluster.ts';
import { Machine } from './machine.ts';
import { nodeTransport } from './node-identity.ts';

const BUILD = fileURLToPath(new URL('../../build', import.meta.url));

/** A host went down because a reboot was asked for. */
export interface Reboot {
  readonly node: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

export interface FleetOptions extends SimOptions, Pick<OperatorPodsOptions, 'renewal' | 'liveness'> {}

/** Simulated hosts as nodes of a real cluster. */
export interface Fleet {
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly pods: OperatorPods;
  /** Folder with the processes' logs. */
  readonly dir: string;
  /** In the order in which they happened. */
  readonly reboots: readonly Reboot[];
  /** Rejects when a node, or a kubelet, could not go on. */
  readonly failed: Promise<never>;
  /** Ends a host for good, and everything that runs on it. Resolves when its Node says so. */
  powerOff(node: string): Promise<void>;
  /** Powers everything off. */
  stop(): Promise<void>;
}

/**
 * Boots the hosts. kwok is the kubelet of their nodes, but for the operator's pods: these run as processes with the files, tokens and
 * environment of the pods that the real controllers made and the real scheduler placed, had and told of under the identity of their node.
 */
export async function startFleet(cluster: RealCluster, options: FleetOptions): Promise<Fleet> {
  const dir = await mkdtemp(join(cluster.dir, 'fleet-'));
  const failed = Promise.withResolvers<never>();
  // Heard by whoever waits for something; else the process would end of it.
  failed.promise.catch(() => undefined);
  const running: Promise<void>[] = [];
  const keep = (part: Promise<void>): void => void running.push(part.catch(failed.reject));

  // On every address: agents dial loopback, the API server may not.
  const service = await serveService('0.0.0.0');
  await publish(cluster.transport, service.port);
  const nodes = new Map<string, SimulatedNode>();
  const machines = new Map<string, { readonly machine: Machine; readonly power: AbortController }>();
  const transports = await transportsOf(cluster, options.nodes);
  const pods = operatorPods({ ...options, cluster, dir, service, nodes, transports });
  const kubelet = (nodeName: string, labels: Readonly<Record<string, string>>): Machine => {
    const transport = transportOf(transports, nodeName);
    const machine = new Machine({ ...COMMON, transport, nodeName, labels, hooks: pods, runs: hasProgram });
    const power = new AbortController();
    machines.set(nodeName, { machine, power });
    keep(machine.run(power.signal));
    return machine;
  };
  const reboots: Reboot[] = [];
  for (const [name, node] of createFleet({ ...COMMON, options, kubelet, dir: join(dir, 'hosts') })) {
    const { signal } = machines.get(name)?.power ?? new AbortController();
    nodes.set(name, node);
    noteReboots(name, node, reboots);
    keep(node.run(signal));
  }
  const cut = (name: string): void => machines.get(name)?.power.abort(new Error('powered off'));
  const powerOff = async (name: string): Promise<void> => {
    cut(name);
    await machines.get(name)?.machine.shutdown();
  };
  const stop = async (): Promise<void> => {
    for (const name of machines.keys()) cut(name);
    await Promise.all(running);
    await service.close();
  };
  return { nodes, pods, dir, reboots, failed: failed.promise, powerOff, stop };
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

interface PodParts extends Pick<OperatorPodsOptions, 'dir' | 'renewal' | 'liveness'> {
  readonly cluster: RealCluster;
  readonly service: ServiceAddress;
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly transports: Transports;
}

function operatorPods({ cluster, service, nodes, transports, ...parts }: PodParts): OperatorPods {
  return new OperatorPods({
    ...parts,
    clock: systemClock,
    endpoints: new ServiceEndpoints(cluster.transport, service),
    environment: ({ stated, mounts, dir }) => ({
      ...pathVariables(stated, mounts, join(dir, 'nowhere')),
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(cluster.api.port),
      APISERVER_ADDRESS: `127.0.0.1:${service.port}`,
    }),
    transport: ({ spec }) => transportOf(transports, spec?.nodeName),
    program,
    hostFiles: (name) => nodes.get(name)?.files ?? {},
  });
}

function program(pod: Pod): StartProgram | undefined {
  return podProgram(pod, BUILD);
}

function hasProgram(pod: Pod): boolean {
  return program(pod) !== undefined;
}

/** A host that goes down by itself was not asked to, and notes nothing. */
function noteReboots(name: string, { host }: SimulatedNode, reboots: Reboot[]): void {
  let asked = false;
  host.observe({
    onCall: ({ method, path }) => {
      asked ||= method === 'POST' && path === '/actions/reboot';
    },
    onDown: () => {
      if (asked) reboots.push({ node: name, atMs: systemClock.now() });
      asked = false;
    },
  });
}

/** The address of the operator's Service, which no kube-proxy serves here. */
async function publish(transport: KubeTransport, port: number): Promise<void> {
  await transport.request({
    method: 'POST',
    path: `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`,
    body: {
      metadata: { name: 'brupop-e2e', labels: { 'kubernetes.io/service-name': 'brupop-apiserver' } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port }],
      endpoints: [{ addresses: [WEBHOOK_HOST], conditions: { ready: true } }],
    },
  });
}
