import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
import { OperatorPods } from '../../sim/world/operator-pods.ts';
import { nodeProgram, type StartProgram } from '../../sim/world/programs.ts';
import { serveService } from '../../sim/world/service.ts';
import { WEBHOOK_HOST } from '../contract/real.ts';
import { bridge } from './controlplane/bridge.ts';

const BUILD = fileURLToPath(new URL('../../build', import.meta.url));
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const HEARTBEAT_MS = 5000;

export interface FleetOptions {
  readonly options: SimOptions;
  /** As cluster administrator. */
  readonly transport: KubeTransport;
  readonly api: { readonly port: number; readonly caPem: string };
}

/** Simulated hosts as nodes of a real cluster. */
export interface Fleet {
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly pods: OperatorPods;
  /** Folder with the processes' logs. */
  readonly dir: string;
  /** Rejects when a node, or a kubelet, could not go on. */
  readonly failed: Promise<never>;
  /** Powers everything off and removes every file. */
  stop(): Promise<void>;
}

/**
 * Boots the hosts. Their kubelets speak to the real API server, and run the operator's programs as processes with the files, tokens and
 * environment of the pods that the real controllers made and the real scheduler placed.
 */
export async function startFleet({ options, transport, api }: FleetOptions): Promise<Fleet> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-e2e-'));
  const ending = new AbortController();
  const { signal } = ending;
  const failed = Promise.withResolvers<never>();
  const running: Promise<void>[] = [];
  const keep = (part: Promise<void>): void => void running.push(part.catch(failed.reject));

  const service = await serveService();
  const webhook = await bridge({ host: WEBHOOK_HOST, port: 0 }, { host: '127.0.0.1', port: service.port });
  await publish(transport, (webhook.address() as { port: number }).port);
  const common = { clock: systemClock, random: Math.random, transport };
  const nodes = new Map<string, SimulatedNode>();
  const program = (name: string): StartProgram => nodeProgram(join(BUILD, `${name}.mjs`));
  const pods = new OperatorPods({
    transport,
    clock: systemClock,
    api,
    dir,
    service,
    programs: {
      [COMPONENTS.agent]: program('agent'),
      [COMPONENTS.apiserver]: program('apiserver'),
      [COMPONENTS.controller]: program('controller'),
    },
    hostFiles: (name) => nodes.get(name)?.files ?? {},
  });
  const kubelet = (nodeName: string, labels: Readonly<Record<string, string>> = {}): Kubelet => {
    const made = new Kubelet({ ...common, nodeName, labels, hooks: pods, terminationSeconds: 1 / options.speed });
    keep(made.run(signal));
    return made;
  };
  const fleet = createFleet({
    ...common,
    options,
    kubernetes: { kubelet, stopped: failed.promise },
    dir: join(dir, 'hosts'),
  });
  for (const [name, node] of fleet) {
    nodes.set(name, node);
    keep(node.run(signal));
    keep(heartbeat(transport, name, signal));
  }
  return {
    nodes,
    pods,
    dir,
    failed: failed.promise,
    stop: async () => {
      ending.abort(new Error('the test is over'));
      await Promise.all(running);
      webhook.close();
      await service.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
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
async function heartbeat(transport: KubeTransport, name: string, signal: AbortSignal): Promise<void> {
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
