import { type Apiserver, createApiserver } from '../../runtime/apiserver/apiserver.ts';
import { readApiserverConfig } from '../../runtime/apiserver/config.ts';
import { type ControllerConfig, readControllerConfig } from '../../runtime/controller/config.ts';
import { createManager, type Manager } from '../../runtime/controller/manager.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import type { Collection } from '../../runtime/kube/collection.ts';
import { type ShadowObject, shadowsOf } from '../../runtime/api/resources.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import { leasesOf, nodesOf } from '../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { type Logger, silentLogger } from '../../runtime/lib/log.ts';
import type { Random } from '../../runtime/lib/random.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import type { Status } from '../../runtime/api/shadow/model.ts';
import {
  AGENT_SERVICE_ACCOUNT,
  API_VERSION,
  CONTROLLER_LEASE,
  GROUP,
  KIND,
  MANAGED_LABEL,
  NAMESPACE,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { crdSchema } from '../../runtime/api/shadow/schema.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import type { KubeJson } from '../../lab/sim/cluster/object.ts';
import { OLDER_SCHEMA } from '../e2e/older-crd.ts';
import { inTime } from '../in-time.ts';
import { Client } from '../kube/client.ts';
import { seeded } from '../random.ts';
import { releaseCrd } from '../release-crd.ts';
import { shadowCrd } from '../shadow-crd.ts';

type Parts = 'transport' | 'identity' | 'clock' | 'logger' | 'ordersOf' | 'notifierOf';

interface Starting extends Partial<Pick<Parameters<typeof createManager>[0], Parts>> {
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface Told {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

/** A cluster in memory with nodes, agent pods and shadows, whose agents are moved by hand. */
export class Stage extends Client {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  readonly nodes: ReturnType<typeof nodesOf>;
  readonly shadows: Collection<ShadowObject>;
  readonly leases: ReturnType<typeof leasesOf>;
  readonly #common: { readonly namespace: string; readonly random: Random; readonly logger: Logger };
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  #controllers = 0;
  /** The DaemonSet of the agents, whose pods no drain evicts. */
  #agents: KubeJson | undefined;

  private constructor(clock: VirtualClock) {
    const random = seeded(7);
    const cluster = new EmbeddedCluster({ clock, random });
    super(cluster.transport(ADMIN));
    this.clock = clock;
    this.cluster = cluster;
    this.#common = { namespace: NAMESPACE, random, logger: silentLogger };
    this.nodes = nodesOf(this.transport);
    this.shadows = shadowsOf(this.transport, NAMESPACE);
    this.leases = leasesOf(this.transport, NAMESPACE);
  }

  /** With nodes of these names at rest for a minute, 1.1.0 on offer to each. */
  static with(...names: readonly string[]): Promise<Stage> {
    return Stage.#build(names, shadowCrd());
  }

  /** The same at another moment, for programs that have a clock of their own. */
  static at(now: number, ...names: readonly string[]): Promise<Stage> {
    return Stage.#build(names, shadowCrd(), now);
  }

  /** With the CRD that an upstream installation has left, which drops all the newer fields. */
  static upstream(...names: readonly string[]): Promise<Stage> {
    return Stage.#build(names, shadowCrd(OLDER_SCHEMA));
  }

  /** With a CRD that drops conditions, so that they change no resourceVersion. */
  static withoutConditions(...names: readonly string[]): Promise<Stage> {
    const schema = structuredClone(crdSchema('v2')) as {
      properties: { status: { properties: Record<string, unknown> } };
    };
    delete schema.properties.status.properties['conditions'];
    return Stage.#build(names, shadowCrd(schema));
  }

  static async #build(names: readonly string[], definition: object, now = Date.parse('2026-01-01')): Promise<Stage> {
    const stage = new Stage(new VirtualClock(now - 60_000));
    await stage.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    const metadata = { name: CONTROLLER_LEASE, annotations: { [PERMITS_ANNOTATION]: '[]' } };
    await stage.leases.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} });
    for (const one of [definition, releaseCrd()])
      await stage.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', one);
    stage.#agents = await stage.create(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`, {
      metadata: { name: 'brupop-agent' },
    });
    for (const name of names) await stage.join(name);
    await stage.clock.advance(60_000);
    return stage;
  }

  async join(name: string): Promise<void> {
    const { metadata } = await this.create('/api/v1/nodes', {
      metadata: { name, labels: { [MANAGED_LABEL]: '2.0.0', 'kubernetes.io/arch': 'amd64' } },
    });
    await this.patch(`/api/v1/nodes/${name}/status`, {
      status: { nodeInfo: { osImage: 'Bottlerocket OS 1.0.0 (aws-k8s-1.33)', bootID: 'boot-1' } },
    });
    await this.setReady(name, true);
    await this.startAgent(name);
    await this.register({ metadata });
    await this.report(name, {
      current_version: '1.0.0',
      target_version: '1.1.0',
      current_state: 'Idle',
      crash_count: 0,
    });
  }

  async register({ metadata: { name, uid } }: Pick<Node, 'metadata'>): Promise<ShadowObject> {
    return this.shadows.create({
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: {
        name: shadowName(name),
        namespace: NAMESPACE,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
      },
      spec: { state: 'Idle' },
    });
  }

  async startAgent(node: string): Promise<void> {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', controller: true };
    await this.create(`/api/v1/namespaces/${NAMESPACE}/pods`, {
      metadata: {
        name: `agent-${node}`,
        labels: { [`${GROUP}/component`]: 'agent' },
        ownerReferences: [{ ...owner, name: 'brupop-agent', uid: this.#agents?.metadata.uid }],
      },
      spec: {
        nodeName: node,
        serviceAccountName: AGENT_SERVICE_ACCOUNT,
        containers: [{ name: 'agent', image: 'agent' }],
      },
    });
    await this.sayOfAgent(node, { running: { startedAt: rfc3339(this.clock.now()) } });
  }

  /** What the kubelet says of the agent's container. */
  async sayOfAgent(node: string, state: object, lastState: object = {}): Promise<void> {
    const containerStatuses = [{ name: 'agent', state, lastState }];
    await this.patch(`/api/v1/namespaces/${NAMESPACE}/pods/agent-${node}/status`, { status: { containerStatuses } });
  }

  async loseAgent(node: string): Promise<void> {
    await this.delete(`/api/v1/namespaces/${NAMESPACE}/pods/agent-${node}`, { gracePeriodSeconds: 0 });
  }

  async report(node: string, status: Partial<Status>): Promise<void> {
    await this.shadows.patchStatus(shadowName(node), { status });
  }

  async patchNode(name: string, patch: object): Promise<void> {
    const { resourceVersion } = (await this.nodes.get(name))!.metadata;
    const { metadata = {}, ...rest } = patch as { metadata?: object };
    await this.nodes.patch(name, { ...rest, metadata: { ...metadata, resourceVersion } });
  }

  /** @param slowMs by how much the kubelet's clock is behind */
  async setReady(name: string, ready: boolean, slowMs = 0): Promise<void> {
    const lastTransitionTime = rfc3339(this.clock.now() - slowMs);
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
    await this.patch(`/api/v1/nodes/${name}/status`, { status: { conditions } });
  }

  async spec(node: string): Promise<string> {
    const { state, version } = (await this.shadows.get(shadowName(node)))!.spec;
    return version == null ? state : `${state} ${version}`;
  }

  async specs(...nodes: readonly string[]): Promise<readonly string[]> {
    return Promise.all(nodes.map((node) => this.spec(node)));
  }

  /** Names of the shadows that have permits, as the Lease says. */
  async permits(): Promise<readonly string[]> {
    const lease = await this.leases.get(CONTROLLER_LEASE);
    const entries = JSON.parse(lease?.metadata.annotations?.[`${GROUP}/slots`] ?? '[]') as { shadow: string }[];
    return entries.map(({ shadow }) => shadow);
  }

  /** Somebody else takes the Lease from whoever leads, and is never heard of again. */
  async takeLease(): Promise<void> {
    const lease = (await this.leases.get(CONTROLLER_LEASE))!;
    await this.leases.update({ ...lease, spec: { ...lease.spec, holderIdentity: 'somebody-else' } });
  }

  async told(): Promise<readonly Told[]> {
    return (await this.list('/api/v1/events')).items as unknown as readonly Told[];
  }

  /** Reasons of all Events. */
  async events(): Promise<readonly string[]> {
    return (await this.told()).map(({ reason }) => reason);
  }

  /** Up to where the agent has asked its host for a reboot. */
  async askForReboot(node: string, { slowMs = 0 } = {}): Promise<void> {
    await this.report(node, { current_state: 'StagedAndPerformedUpdate' });
    await this.pass();
    await this.mark(node, { drained: true });
    const requested_at = rfc3339(this.clock.now() - slowMs);
    await this.report(node, { reboot: { boot_id: 'boot-1', version: '1.1.0', requested_at } });
  }

  /** Marks the node as a drain of ours does that has begun, or is over. */
  async mark(node: string, { drained = false } = {}): Promise<void> {
    const time = rfc3339(this.clock.now());
    const marks = { id: 'm', since: time, boot: 'boot-1', owns: ['cordon'], ...(drained && { drained: time }) };
    const annotations = { [MARKS_ANNOTATION]: JSON.stringify(marks) };
    await this.patchNode(node, { metadata: { annotations }, spec: { unschedulable: true } });
  }

  /** Takes a node through its whole update, as its agent would. */
  async update(node: string): Promise<void> {
    await this.report(node, { current_state: 'StagedAndPerformedUpdate' });
    await this.pass();
    await this.report(node, { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    await this.pass();
    await this.report(node, { current_state: 'MonitoringUpdate' });
    // An agent comes to rest when it is told to, which may take a second try.
    for (let second = 0; second < 10 && (await this.spec(node)) !== 'Idle'; second++) await this.pass();
    await this.report(node, { current_state: 'Idle' });
    await this.pass();
  }

  start(options: Starting = {}): Manager {
    this.#controllers += 1;
    const controller = createManager({
      transport: options.transport ?? this.transport,
      ...this.#common,
      clock: options.clock ?? this.clock,
      logger: options.logger ?? this.#common.logger,
      config: config(options.env),
      identity: options.identity ?? `controller-${this.#controllers}`,
      ordersOf: options.ordersOf,
      notifierOf: options.notifierOf,
    });
    const signal = AbortSignal.any([this.#stop.signal, ...(options.signal ? [options.signal] : [])]);
    this.#running.push(controller.run(signal));
    return controller;
  }

  /** A replica of the apiserver on this cluster. */
  apiserver({ preflight, transport = this.transport }: ApiserverParts = {}): Apiserver {
    return createApiserver({
      transport,
      ...this.#common,
      clock: this.clock,
      config: { ...readApiserverConfig({}), ...(preflight && { DRAIN_PREFLIGHT: preflight }) },
      instance: 'replica',
    });
  }

  /** Lets everybody act, and a second go by. */
  pass(ms = 1000): Promise<void> {
    return this.clock.advance(ms);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.pass(5000);
    await inTime('the end of the controllers', Promise.all(this.#running));
  }
}

interface ApiserverParts {
  readonly preflight?: 'warn' | 'refuse';
  readonly transport?: KubeTransport;
}

export function config(env: Readonly<Record<string, string>> = {}): ControllerConfig {
  return readControllerConfig({ MY_NODE_NAME: 'none', MAX_FAILED_UPDATE: 'unlimited', PROOF_NODES: '100%', ...env });
}
