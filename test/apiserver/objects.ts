import { ConflictError } from '../../runtime/kube/errors.ts';
import { type ShadowObject, shadowsPath } from '../../runtime/api/resources.ts';
import type { KubeObject, Node, Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { type Marks, readMarks } from '../../runtime/api/marks/marks.ts';
import type { Spec, Status } from '../../runtime/api/shadow/model.ts';
import { API_VERSION, KIND, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { Client } from '../kube/client.ts';
import { shadowCrd } from '../shadow-crd.ts';

export const SHADOWS = shadowsPath(NAMESPACE);

/** Where the objects are. */
export interface Names {
  /** The operator's namespace. */
  readonly operator: string;
  /** That of the other pods. */
  readonly namespace: string;
  readonly nodeName: string;
}

/** The objects of a cluster, by an administrator's hand: of one node, where no other is named. */
export class Objects extends Client {
  readonly names: Names;

  constructor(admin: KubeTransport, names: Names = { operator: NAMESPACE, namespace: 'shop', nodeName: 'n1' }) {
    super(admin);
    this.names = names;
  }

  /** The resource, and the namespaces that everything else is in. */
  async prepare(): Promise<void> {
    const { operator, namespace } = this.names;
    for (const name of [operator, namespace]) await this.create('/api/v1/namespaces', { metadata: { name } });
    await this.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', shadowCrd());
  }

  async addNode(name: string): Promise<void> {
    await this.create('/api/v1/nodes', { metadata: { name } });
    await this.boots('1.38.0', 'boot-1', name);
  }

  /** In the middle of its update: prepared, and wanted rebooted. */
  async addShadow(nodeName = this.names.nodeName): Promise<void> {
    const { uid } = (await this.node(nodeName)).metadata;
    await this.create(shadowsPath(this.names.operator), {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: {
        name: shadowName(nodeName),
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }],
      },
      spec: { state: 'RebootedIntoUpdate', version: '1.39.0' },
    });
    const status = { current_version: '1.38.0', target_version: '1.39.0', crash_count: 0 } as const;
    await this.setStatus({ ...status, current_state: 'StagedAndPerformedUpdate' }, nodeName);
  }

  /** What the host runs from now on, and the identity of its boot. */
  boots(version: string, bootID: string, nodeName = this.names.nodeName): Promise<unknown> {
    const nodeInfo = { osImage: `Bottlerocket OS ${version} (aws-k8s-1.33)`, bootID };
    const conditions = [{ type: 'Ready', status: 'True' }];
    return this.patch(`/api/v1/nodes/${nodeName}/status`, { status: { nodeInfo, conditions } });
  }

  setSpec(spec: Partial<Spec>, nodeName?: string): Promise<unknown> {
    return this.patch(this.#shadowPath(nodeName), { spec });
  }

  setStatus(status: Partial<Status>, nodeName?: string): Promise<unknown> {
    return this.patch(`${this.#shadowPath(nodeName)}/status`, { status });
  }

  #shadowPath(nodeName = this.names.nodeName): string {
    return `${shadowsPath(this.names.operator)}/${shadowName(nodeName)}`;
  }

  /** Ready, unless it has ended. */
  async addPod(name: string, options: PodOptions = {}): Promise<KubeObject> {
    const { namespace = this.names.namespace, node = this.names.nodeName, owner, phase = 'Running' } = options;
    const kinds = { DaemonSet: owner, ReplicaSet: options.replicaSet, StatefulSet: options.statefulSet };
    const owners = Object.entries(kinds).flatMap(([kind, of]) =>
      of === undefined ? [] : [this.#controller(namespace, kind, of)],
    );
    const ownerReferences = await Promise.all(owners);
    const pod = await this.create(
      `/api/v1/namespaces/${namespace}/pods`,
      podManifest(name, { ...options, node }, ownerReferences),
    );
    const status = { phase, conditions: [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }] };
    await this.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, { status });
    return pod;
  }

  async #controller(namespace: string, kind: string, name: string): Promise<object> {
    const path = `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
    const { metadata } = await this.create(path, { metadata: { name } }).catch((error: unknown) => {
      if (!(error instanceof ConflictError)) throw error;
      return this.get(`${path}/${name}`);
    });
    return { apiVersion: 'apps/v1', kind, name, uid: metadata.uid, controller: true };
  }

  /** A claim in the shop, bound to a volume of this handle; the volume's unique name. */
  async addClaim(name: string, handle: string): Promise<string> {
    await this.create('/api/v1/persistentvolumes', {
      metadata: { name: `pv-${name}` },
      spec: { csi: { driver: 'csi.test', volumeHandle: handle } },
    });
    await this.create('/api/v1/namespaces/shop/persistentvolumeclaims', {
      metadata: { name },
      spec: { volumeName: `pv-${name}` },
    });
    return `kubernetes.io/csi/csi.test^${handle}`;
  }

  /** What the node's kubelet says that it has in use. */
  useVolumes(names: readonly string[], node = 'n1'): Promise<unknown> {
    return this.patch(`/api/v1/nodes/${node}/status`, { status: { volumesInUse: names.length > 0 ? names : null } });
  }

  /** What the node's kubelet does once a pod's containers have ended. */
  async endPod(name: string, namespace = this.names.namespace): Promise<void> {
    await this.delete(`/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 });
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.list('/api/v1/pods')).items;
  }

  async node(name = this.names.nodeName): Promise<Node> {
    return await this.get(`/api/v1/nodes/${name}`);
  }

  async marks(name?: string): Promise<Marks | undefined> {
    return readMarks(await this.node(name));
  }

  async shadow(nodeName?: string): Promise<ShadowObject> {
    return (await this.get(this.#shadowPath(nodeName))) as unknown as ShadowObject;
  }

  setCordon(unschedulable: boolean, name = this.names.nodeName): Promise<unknown> {
    return this.patch(`/api/v1/nodes/${name}`, { spec: { unschedulable: unschedulable || null } });
  }

  async told(): Promise<readonly Told[]> {
    return (await this.list('/api/v1/events')).items as unknown as readonly Told[];
  }

  /** Reasons of all Events. */
  async events(): Promise<readonly string[]> {
    return (await this.told()).map(({ reason }) => reason);
  }
}

/** An Event. */
export interface Told {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: { readonly name: string };
  readonly source: { readonly component: string };
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
  readonly volumes?: readonly object[];
  readonly graceSeconds?: number;
  /** Name of a ReplicaSet that controls the pod. */
  readonly replicaSet?: string;
  /** Name of a StatefulSet that does. */
  readonly statefulSet?: string;
  readonly priority?: number;
  /** What its container asks for. */
  readonly requests?: Record<string, string>;
  readonly nodeSelector?: Record<string, string>;
}

function podManifest(name: string, options: PodOptions, ownerReferences: readonly object[]): object {
  const { labels = {}, annotations = {}, tolerations = [], account, volumes = [] } = options;
  return {
    metadata: { name, labels, annotations, ownerReferences },
    spec: {
      nodeName: options.node,
      tolerations,
      ...(account !== undefined && { serviceAccountName: account }),
      volumes,
      terminationGracePeriodSeconds: options.graceSeconds ?? 30,
      ...(options.priority !== undefined && { priority: options.priority }),
      ...(options.nodeSelector && { nodeSelector: options.nodeSelector }),
      containers: [{ name: 'c', image: 'i', ...(options.requests && { resources: { requests: options.requests } }) }],
    },
  };
}
