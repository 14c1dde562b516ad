import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { objectPath } from '../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { rfc3339, systemClock } from '../../runtime/lib/clock.ts';
import { COMPONENTS, NAMESPACE } from '../../runtime/shadow/names.ts';
import { Kubelet } from '../../sim/kubernetes/kubelet/kubelet.ts';
import type { SimOptions } from '../../sim/options.ts';
import { createFleet } from '../../sim/world/fleet.ts';
import type { SimulatedNode } from '../../sim/world/node.ts';
import { OperatorPods, type Renewal } from '../../sim/world/operator-pods.ts';
import { nodeProgram, type StartProgram } from '../../sim/world/programs.ts';
import { type ServiceAddress, serveService } from '../../sim/world/service.ts';
import { WEBHOOK_HOST } from '../contract/real.ts';
import type { RealCluster } from './cluster.ts';

const BUILD = fileURLToPath(new URL('../../build', import.meta.url));
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const HEARTBEAT_MS = 5000;

/** A host went down because a reboot was asked for. */
export interface Reboot {
  readonly node: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

export interface FleetOptions extends SimOptions {
  /** How the kubelets keep Secrets and tokens up to date; without it those of a running pod stay as they are. */
  readonly renewal?: Renewal;
}

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
  /** Ends a host for good, and everything that runs on it. */
  powerOff(node: string): void;
  /** Powers everything off. */
  stop(): Promise<void>;
}

/**
 * Boots the hosts. Their kubelets speak to the real API server, and run the operator's programs as processes with the files, tokens and
 * environment of the pods that the real controllers made and the real scheduler placed.
 */
export async function startFleet({ transport, api, dir: root }: RealCluster, options: FleetOptions): Promise<Fleet> {
  const dir = await mkdtemp(join(root, 'fleet-'));
  const failed = Promise.withResolvers<never>();
  // Heard by whoever waits for something; else the process would end of it.
  failed.promise.catch(() => undefined);
  const running: Promise<void>[] = [];
  const keep = (part: Promise<void>): void => void running.push(part.catch(failed.reject));

  // On every address: agents dial loopback, the API server may not.
  const service = await serveService('0.0.0.0');
  await publish(transport, service.port);
  const common = { clock: systemClock, random: Math.random, transport };
  const nodes = new Map<string, SimulatedNode>();
  const power = new Map<string, AbortController>();
  const pods = operatorPods({ ...common, api, dir, service, nodes, renewal: options.renewal });
  const kubelet = (nodeName: string, labels: Readonly<Record<string, string>> = {}): Kubelet => {
    const made = new Kubelet({ ...common, nodeName, labels, hooks: pods, terminationSeconds: 1 / options.speed });
    const on = new AbortController();
    power.set(nodeName, on);
    keep(made.run(on.signal));
    return made;
  };
  const kubernetes = { kubelet, stopped: failed.promise };
  const reboots: Reboot[] = [];
  for (const [name, node] of createFleet({ ...common, options, kubernetes, dir: join(dir, 'hosts') })) {
    const { signal } = power.get(name) ?? new AbortController();
    nodes.set(name, node);
    noteReboots(name, node, reboots);
    keep(node.run(signal));
    keep(heartbeat(transport, name, signal));
  }
  const powerOff = (name: string): void => power.get(name)?.abort(new Error('powered off'));
  const stop = async (): Promise<void> => {
    for (const name of power.keys()) powerOff(name);
    await Promise.all(running);
    await service.close();
  };
  return { nodes, pods, dir, reboots, failed: failed.promise, powerOff, stop };
}

interface PodParts {
  readonly transport: KubeTransport;
  readonly api: RealCluster['api'];
  readonly dir: string;
  readonly service: ServiceAddress;
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly renewal: Renewal | undefined;
}

function operatorPods({ nodes, ...parts }: PodParts): OperatorPods {
  const program = (name: string): StartProgram => nodeProgram(join(BUILD, `${name}.mjs`));
  return new OperatorPods({
    ...parts,
    clock: systemClock,
    programs: {
      [COMPONENTS.agent]: program('agent'),
      [COMPONENTS.apiserver]: program('apiserver'),
      [COMPONENTS.controller]: program('controller'),
    },
    hostFiles: (name) => nodes.get(name)?.files ?? {},
  });
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

/** Renews the node's lease, or the control plane would take the node for lost. */
export async function heartbeat(transport: KubeTransport, name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const renewTime = rfc3339(systemClock.now(), { millis: true }).replace('Z', '000Z');
    const contentType = 'application/merge-patch+json';
    const body = { spec: { renewTime } };
    await transport
      .request({ method: 'PATCH', path: objectPath(LEASES, name), contentType, body })
      .catch(() => undefined);
    await systemClock.sleep(HEARTBEAT_MS, signal).catch(() => undefined);
  }
}
