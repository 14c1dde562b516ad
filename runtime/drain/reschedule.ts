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

/** How long an answer is believed. */
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
  #isPossible: boolean;
  #freshUntil = -Infinity;

  constructor(options: RescheduleOptions) {
    this.#options = options;
    this.#isPossible = options.wasPossible;
  }

  /**
   * Asked when it is their turn to be evicted. While the API does not answer, it is as it was: an outage ends no run. Nothing is proven by it, since the
   * last look of a drain asks anew.
   */
  async isPossible(): Promise<boolean> {
    const { clock } = this.#options;
    if (clock.monotonic() < this.#freshUntil) return this.#isPossible;
    const isPossible = await this.#ask().catch(() => undefined);
    if (isPossible === undefined) return this.#isPossible;
    this.#freshUntil = clock.monotonic() + FRESH_MS;
    this.#isPossible = isPossible;
    return isPossible;
  }

  #ask(): Promise<boolean> {
    const { transport, nodeName, signal } = this.#options;
    return otherNodeTakesPods(transport, nodeName, signal);
  }
}
