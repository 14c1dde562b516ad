import type { Agent } from '../../runtime/apiserver/agent.ts';
import { createApiserver } from '../../runtime/apiserver/apiserver.ts';
import type { Service } from '../../runtime/apiserver/service.ts';
import { ConflictError } from '../../runtime/kube/errors.ts';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import type { ShadowObject } from '../../runtime/kube/shadows.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { type Marks, readMarks } from '../../runtime/marks/marks.ts';
import { API_VERSION, CRD_NAME, GROUP, KIND, PLURAL, shadowName, SINGULAR } from '../../runtime/shadow/names.ts';
import { crdSchema } from '../../runtime/shadow/schema.ts';
import { Tapped } from '../kube/world.ts';
import { CRDS } from '../sim/cluster/gadget.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';

/** A replica of the apiserver in this process, with a hand on its wire to the cluster. */
export interface Replica {
  readonly service: Service;
  readonly tap: Tapped;
}

/** A node in the middle of its update, with its shadow and its pods in a namespace of their own, on either cluster. */
export class DrainWorld {
  readonly #cluster: Contract;
  readonly namespace: string;
  readonly nodeName: string;
  readonly agent: Agent;
  readonly #replicas: Service[] = [];

  private constructor(cluster: Contract, namespace: string, agent: Agent) {
    this.#cluster = cluster;
    this.namespace = namespace;
    this.agent = agent;
    this.nodeName = agent.nodeName;
  }

  static async create(cluster: Contract): Promise<DrainWorld> {
    const namespace = await cluster.namespace();
    const { metadata } = await cluster.admin.create('/api/v1/nodes', {
      metadata: { generateName: 'drain-' },
      // Nobody else's pods: what is not put here by name stays away.
      spec: { taints: [{ key: 'contract', effect: 'NoSchedule' }] },
    });
    const world = new DrainWorld(cluster, namespace, {
      nodeName: metadata.name,
      nodeUid: metadata.uid,
      bootId: 'boot-1',
    });
    await world.boots('1.38.0', 'boot-1');
    await defined(cluster, `/apis/${GROUP}/v2/namespaces/${namespace}/${PLURAL}`);
    await world.#addShadow();
    return world;
  }

  replica({ timeoutSec = 60, transport }: { timeoutSec?: number; transport?: KubeTransport } = {}): Replica {
    const tap = new Tapped(transport ?? this.#cluster.admin.transport);
    const { service } = createApiserver({
      transport: tap,
      namespace: this.namespace,
      config: {
        DRAIN_TIMEOUT_IN_SEC: timeoutSec,
        DRAIN_PREFLIGHT: 'warn',
        MAX_CONCURRENT_EVICTIONS: 5,
        REQUIRE_CLIENT_CERTIFICATE: false,
      },
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
      instance: 'contract',
    });
    this.#replicas.push(service);
    return { service, tap };
  }

  /** Ends what still runs, and takes the node away. */
  async end(): Promise<void> {
    for (const service of this.#replicas) service.close();
    await this.#cluster.admin.delete(`/api/v1/nodes/${this.nodeName}`);
  }

  /** A pod that is ready on the node, whose kubelet is the test. */
  async addPod(name: string, namespace = this.namespace): Promise<void> {
    const { admin } = this.#cluster;
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const tolerations = [{ key: 'contract', operator: 'Exists' }];
    const spec = { nodeName: this.nodeName, tolerations, containers: [{ name: 'main', image: 'web' }] };
    await admin.create(path, { metadata: { name, labels: { app: 'web' } }, spec });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await admin.patch(`${path}/${name}/status`, { status: { phase: 'Running', conditions } });
  }

  /** The pod's containers have ended, once it is ending at all. */
  async endPod(name: string, namespace = this.namespace): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await eventually(async () => {
      const { metadata } = (await this.#cluster.admin.get(path)) as unknown as Pod;
      if (metadata.deletionTimestamp === undefined) throw new Error(`${name} is not ending`);
    });
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

  async shadow(): Promise<ShadowObject> {
    return (await this.#cluster.admin.get(this.#shadowPath())) as unknown as ShadowObject;
  }

  async setSpec(spec: object): Promise<void> {
    await this.#cluster.admin.patch(this.#shadowPath(), { spec });
  }

  #shadowPath(): string {
    return `/apis/${GROUP}/v2/namespaces/${this.namespace}/${PLURAL}/${shadowName(this.nodeName)}`;
  }

  async #addShadow(): Promise<void> {
    const { nodeName: name, nodeUid: uid } = this.agent;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    await this.#cluster.admin.create(`/apis/${GROUP}/v2/namespaces/${this.namespace}/${PLURAL}`, {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { name: shadowName(name), ownerReferences },
      spec: { state: 'RebootedIntoUpdate', version: '1.39.0' },
    });
    await this.#cluster.admin.patch(`${this.#shadowPath()}/status`, {
      status: {
        current_version: '1.38.0',
        target_version: '1.39.0',
        current_state: 'StagedAndPerformedUpdate',
        crash_count: 0,
      },
    });
  }
}

/** Brings the definition of shadows into being, once per cluster, and waits until it is served at `path`. */
async function defined({ admin }: Contract, path: string): Promise<void> {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: CRD_NAME },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind: KIND, listKind: `${KIND}List`, plural: PLURAL, singular: SINGULAR },
      versions: [
        {
          name: 'v2',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: crdSchema('v2') },
        },
      ],
    },
  };
  // As `kubectl apply` leaves it: other tests of the same cluster apply their own over it.
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(definition) };
  await admin.create(CRDS, { ...definition, metadata: { name: CRD_NAME, annotations } }).catch((error: unknown) => {
    if (!(error instanceof ConflictError)) throw error;
  });
  await eventually(() => admin.list(path));
}
