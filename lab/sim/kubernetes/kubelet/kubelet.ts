import { ConflictError } from '../../../../runtime/kube/errors.ts';
import { collectionPath, objectPath } from '../../../../runtime/kube/paths.ts';
import { rfc3339 } from '../../../../runtime/lib/clock.ts';
import { mergePatch } from '../pods.ts';
import { type ApiAccess, insist } from './insist.ts';
import { NodePods, type NodePodsOptions } from './node-pods.ts';
import { booted, type BootInfo, lease, lost, registration } from './node-status.ts';

const NODES = collectionPath({ version: 'v1', plural: 'nodes' });
/** Of nodes. */
export const LEASES = collectionPath({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  namespace: 'kube-node-lease',
});

export interface KubeletOptions extends Omit<NodePodsOptions, 'runs'> {
  /** Labels with which the node registers, beside its name and platform. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What follows a host: it boots with it and goes down with it. */
export interface NodeSoftware {
  /** The node comes up: its Node is Ready and tells of this boot, and its pods start (again). */
  boot(info: BootInfo, signal?: AbortSignal): Promise<void>;
  /** The node goes down, all containers with it, and is no longer Ready. */
  shutdown(signal?: AbortSignal): Promise<void>;
}

/** One node: registers it and runs the pods that are bound to it, from `boot` to `shutdown`. */
export class Kubelet implements NodeSoftware {
  readonly #options: KubeletOptions;
  readonly #pods: NodePods;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#pods = new NodePods(options);
  }

  /** Follows the node's pods until the signal aborts, then stops them all. Pods run only while the node is up. Rejects when the API refuses what a kubelet may do. */
  run(signal: AbortSignal): Promise<void> {
    return this.#pods.run(signal);
  }

  async boot(info: BootInfo, signal?: AbortSignal): Promise<void> {
    const { nodeName, clock, labels = {} } = this.#options;
    await ensure(this.#options, { path: NODES, body: registration(nodeName, labels) }, signal);
    await ensure(this.#options, { path: LEASES, body: lease(nodeName, clock.now()) }, signal);
    await this.#patchStatus(booted(nodeName, info, rfc3339(clock.now())), signal);
    this.#pods.powerOn();
  }

  async shutdown(signal?: AbortSignal): Promise<void> {
    await this.#pods.powerOff();
    await this.#patchStatus(lost(rfc3339(this.#options.clock.now())), signal);
  }

  async #patchStatus(status: object, signal?: AbortSignal): Promise<void> {
    const path = objectPath(NODES, this.#options.nodeName, 'status');
    await insist(this.#options, { ...mergePatch(path, { status }), ...(signal && { signal }) });
  }
}

/** Creates an object that may be there already. */
export async function ensure(
  api: ApiAccess,
  object: { readonly path: string; readonly body: object },
  signal?: AbortSignal,
): Promise<void> {
  try {
    await insist(api, { method: 'POST', ...object, ...(signal && { signal }) });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}
