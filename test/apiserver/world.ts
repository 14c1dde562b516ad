import type { Agent } from '../../runtime/apiserver/agent.ts';
import { type Apiserver, createApiserver } from '../../runtime/apiserver/apiserver.ts';
import type { Preflight } from '../../runtime/apiserver/config.ts';
import type { KubeObject, Node, Pod } from '../../runtime/kube/objects.ts';
import type { ShadowObject } from '../../runtime/kube/shadows.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import { type Logger, silentLogger } from '../../runtime/lib/log.ts';
import { type Marks, readMarks } from '../../runtime/marks/marks.ts';
import type { Spec, Status } from '../../runtime/shadow/model.ts';
import { CRD_NAME, GROUP, KIND, NAMESPACE, PLURAL, shadowName } from '../../runtime/shadow/names.ts';
import { crdSchema } from '../../runtime/shadow/schema.ts';
import { settle, VirtualClock } from '../../sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import { Tapped } from '../kube/world.ts';

export const SHADOWS = `/apis/${GROUP}/v2/namespaces/${NAMESPACE}/${PLURAL}`;

/** One replica of the apiserver, with a hand on its wire to the Kubernetes API. */
export interface Replica extends Apiserver {
  readonly tap: Tapped;
}

export interface ReplicaSettings {
  readonly timeoutSec?: number;
  readonly maxEvictions?: number;
  readonly preflight?: Preflight;
  readonly requireCertificate?: boolean;
  readonly logger?: Logger;
}

/** A cluster with a node in the middle of its update, and as many replicas of the apiserver as a test wants. */
export class World {
  readonly clock = new VirtualClock();
  readonly cluster: EmbeddedCluster;
  readonly admin: KubeTransport;
  /** Of every replica, where a test says nothing else. */
  settings: ReplicaSettings = {};
  #seed = 1;

  constructor() {
    this.cluster = new EmbeddedCluster({ clock: this.clock, random: this.random });
    this.admin = this.cluster.transport(ADMIN);
  }

  readonly random = (): number => {
    this.#seed = (this.#seed * 16807) % 2147483647;
    return this.#seed / 2147483647;
  };

  /** The node `n1`, ready to be drained: wanted in RebootedIntoUpdate at 1.39.0, prepared, running 1.38.0 in the boot `boot-1`. */
  static async create(): Promise<World> {
    const world = new World();
    for (const name of [NAMESPACE, 'shop']) await world.post('/api/v1/namespaces', { metadata: { name } });
    await world.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd());
    await world.addNode('n1');
    await world.addShadow('n1');
    return world;
  }

  replica(settings: ReplicaSettings = this.settings): Replica {
    const tap = new Tapped(this.cluster.transport(ADMIN));
    const apiserver = createApiserver({
      transport: tap,
      namespace: NAMESPACE,
      config: {
        DRAIN_TIMEOUT_IN_SEC: settings.timeoutSec ?? 1800,
        REQUIRE_CLIENT_CERTIFICATE: settings.requireCertificate ?? false,
        DRAIN_PREFLIGHT: settings.preflight ?? 'warn',
        MAX_CONCURRENT_EVICTIONS: settings.maxEvictions ?? 5,
      },
      clock: this.clock,
      random: this.random,
      logger: settings.logger ?? silentLogger,
      instance: 'replica',
    });
    return { ...apiserver, tap };
  }

  async agent(nodeName = 'n1', bootId: string | null = 'boot-1'): Promise<Agent> {
    return { nodeName, nodeUid: (await this.node(nodeName)).metadata.uid, bootId };
  }

  async addNode(name: string, more: { readonly ready?: boolean } = {}): Promise<void> {
    await this.post('/api/v1/nodes', { metadata: { name } });
    await this.patch(`/api/v1/nodes/${name}/status`, {
      status: {
        conditions: [{ type: 'Ready', status: more.ready === false ? 'False' : 'True' }],
        nodeInfo: { osImage: 'Bottlerocket OS 1.38.0 (aws-k8s-1.33)', bootID: 'boot-1' },
      },
    });
  }

  async addShadow(nodeName: string): Promise<void> {
    const { uid } = (await this.node(nodeName)).metadata;
    await this.post(SHADOWS, {
      apiVersion: `${GROUP}/v2`,
      kind: KIND,
      metadata: {
        name: shadowName(nodeName),
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }],
      },
      spec: { state: 'RebootedIntoUpdate', version: '1.39.0' },
    });
    await this.setStatus(nodeName, {
      current_version: '1.38.0',
      target_version: '1.39.0',
      current_state: 'StagedAndPerformedUpdate',
      crash_count: 0,
    });
  }

  /** Boots the node: a new boot id, and what it runs. */
  reboot(nodeName: string, { bootID, version }: { bootID: string; version: string }): Promise<unknown> {
    const nodeInfo = { osImage: `Bottlerocket OS ${version} (aws-k8s-1.33)`, bootID };
    return this.patch(`/api/v1/nodes/${nodeName}/status`, { status: { nodeInfo } });
  }

  setSpec(nodeName: string, spec: Partial<Spec>): Promise<unknown> {
    return this.patch(`${SHADOWS}/${shadowName(nodeName)}`, { spec });
  }

  setStatus(nodeName: string, status: Partial<Status>): Promise<unknown> {
    return this.patch(`${SHADOWS}/${shadowName(nodeName)}/status`, { status });
  }

  async addPod(name: string, options: PodOptions = {}): Promise<KubeObject> {
    const { namespace = 'shop', owner, phase = 'Running' } = options;
    const owners = owner === undefined ? [] : [await this.#daemonSet(namespace, owner)];
    const pod = await this.post(`/api/v1/namespaces/${namespace}/pods`, podManifest(name, options, owners));
    const status = { phase, conditions: [{ type: 'Ready', status: 'True' }] };
    await this.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, { status });
    return pod;
  }

  async #daemonSet(namespace: string, name: string): Promise<object> {
    const { metadata } = await this.post(`/apis/apps/v1/namespaces/${namespace}/daemonsets`, {
      metadata: { name },
    });
    return { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: metadata.uid, controller: true };
  }

  /** What the node's kubelet does once a pod's containers have ended. */
  async endPod(name: string, namespace = 'shop'): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await this.admin.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
  }

  async pods(): Promise<readonly Pod[]> {
    return ((await this.get('/api/v1/pods')) as { items: Pod[] }).items;
  }

  async node(name = 'n1'): Promise<Node> {
    return (await this.get(`/api/v1/nodes/${name}`)) as Node;
  }

  async marks(name = 'n1'): Promise<Marks | undefined> {
    return readMarks(await this.node(name));
  }

  async shadow(nodeName = 'n1'): Promise<ShadowObject> {
    return (await this.get(`${SHADOWS}/${shadowName(nodeName)}`)) as ShadowObject;
  }

  setCordon(unschedulable: boolean, name = 'n1'): Promise<unknown> {
    return this.patch(`/api/v1/nodes/${name}`, { spec: { unschedulable: unschedulable || null } });
  }

  async events(): Promise<readonly string[]> {
    return ((await this.get('/api/v1/events')) as { items: { reason: string }[] }).items.map((event) => event.reason);
  }

  get(path: string): Promise<unknown> {
    return this.admin.request({ method: 'GET', path });
  }

  async post(path: string, body: object): Promise<KubeObject> {
    return (await this.admin.request({ method: 'POST', path, body })) as KubeObject;
  }

  patch(path: string, body: object): Promise<unknown> {
    return this.admin.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  }
}

export interface PodOptions {
  readonly namespace?: string;
  readonly node?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly tolerations?: readonly object[];
  /** Name of a DaemonSet that controls the pod. */
  readonly owner?: string;
  readonly phase?: string;
  /** Name of its service account. */
  readonly account?: string;
}

function podManifest(name: string, options: PodOptions, ownerReferences: readonly object[]): object {
  const { node = 'n1', labels = {}, annotations = {}, tolerations = [], account = 'default' } = options;
  return {
    metadata: { name, labels, annotations, ownerReferences },
    spec: {
      nodeName: node,
      tolerations,
      serviceAccountName: account,
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'c', image: 'i' }],
    },
  };
}

/** Stops the first request that matches on its way; it goes on when told to. */
export function hold(tap: Tapped, matches: (request: KubeRequest) => boolean): Held {
  const released = Promise.withResolvers<void>();
  let reached = false;
  tap.before = async (request) => {
    if (reached || !matches(request)) return;
    reached = true;
    await released.promise;
  };
  return {
    async reached() {
      await settle();
      if (!reached) throw new Error('the request has not come');
    },
    async release() {
      released.resolve();
      await settle();
    },
  };
}

export interface Held {
  /** @throws Error when the request has not come after all that can run has run */
  reached(): Promise<void>;
  release(): Promise<void>;
}

export const cordons = ({ method, path, body }: KubeRequest): boolean =>
  method === 'PATCH' && path === '/api/v1/nodes/n1' && JSON.stringify(body).includes('unschedulable');

export const writesNode = ({ method, path }: KubeRequest): boolean => method === 'PATCH' && path === '/api/v1/nodes/n1';

/** A promise that a test looks at later: until then its rejection is nobody's fault. */
export function started<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** How a promise stands after all that can run has run: `ok`, the refusal's status and reason, or `pending`. */
export async function outcome(promise: Promise<unknown>): Promise<string> {
  let now = 'pending';
  promise.then(
    () => (now = 'ok'),
    (error: { status?: number; reason?: string }) => (now = `${error.status} ${error.reason}`),
  );
  await settle();
  return now;
}

function crd(): object {
  return {
    metadata: { name: CRD_NAME },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind: KIND, plural: PLURAL },
      versions: [
        {
          name: 'v2',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: crdSchema('v2') },
          subresources: { status: {} },
        },
      ],
    },
  };
}
