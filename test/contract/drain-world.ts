import { expect } from '@jest/globals';
import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import { createApiserver } from '../../runtime/apiserver/apiserver.ts';
import { ConflictError, NotFoundError } from '../../runtime/kube/errors.ts';
import { type ShadowObject, shadowsPath } from '../../runtime/api/resources.ts';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { type Marks, readMarks } from '../../runtime/api/marks/marks.ts';
import type { DrainProgress } from '../../runtime/api/shadow/model.ts';
import { API_VERSION, CRD_NAME, KIND, shadowName } from '../../runtime/api/shadow/names.ts';
import { at, text } from '../../lab/sim/cluster/object.ts';
import { started } from '../apiserver/world.ts';
import { Tapped } from '../kube/world.ts';
import { CRDS } from './gadget.ts';
import { type Account, apiserverAccount, noting } from './account.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import type { Replica, ReplicaOptions } from './replica.ts';
import { shadowCrd } from '../shadow-crd.ts';

export interface PodOptions {
  /** @default the world's */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Beyond what lets it be on the node. */
  readonly tolerations?: readonly object[];
  readonly volumes?: readonly object[];
  readonly phase?: string;
}

interface Parts extends Pick<DrainWorld, 'operator' | 'namespace' | 'agent' | 'transport'> {}

/** What lets a pod be on a world's node. */
export const TOLERATION = { key: 'contract', operator: 'Exists' };

/** A node in the middle of its update, with its shadow and its pods in a namespace of their own, on either cluster. */
export class DrainWorld {
  readonly #cluster: Contract;
  /** The operator's own. */
  readonly operator: string;
  /** Of the pods on the node. */
  readonly namespace: string;
  readonly nodeName: string;
  readonly agent: VerifiedAgent;
  /** Of a replica, with the rights that it is given wherever it runs. */
  readonly transport: KubeTransport;
  readonly #endings: (() => unknown)[] = [];
  /** What the apiserver's own roles did not allow. */
  readonly #refusals: string[] = [];

  private constructor(cluster: Contract, { operator, namespace, agent, transport }: Parts) {
    this.#cluster = cluster;
    this.operator = operator;
    this.namespace = namespace;
    this.agent = agent;
    this.nodeName = agent.nodeName;
    this.transport = noting(transport, this.#refusals);
  }

  static async create(cluster: Contract): Promise<DrainWorld> {
    const [operator, namespace] = await Promise.all([cluster.namespace(), cluster.namespace()]);
    await defined(cluster, shadowsPath(operator));
    const { transport } = await apiserverAccount(cluster, { namespace: operator, name: 'apiserver' });
    const { metadata } = await cluster.admin.create('/api/v1/nodes', {
      metadata: { generateName: 'drain-' },
      // Nobody else's pods: what is not put here by name stays away.
      spec: { taints: [{ key: TOLERATION.key, effect: 'NoSchedule' }] },
    });
    const agent = { nodeName: metadata.name, nodeUid: metadata.uid, bootId: 'boot-1' };
    const world = new DrainWorld(cluster, { operator, namespace, agent, transport });
    await world.boots('1.38.0', 'boot-1');
    await world.#addShadow();
    return world;
  }

  replica(options: ReplicaOptions = {}): Replica {
    const { timeoutSec = 60, preflight = 'warn', transport = this.transport, clock = systemClock } = options;
    const tap = new Tapped(transport);
    const { service } = createApiserver({
      transport: tap,
      namespace: this.operator,
      config: {
        DRAIN_TIMEOUT_MS: timeoutSec * 1000,
        DRAIN_PREFLIGHT: preflight,
        DRAIN_REFUSAL_TIMEOUT_MS: 1_800_000,
        MAX_CONCURRENT_EVICTIONS: 5,
        VOLUME_DETACH_TIMEOUT_MS: 120_000,
        SKIP_WAIT_FOR_DELETE_TIMEOUT_MS: 300_000,
        REQUIRE_CLIENT_CERTIFICATE: false,
      },
      clock,
      random: Math.random,
      logger: silentLogger,
      instance: 'contract',
    });
    this.atEnd(() => service.close());
    return { service, tap, drain: (gone) => started(service.cordonAndDrain(this.agent, gone)) };
  }

  /** An account with roles that can be withdrawn; one for a world. @param but a resource that they leave out */
  account(but?: string): Promise<Account> {
    return apiserverAccount(this.#cluster, { namespace: this.operator, name: 'other', but });
  }

  /** Has `ending` done with the world's end. */
  atEnd(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  /** Ends what still runs, and takes the node away. */
  async end(): Promise<void> {
    try {
      for (const ending of this.#endings) await ending();
    } finally {
      await this.removeNode();
    }
    expect(this.#refusals).toEqual([]);
  }

  async removeNode(): Promise<void> {
    await this.#cluster.admin.delete(`/api/v1/nodes/${this.nodeName}`).catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
  }

  /** A pod that is ready on the node, whose kubelet is the test. */
  async addPod(name: string, options: PodOptions = {}): Promise<void> {
    const { admin } = this.#cluster;
    const { namespace = this.namespace, labels = { app: 'web' }, annotations = {}, tolerations = [] } = options;
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await admin.create(path, {
      metadata: { name, labels, annotations },
      spec: {
        nodeName: this.nodeName,
        tolerations: [TOLERATION, ...tolerations],
        containers: [{ name: 'main', image: 'web' }],
        ...(options.volumes && { volumes: options.volumes }),
      },
    });
    await this.#reportPod(name, { namespace, phase: options.phase ?? 'Running' });
  }

  /** What the pod's kubelet says of it. */
  async #reportPod(name: string, { namespace = this.namespace, phase = 'Running' }): Promise<void> {
    const conditions = [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }];
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await this.#cluster.admin.patch(path, { status: { phase, conditions } });
  }

  /** Resolves when a pod is ending. */
  async isEnding(name: string, namespace = this.namespace): Promise<void> {
    await eventually(async () =>
      expect((await this.pod(name, namespace)).metadata).toHaveProperty('deletionTimestamp'),
    );
  }

  async pod(name: string, namespace = this.namespace): Promise<Pod> {
    return this.#cluster.admin.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
  }

  async budget(name: string, minAvailable: number): Promise<void> {
    await this.#cluster.admin.create(this.#budgets(), {
      metadata: { name },
      spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
    });
  }

  /** Once its controller has counted it. */
  async counted(name: string): Promise<void> {
    await eventually(async () =>
      expect((await this.#cluster.admin.get(`${this.#budgets()}/${name}`))['status']).toMatchObject({
        observedGeneration: 1,
        expectedPods: 1,
      }),
    );
  }

  async removeBudget(name: string): Promise<void> {
    await this.#cluster.admin.delete(`${this.#budgets()}/${name}`);
  }

  #budgets(): string {
    return `/apis/policy/v1/namespaces/${this.namespace}/poddisruptionbudgets`;
  }

  /** The pod's containers have ended, once it is ending at all. */
  async endPod(name: string, namespace = this.namespace): Promise<void> {
    await this.isEnding(name, namespace);
    await this.removePod(name, namespace);
  }

  async removePod(name: string, namespace = this.namespace): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await this.#cluster.admin.delete(path, { gracePeriodSeconds: 0 });
  }

  async node(): Promise<Node> {
    return this.#cluster.admin.get(`/api/v1/nodes/${this.nodeName}`);
  }

  async isCordoned(): Promise<boolean> {
    return (await this.node()).spec?.unschedulable === true;
  }

  async marks(): Promise<Marks | undefined> {
    return readMarks(await this.node());
  }

  async patchNode(patch: object): Promise<void> {
    await this.#cluster.admin.patch(`/api/v1/nodes/${this.nodeName}`, patch);
  }

  /** What the host runs from now on, and the identity of its boot. */
  async boots(version: string, bootID: string): Promise<void> {
    const nodeInfo = { osImage: `Bottlerocket OS ${version} (aws-k8s-1.33)`, bootID };
    const conditions = [{ type: 'Ready', status: 'True' }];
    await this.#cluster.admin.patch(`/api/v1/nodes/${this.nodeName}/status`, { status: { nodeInfo, conditions } });
  }

  /** What the apiserver has said on the node, as reason and message. On a real cluster the node controller says that the node has come. */
  async events(): Promise<readonly string[]> {
    const { items } = await this.#cluster.admin.list('/api/v1/namespaces/default/events');
    return items
      .filter((event) => at(event, 'involvedObject', 'name') === this.nodeName)
      .filter((event) => text(at(event, 'source', 'component')) === 'brupop-apiserver')
      .map((event) => `${text(event['reason'])}: ${text(event['message'])}`);
  }

  async progress(): Promise<DrainProgress | null | undefined> {
    return (await this.shadow()).status?.drain;
  }

  async shadow(): Promise<ShadowObject> {
    return (await this.#cluster.admin.get(this.#shadowPath())) as unknown as ShadowObject;
  }

  async setSpec(spec: object): Promise<void> {
    await this.#cluster.admin.patch(this.#shadowPath(), { spec });
  }

  async setStatus(status: object): Promise<void> {
    await this.#cluster.admin.patch(`${this.#shadowPath()}/status`, { status });
  }

  #shadowPath(): string {
    return `${shadowsPath(this.operator)}/${shadowName(this.nodeName)}`;
  }

  async #addShadow(): Promise<void> {
    const { nodeName: name, nodeUid: uid } = this.agent;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    await this.#cluster.admin.create(shadowsPath(this.operator), {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { name: shadowName(name), ownerReferences },
      spec: { state: 'RebootedIntoUpdate', version: '1.39.0' },
    });
    await this.setStatus({
      current_version: '1.38.0',
      target_version: '1.39.0',
      current_state: 'StagedAndPerformedUpdate',
      crash_count: 0,
    });
  }
}

/** Brings the definition of shadows into being, once per cluster, and waits until it is served at `path`. */
async function defined({ admin }: Contract, path: string): Promise<void> {
  const definition = shadowCrd();
  // As `kubectl apply` leaves it: other tests of the same cluster apply their own over it.
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(definition) };
  await admin.create(CRDS, { ...definition, metadata: { name: CRD_NAME, annotations } }).catch((error: unknown) => {
    if (!(error instanceof ConflictError)) throw error;
  });
  await eventually(() => admin.list(path));
}
