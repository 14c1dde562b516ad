import type { NodeSoftware } from '../../lab/sim/kubernetes/kubelet/kubelet.ts';
import { NodePods, type NodePodsOptions } from '../../lab/sim/kubernetes/kubelet/node-pods.ts';
import type { BootInfo } from '../../lab/sim/kubernetes/kubelet/node-status.ts';
import { PaperNode } from './paper-node.ts';

export interface MachineOptions extends Omit<NodePodsOptions, 'terminationSeconds'> {
  /** Labels with which the node registers, beside its name and platform. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A node on paper that runs those of its pods which have processes behind them. */
export class Machine implements NodeSoftware {
  readonly #paper: PaperNode;
  readonly #pods: NodePods;

  constructor(options: MachineOptions) {
    this.#paper = new PaperNode({ name: options.nodeName, labels: options.labels, api: options });
    // A process ends when it ends.
    this.#pods = new NodePods({ ...options, terminationSeconds: 0 });
  }

  /** Follows the node's pods until the signal aborts, then stops them all. Rejects when the API refuses what a kubelet may do. */
  run(signal: AbortSignal): Promise<void> {
    return this.#pods.run(signal);
  }

  async boot(info: BootInfo, signal?: AbortSignal): Promise<void> {
    await this.#paper.boot(info, signal);
    this.#pods.powerOn();
  }

  async shutdown(signal?: AbortSignal): Promise<void> {
    await this.#pods.powerOff();
    await this.#paper.shutdown(signal);
  }
}
