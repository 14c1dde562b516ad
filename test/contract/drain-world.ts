import { expect } from '@jest/globals';
import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import { createApiserver } from '../../runtime/apiserver/apiserver.ts';
import { ConflictError, NotFoundError } from '../../runtime/kube/errors.ts';
import { shadowsPath } from '../../runtime/api/resources.ts';
import type { KubeObject, Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import type { DrainProgress } from '../../runtime/api/shadow/model.ts';
import { CRD_NAME } from '../../runtime/api/shadow/names.ts';
import { Objects, type PodOptions } from '../apiserver/objects.ts';
import { started } from '../apiserver/world.ts';
import { Tapped } from '../kube/world.ts';
import { CRDS } from './gadget.ts';
import { type Account, apiserverAccount, noting } from './account.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import type { Replica, ReplicaOptions } from './replica.ts';
import { shadowCrd } from '../shadow-crd.ts';

interface Parts extends Pick<DrainWorld, 'agent' | 'names' | 'replicas'> {}

/** What lets a pod be on a world's node. */
export const TOLERATION = { key: 'contract', operator: 'Exists' };

/** A node in the middle of its update, with its shadow and its pods in a namespace of their own, on either cluster. */
export class DrainWorld extends Objects {
  readonly #cluster: Contract;
  readonly agent: VerifiedAgent;
  /** Of replicas, with the rights that they are given wherever they run. */
  readonly replicas: KubeTransport;
  readonly #endings: (() => unknown)[] = [];
  /** What the apiserver's own roles did not allow. */
  readonly #refusals: string[] = [];

  private constructor(cluster: Contract, { names, agent, replicas }: Parts) {
    super(cluster.admin.transport, names);
    this.#cluster = cluster;
    this.agent = agent;
    this.replicas = noting(replicas, this.#refusals);
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
    const names = { operator, namespace, nodeName: metadata.name };
    const world = new DrainWorld(cluster, { names, agent, replicas: transport });
    await world.boots('1.38.0', 'boot-1');
    await world.addShadow();
    return world;
  }

  replica(options: ReplicaOptions = {}): Replica {
    const { timeoutSec = 60, preflight = 'warn', transport = this.replicas, clock = systemClock } = options;
    const tap = new Tapped(transport);
    const { service } = createApiserver({
      transport: tap,
      namespace: this.names.operator,
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
    return apiserverAccount(this.#cluster, { namespace: this.names.operator, name: 'other', but });
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
    await this.delete(`/api/v1/nodes/${this.names.nodeName}`).catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
  }

  /** A pod that lets itself be on the node, whose kubelet is the test. */
  override addPod(name: string, options: PodOptions = {}): Promise<KubeObject> {
    const tolerations = [TOLERATION, ...(options.tolerations ?? [])];
    return super.addPod(name, { labels: { app: 'web' }, ...options, tolerations });
  }

  /** Resolves when a pod is ending. */
  async isEnding(name: string, namespace?: string): Promise<void> {
    await eventually(async () =>
      expect((await this.pod(name, namespace)).metadata).toHaveProperty('deletionTimestamp'),
    );
  }

  async pod(name: string, namespace = this.names.namespace): Promise<Pod> {
    return await this.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
  }

  async budget(name: string, minAvailable: number): Promise<void> {
    await this.create(this.#budgets(), {
      metadata: { name },
      spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
    });
  }

  /** Once its controller has counted it. */
  async counted(name: string): Promise<void> {
    await eventually(async () =>
      expect((await this.get(`${this.#budgets()}/${name}`))['status']).toMatchObject({
        observedGeneration: 1,
        expectedPods: 1,
      }),
    );
  }

  async removeBudget(name: string): Promise<void> {
    await this.delete(`${this.#budgets()}/${name}`);
  }

  #budgets(): string {
    return `/apis/policy/v1/namespaces/${this.names.namespace}/poddisruptionbudgets`;
  }

  /** The pod's containers have ended, once it is ending at all. */
  override async endPod(name: string, namespace?: string): Promise<void> {
    await this.isEnding(name, namespace);
    await this.removePod(name, namespace);
  }

  removePod(name: string, namespace?: string): Promise<void> {
    return super.endPod(name, namespace);
  }

  async isCordoned(): Promise<boolean> {
    return (await this.node()).spec?.unschedulable === true;
  }

  async patchNode(patch: object): Promise<void> {
    await this.patch(`/api/v1/nodes/${this.names.nodeName}`, patch);
  }

  /** What the apiserver has said on the node, as reason and message. On a real cluster the node controller says that the node has come. */
  async said(): Promise<readonly string[]> {
    return (await this.told())
      .filter(({ involvedObject }) => involvedObject.name === this.names.nodeName)
      .filter(({ source }) => source.component === 'brupop-apiserver')
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  async progress(): Promise<DrainProgress | null | undefined> {
    return (await this.shadow()).status?.drain;
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
