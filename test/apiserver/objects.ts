import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import { ConflictError } from '../../runtime/kube/errors.ts';
import type { ShadowObject } from '../../runtime/api/resources.ts';
import type { KubeObject, Node, Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { type Marks, readMarks } from '../../runtime/api/marks/marks.ts';
import type { Spec, Status } from '../../runtime/api/shadow/model.ts';
import { GROUP, KIND, NAMESPACE, PLURAL, shadowName } from '../../runtime/api/shadow/names.ts';
import { shadowCrd } from '../shadow-crd.ts';

export const SHADOWS = `/apis/${GROUP}/v2/namespaces/${NAMESPACE}/${PLURAL}`;

/** The objects of a cluster, by an administrator's hand. */
export class Objects {
  readonly admin: KubeTransport;

  constructor(admin: KubeTransport) {
    this.admin = admin;
  }

  /** The resource, and the namespaces that everything else is in. */
  async prepare(): Promise<void> {
    for (const name of [NAMESPACE, 'shop']) await this.post('/api/v1/namespaces', { metadata: { name } });
    await this.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', shadowCrd());
  }

  async agent(nodeName = 'n1', bootId: string | null = 'boot-1'): Promise<VerifiedAgent> {
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
    const kinds = { DaemonSet: owner, ReplicaSet: options.replicaSet };
    const owners = Object.entries(kinds).flatMap(([kind, of]) =>
      of === undefined ? [] : [this.#controller(namespace, kind, of)],
    );
    const pod = await this.post(
      `/api/v1/namespaces/${namespace}/pods`,
      podManifest(name, options, await Promise.all(owners)),
    );
    const status = { phase, conditions: [{ type: 'Ready', status: 'True' }] };
    await this.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, { status });
    return pod;
  }

  async #controller(namespace: string, kind: string, name: string): Promise<object> {
    const path = `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
    const { metadata } = await this.post(path, { metadata: { name } }).catch((error: unknown) => {
      if (!(error instanceof ConflictError)) throw error;
      return this.get(`${path}/${name}`) as Promise<KubeObject>;
    });
    return { apiVersion: 'apps/v1', kind, name, uid: metadata.uid, controller: true };
  }

  /** A claim in the shop, bound to a volume of this handle; the volume's unique name. */
  async addClaim(name: string, handle: string): Promise<string> {
    await this.post('/api/v1/persistentvolumes', {
      metadata: { name: `pv-${name}` },
      spec: { csi: { driver: 'csi.test', volumeHandle: handle } },
    });
    await this.post('/api/v1/namespaces/shop/persistentvolumeclaims', {
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

  async told(): Promise<readonly { readonly reason: string; readonly message: string; readonly count: number }[]> {
    return ((await this.get('/api/v1/events')) as { items: { reason: string; message: string; count: number }[] })
      .items;
  }

  /** Reasons of all Events. */
  async events(): Promise<readonly string[]> {
    return (await this.told()).map(({ reason }) => reason);
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
  readonly volumes?: readonly object[];
  readonly graceSeconds?: number;
  /** Name of a ReplicaSet that controls the pod. */
  readonly replicaSet?: string;
  readonly priority?: number;
}

function podManifest(name: string, options: PodOptions, ownerReferences: readonly object[]): object {
  const { node = 'n1', labels = {}, annotations = {}, tolerations = [], account = 'default', volumes = [] } = options;
  return {
    metadata: { name, labels, annotations, ownerReferences },
    spec: {
      nodeName: node,
      tolerations,
      serviceAccountName: account,
      volumes,
      terminationGracePeriodSeconds: options.graceSeconds ?? 30,
      ...(options.priority !== undefined && { priority: options.priority }),
      containers: [{ name: 'c', image: 'i' }],
    },
  };
}
