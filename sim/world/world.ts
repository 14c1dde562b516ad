import { join } from 'node:path';
import { AGENT_NODE_FLAGS } from '../../runtime/agent/config.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import type { Random } from '../../runtime/lib/random.ts';
import { COMPONENTS } from '../../runtime/shadow/names.ts';
import { ADMIN, type AuditEntry, EmbeddedCluster } from '../cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../cluster/https.ts';
import { startKubernetes } from '../kubernetes/main.ts';
import { MOST_AGENT_PROCESSES, type SimOptions } from '../options.ts';
import { agentInProcess } from './agent-in-process.ts';
import { issueCertificates } from './cert-manager.ts';
import { createFleet } from './fleet.ts';
import { applyAll, type Manifest } from './manifests.ts';
import type { SimulatedNode } from './node.ts';
import { foreignCrds, operatorManifests } from './operator-manifests.ts';
import { OperatorPods } from './operator-pods.ts';
import { nodeProgram, type StartProgram } from './programs.ts';
import { type ServiceAddress, serveService } from './service.ts';
import { webhookDialer } from './webhooks.ts';
import { workload } from './workload.ts';

export interface WorldOptions {
  readonly options: SimOptions;
  readonly clock: Clock;
  readonly random: Random;
  /** Folder of the project, with `build/` in it. */
  readonly root: string;
  /** An empty folder for everything that the world writes. Its path is short: unix sockets lie in it. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** Changes the operator's manifests before they are applied; for experiments. */
  readonly edit?: ((manifests: readonly Manifest[]) => readonly Manifest[]) | undefined;
  /** Runs in place of the agent; for experiments. */
  readonly agent?: StartProgram;
}

/** A cluster of simulated Bottlerocket nodes with a workload and the operator on it. */
export interface World {
  readonly cluster: EmbeddedCluster;
  readonly served: ServedCluster;
  /** As cluster administrator. */
  readonly transport: KubeTransport;
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly pods: OperatorPods;
  /** Pods that were evicted so far. */
  evictions(): number;
  /** Boots the nodes, lets their pods start, and resolves when the signal has ended all of it. Rejects when a part failed. */
  run(): Promise<void>;
}

/** Builds the world and applies the manifests: everything is there, nothing runs yet. */
export async function createWorld(parts: WorldOptions): Promise<World> {
  const { options, clock, random, dir, signal } = parts;
  let evictions = 0;
  const onAudit = ({ subresource, code }: AuditEntry): void => {
    if (subresource === 'eviction' && code < 300) evictions += 1;
  };
  const cluster = new EmbeddedCluster({ clock, random, onAudit });
  const transport = cluster.transport(ADMIN);
  const served = await serveCluster(cluster);
  const service = await serveService();
  cluster.setWebhooks(webhookDialer(() => service.port));
  await install(transport, parts);

  const pods = new OperatorPods({
    transport,
    clock,
    api: { port: Number(new URL(served.url).port), caPem: served.caPem },
    dir,
    service,
    programs: programs(parts),
    hostFiles: (nodeName) => nodes.get(nodeName)?.files ?? {},
  });
  const kubernetes = startKubernetes({
    transport,
    clock,
    random,
    signal,
    hooks: pods,
    startDelayMs: 50,
    terminationSeconds: 1 / options.speed,
  });
  const nodes = createFleet({ options, clock, random, kubernetes, dir: join(dir, 'hosts') });
  const run = async (): Promise<void> => {
    try {
      await Promise.all([kubernetes.stopped, ...[...nodes.values()].map((node) => node.run(signal))]);
    } finally {
      await close(served, service);
    }
  };
  return { cluster, served, transport, nodes, pods, evictions: () => evictions, run };
}

async function install(transport: KubeTransport, { options, clock, root, edit }: WorldOptions): Promise<void> {
  const operator = operatorManifests(options);
  const { manifests } = await issueCertificates(edit ? edit(operator) : operator, clock);
  await applyAll(transport, [...(await foreignCrds(root)), ...manifests]);
  await applyAll(transport, workload(options));
}

function programs({ options, root, clock, random, agent }: WorldOptions): Readonly<Record<string, StartProgram>> {
  const built = (name: string, ...flags: readonly string[]): StartProgram =>
    nodeProgram(join(root, 'build', `${name}.mjs`), flags);
  const few = options.nodes <= MOST_AGENT_PROCESSES;
  const usual = few ? built('agent', ...AGENT_NODE_FLAGS) : agentInProcess({ clock, random });
  return {
    [COMPONENTS.agent]: agent ?? usual,
    [COMPONENTS.apiserver]: built('apiserver'),
    [COMPONENTS.controller]: built('controller'),
  };
}

async function close(served: ServedCluster, service: ServiceAddress): Promise<void> {
  await service.close();
  await served.close();
}
