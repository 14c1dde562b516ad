import { listPages, queryOf } from '../../kube/collection.ts';
import { NODES_PATH } from '../../kube/nodes.ts';
import type { Node } from '../../kube/objects.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import type { Clock } from '../../lib/clock.ts';

/** One that will do is enough, and is mostly among the first; a Node with the list of its images takes tens of KiB. */
const PAGE_SIZE = 10;
const SCHEDULABLE = queryOf({ fieldSelector: 'spec.unschedulable=false' });

/** Whether any node but `nodeName` is Ready and not cordoned. Reads only as many pages of nodes as it needs. */
export async function otherNodeTakesPods(
  transport: KubeTransport,
  nodeName: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const request = { path: NODES_PATH, query: SCHEDULABLE, pageSize: PAGE_SIZE, signal };
  for await (const page of listPages<Node>(transport, request)) {
    if (page.items.some((node) => node.metadata.name !== nodeName && isReady(node))) return true;
  }
  return false;
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** For how long another node counts as there. */
const FRESH_MS = 30_000;

/** Whether the operator's own pods could go to another node, for the whole of a run: its pods change many times. */
export class Elsewhere {
  readonly #ask: () => Promise<boolean>;
  readonly #clock: Clock;
  #presumed: Promise<boolean> | undefined;
  #freshUntil = -Infinity;

  constructor(ask: () => Promise<boolean>, clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** For the count alone, while others are left. It must not end a drain that has others to evict. */
  presumed(): Promise<boolean> {
    return (this.#presumed ??= this.#ask().catch(() => true));
  }

  /** When it is their turn. */
  async now(): Promise<boolean> {
    if (this.#clock.monotonic() < this.#freshUntil) return true;
    const takesPods = await this.#ask();
    if (takesPods) this.#freshUntil = this.#clock.monotonic() + FRESH_MS;
    return takesPods;
  }
}
