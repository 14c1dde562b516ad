import type { Collection } from '../kube/collection.ts';
import { ConflictError } from '../kube/errors.ts';
import type { Node } from '../kube/objects.ts';
import type { nodesOf } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import { VERSION } from '../lib/version.ts';
import { WorkQueue } from '../lib/work-queue.ts';
import { FIRST_OPERATOR_KEYS, mirrorOf, OPERATOR_VERSION_KEY, UPDATE_AVAILABLE_KEY } from '../shadow/first-operator.ts';
import type { NodeView, ShadowView, Snapshot } from './plan/snapshot.ts';

/** Writes that may be under way at once. */
const AT_ONCE = 4;
/** After a write that was refused or not answered, milliseconds. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };

interface NodeAnnotationWriterOptions {
  /** False: what an earlier process of ours has written goes. */
  readonly isOn: boolean;
  readonly nodes: Pick<Collection<Node>, 'get'> & Pick<ReturnType<typeof nodesOf>, 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** By key; undefined where nothing of ours is to be there. */
type Mirror = Readonly<Record<string, string>> | undefined;

interface Due {
  readonly node: string;
  readonly mirror: Mirror;
}

interface Failure {
  /** No other write before, monotonic. */
  readonly restedAt: number;
  /** In a row. */
  readonly failures: number;
}

/** Says on Nodes, in the first operator's words, where their updates are: for people and tools that look there. Nothing reads it back. */
export class NodeAnnotationWriter {
  readonly #options: NodeAnnotationWriterOptions;
  readonly #queue: WorkQueue<Due>;
  /** By node. */
  readonly #failed = new Map<string, Failure>();

  constructor(options: NodeAnnotationWriterOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      keyOf: ({ node }) => node,
      work: (due, signal) => this.#write(due, signal),
      atOnce: AT_ONCE,
      restMs: ({ node }) => Math.ceil((this.#failed.get(node)?.restedAt ?? -Infinity) - options.clock.monotonic()),
    });
  }

  /** Each call replaces what is still to be written. */
  replace({ nodes, shadows }: Pick<Snapshot, 'nodes' | 'shadows'>): void {
    const byName = this.#options.isOn ? new Map(shadows.map((shadow) => [shadow.name, shadow])) : undefined;
    const due = nodes.flatMap((node) => dueOn(node, byName?.get(node.shadowName)) ?? []);
    const names = new Set(due.map(({ node }) => node));
    for (const name of this.#failed.keys()) if (!names.has(name)) this.#failed.delete(name);
    this.#queue.replace(due);
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#queue.replace([]);
    this.#failed.clear();
    await this.#queue.run(signal);
  }

  async #write({ node: name, mirror }: Due, signal: AbortSignal): Promise<void> {
    const { nodes, clock, random, logger } = this.#options;
    try {
      const node = await nodes.get(name, signal);
      if (node && !says(node.metadata, mirror)) await nodes.patch(name, patchOf(node, mirror), signal);
      this.#failed.delete(name);
    } catch (error) {
      if (signal.aborted) return;
      const failures = this.#failed.get(name)?.failures ?? 0;
      const restedAt = clock.monotonic() + backoff(failures, { ...PAUSE, random });
      this.#failed.set(name, { restedAt, failures: failures + 1 });
      // Somebody else has written the Node: the next plan sees that.
      if (!(error instanceof ConflictError)) logger.warn('annotations of a node not written', { node: name, error });
    }
  }
}

function dueOn(node: NodeView, shadow: ShadowView | undefined): Due | undefined {
  const isMirrored = node.managed && shadow !== undefined && shadow.owners.includes(node.uid);
  const mirror = isMirrored ? mirrorOf(shadow, VERSION) : undefined;
  // What the first operator has left, or still writes, is not ours to take away.
  if (!mirror && node.firstOperator?.[OPERATOR_VERSION_KEY] === undefined) return undefined;
  return says({ annotations: node.firstOperator, labels: node.labels }, mirror)
    ? undefined
    : { node: node.name, mirror };
}

type Keyed = Readonly<Record<string, string>> | null | undefined;

function says(
  { annotations, labels }: { readonly annotations?: Keyed; readonly labels?: Keyed },
  mirror: Mirror,
): boolean {
  const isLabelled = labels?.[UPDATE_AVAILABLE_KEY] === mirror?.[UPDATE_AVAILABLE_KEY];
  return isLabelled && FIRST_OPERATOR_KEYS.every((key) => annotations?.[key] === mirror?.[key]);
}

function patchOf({ metadata: { resourceVersion } }: Node, mirror: Mirror) {
  const annotations = Object.fromEntries(FIRST_OPERATOR_KEYS.map((key) => [key, mirror?.[key] ?? null]));
  const labels = { [UPDATE_AVAILABLE_KEY]: mirror?.[UPDATE_AVAILABLE_KEY] ?? null };
  return { metadata: { resourceVersion, annotations, labels } };
}
