import { listPages, queryOf } from '../kube/collection.ts';
import { isReady, type Node } from '../kube/objects.ts';
import { NODES_PATH } from '../kube/resources.ts';
import type { KubeTransport } from '../kube/transport.ts';
import type { Clock } from '../lib/clock.ts';

/** One suitable node is enough, and it is mostly among the first. A Node with its list of images takes tens of KiB. */
const PAGE_SIZE = 10;
const SCHEDULABLE = queryOf({ fieldSelector: 'spec.unschedulable=false' });

/** Whether any node but `nodeName` is Ready and not cordoned. Reads only as many pages of nodes as it needs. */
export async function otherNodeTakesPods(
  transport: KubeTransport,
  nodeName: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const takesPods = (node: Node): boolean => node.metadata.name !== nodeName && isReady(node);
  const request = { path: NODES_PATH, query: SCHEDULABLE, project: takesPods, pageSize: PAGE_SIZE, signal };
  for await (const { items } of listPages(transport, request)) {
    if (items.includes(true)) return true;
  }
  return false;
}

/** How long the presence of another node is believed. */
const FRESH_MS = 30_000;

interface RescheduleOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly nodeName: string;
  /** When the drain began. */
  readonly wasPossible: boolean;
  readonly signal: AbortSignal;
}

/** Whether the operator's own pods could move to another node. It is remembered during a run, whose pods change many times. */
export class Reschedule {
  readonly #options: RescheduleOptions;
  #wasPossible: boolean;
  #freshUntil = -Infinity;

  constructor(options: RescheduleOptions) {
    this.#options = options;
    this.#wasPossible = options.wasPossible;
  }

  /**
   * Asked when it is their turn to be evicted. Once it was possible, it stays so while the API does not answer: an outage ends no run.
   * @throws what the transport throws, where it has not been possible before
   */
  async isPossible(): Promise<boolean> {
    const { clock } = this.#options;
    if (clock.monotonic() < this.#freshUntil) return true;
    try {
      const isPossible = await this.#ask();
      if (isPossible) this.#freshUntil = clock.monotonic() + FRESH_MS;
      this.#wasPossible ||= isPossible;
      return isPossible;
    } catch (error) {
      if (!this.#wasPossible) throw error;
      return true;
    }
  }

  #ask(): Promise<boolean> {
    const { transport, nodeName, signal } = this.#options;
    return otherNodeTakesPods(transport, nodeName, signal);
  }
}
