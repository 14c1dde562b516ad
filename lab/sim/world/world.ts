import { join } from 'node:path';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { type Clock, HOUR_MS } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { COMPONENT_LABEL, COMPONENTS, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { ADMIN, type AuditEntry, type ClusterOptions, EmbeddedCluster } from '../cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../cluster/https.ts';
import { ReleasesServer } from '../hosts/k3os/releases-server.ts';
import { PLATFORM } from '../hosts/host.ts';
import { serveReleases } from '../repository/releases.ts';
import { startKubernetes } from '../kubernetes/main.ts';
import { MOST_AGENT_PROCESSES, type SimOptions } from '../options.ts';
import { rootCa, withAccountVolume } from './account-volume.ts';
import { agentInProcess } from './agent-in-process.ts';
import { issueCertificates, tellReady } from './cert-manager.ts';
import { createFleet, releasesOf } from './fleet.ts';
import { renewLeases } from './heartbeats.ts';
import { applyAll, type Manifest } from './manifests.ts';
import type { SimulatedNode } from './node.ts';
import { channelManifests, foreignCrds, operatorManifests, type Sources } from './operator-manifests.ts';
import { OperatorPods, type OperatorPodsOptions } from './operator-pods.ts';
import { podProgram, type StartProgram } from './programs.ts';
import { type ServiceAddress, serveService } from './service.ts';
import { ServiceEndpoints } from './service-endpoints.ts';
import { pathVariables } from './variables.ts';
import { seedAt } from './waves.ts';
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
  /**
   * Runs the pods' containers, with their files where the pods mount them; undefined for a pod of another image.
   * @default the programs of `build/`, which see this machine's files
   */
  readonly containers?: ((pod: Pod) => StartProgram | undefined) | undefined;
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
  const cluster = new EmbeddedCluster({ clock, random, createdAt: withOldNodes(clock), onAudit });
  const transport = cluster.transport(ADMIN);
  const served = await serveCluster(cluster);
  const service = await serveService();
  cluster.setWebhooks(webhookDialer(() => service.port));
  const sources = await startSources(options, clock.now());
  await install(transport, { caPem: served.caPem, ...sources }, parts);

  const program = programs(parts);
  const pods = operatorPods(parts, {
    transport,
    served,
    service,
    program,
    hostFiles: (name) => nodes.get(name)?.files ?? {},
  });
  const kubernetes = startKubernetes({
    transport,
    clock,
    random,
    signal,
    program: (pod) => pods.program(pod),
    startDelayMs: 50,
    terminationSeconds: 1 / options.speed,
  });
  const nodes = createFleet({ ...parts, ...sources, kubelet: kubernetes.kubelet, dir: join(dir, 'hosts') });
  const run = async (): Promise<void> => {
    try {
      await Promise.all([kubernetes.stopped, ...running(nodes, { transport, clock, signal })]);
    } finally {
      await Promise.all([close(served, service), sources.stop()]);
    }
  };
  return { cluster, served, transport, nodes, pods, evictions: () => evictions, run };
}

/** The fleet has long been there: new nodes are not updated at once (rule P1). */
const withOldNodes =
  (clock: Clock): NonNullable<ClusterOptions['createdAt']> =>
  ({ kind }) =>
    clock.now() - (kind === 'Node' ? HOUR_MS : 0);

/** The nodes, and their heartbeats. */
function running(
  nodes: World['nodes'],
  { transport, clock, signal }: Pick<WorldOptions, 'clock' | 'signal'> & Pick<World, 'transport'>,
): readonly Promise<void>[] {
  return [renewLeases(transport, clock, signal), ...[...nodes.values()].map((node) => node.run(signal))];
}

/** The releases, and who tells of them: of k3OS where nodes run it, and of waves where there are some. */
async function startSources(options: SimOptions, now: number) {
  const { hosts, from, to, waves } = options;
  const releases = releasesOf(options, now);
  const k3os = hosts?.includes('k3os') ? new ReleasesServer(() => [`v${from}`, `v${to}`]) : undefined;
  const repository = waves ? await serveReleases(releases, PLATFORM) : undefined;
  return {
    releases,
    ...(repository && { settings: (index: number) => ({ ...repository.urls, seed: seedAt(index) }) }),
    releasesUrl: await k3os?.start(),
    repositories: repository && [repository.settings],
    stop: () => Promise.all([k3os?.stop(), repository?.close()]),
  };
}

interface Addresses extends Sources {
  readonly caPem: string;
}

async function install(transport: KubeTransport, { caPem, ...sources }: Addresses, parts: WorldOptions): Promise<void> {
  const { options, clock, root, edit } = parts;
  const operator = operatorManifests(options, sources);
  const [before, after] = channelManifests(options);
  const { manifests } = await issueCertificates(edit ? edit(operator) : operator, clock);
  await applyAll(transport, [
    ...before,
    ...(await foreignCrds(root)),
    ...manifests,
    rootCa(NAMESPACE, caPem),
    ...after,
  ]);
  await tellReady(transport, manifests, clock);
  await applyAll(transport, workload(options));
}

type Program = OperatorPodsOptions['program'];

interface PodParts extends Pick<OperatorPodsOptions, 'hostFiles' | 'program'> {
  readonly transport: KubeTransport;
  readonly served: ServedCluster;
  readonly service: ServiceAddress;
}

/** Their programs see this machine's network, and outside of containers its files: variables say where their pods' are. */
function operatorPods({ clock, dir: root, containers }: WorldOptions, parts: PodParts): OperatorPods {
  const { transport, served, service, program, hostFiles } = parts;
  return new OperatorPods({
    transport: () => transport,
    admitted: (pod) => withAccountVolume(pod, transport),
    clock,
    dir: root,
    endpoints: new ServiceEndpoints(transport, service),
    environment: ({ stated, mounts, dir }) => ({
      ...(containers ? {} : pathVariables(stated, mounts, join(dir, 'nowhere'))),
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: new URL(served.url).port,
      APISERVER_ADDRESS: `127.0.0.1:${service.port}`,
    }),
    program,
    hostFiles,
  });
}

/** What each pod runs: its own command, but for agents that there is no room for, or an experiment instead of. */
function programs({ options, root, clock, random, agent, containers }: WorldOptions): Program {
  if (containers) return containers;
  const few = options.nodes <= MOST_AGENT_PROCESSES;
  const instead = (pod: Pod): StartProgram | undefined => {
    if (!isAgent(pod)) return undefined;
    return agent ?? (few ? undefined : agentInProcess({ clock, random }));
  };
  return (pod) => instead(pod) ?? podProgram(pod, join(root, 'build'));
}

function isAgent({ metadata }: Pod): boolean {
  return metadata.labels?.[COMPONENT_LABEL] === COMPONENTS.agent;
}

async function close(served: ServedCluster, service: ServiceAddress): Promise<void> {
  await service.close();
  await served.close();
}
