import { isReady, type Node } from '../../runtime/kube/objects.ts';
import { collectionPath, objectPath } from '../../runtime/kube/paths.ts';
import { ensure, type NodeSoftware } from '../../lab/sim/kubernetes/kubelet/kubelet.ts';
import { type ApiAccess, insist } from '../../lab/sim/kubernetes/kubelet/insist.ts';
import { type BootInfo, registration } from '../../lab/sim/kubernetes/kubelet/node-status.ts';
import { BOOT_ID_ANNOTATION, OS_IMAGE_ANNOTATION, POWER_LABEL } from './controlplane/stages.ts';

const NODES = collectionPath({ version: 'v1', plural: 'nodes' });
const POLL_MS = 50;

export interface PaperNodeOptions {
  readonly name: string;
  /** Labels with which it registers, beside its name and platform. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** As this node. */
  readonly api: ApiAccess;
}

/**
 * A machine whose kubelet is kwok: it says of itself only that it is on and what it has booted. Lease, status and heartbeats, and the pods
 * that are there on paper only, are kwok's.
 */
export class PaperNode implements NodeSoftware {
  readonly #options: PaperNodeOptions;

  constructor(options: PaperNodeOptions) {
    this.#options = options;
  }

  async boot({ osImage, bootID }: BootInfo, signal?: AbortSignal): Promise<void> {
    const { name, labels = {}, api } = this.#options;
    await ensure(api, { path: NODES, body: registration(name, labels) }, signal);
    const annotations = { [BOOT_ID_ANNOTATION]: bootID, [OS_IMAGE_ANNOTATION]: osImage };
    await this.#say({ labels: { [POWER_LABEL]: 'on' }, annotations }, signal);
    await this.#until((node) => isReady(node) && node.status?.nodeInfo?.bootID === bootID, signal);
  }

  async shutdown(signal?: AbortSignal): Promise<void> {
    await this.#say({ labels: { [POWER_LABEL]: 'off' } }, signal);
    await this.#until((node) => !isReady(node) && node.metadata.labels?.[POWER_LABEL] === undefined, signal);
  }

  async #say(metadata: object, signal?: AbortSignal): Promise<void> {
    const { name, api } = this.#options;
    const contentType = 'application/merge-patch+json';
    const path = objectPath(NODES, name);
    await insist(api, { method: 'PATCH', path, contentType, body: { metadata }, ...(signal && { signal }) });
  }

  /** Resolves when kwok has written it. */
  async #until(check: (node: Node) => boolean, signal?: AbortSignal): Promise<void> {
    const { name, api } = this.#options;
    const look = { method: 'GET', path: objectPath(NODES, name), ...(signal && { signal }) } as const;
    while (!check((await insist(api, look)) as Node)) await api.clock.sleep(POLL_MS, signal);
  }
}
