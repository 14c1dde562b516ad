import type { Collection } from '../kube/collection.ts';
import { ConflictError, NotFoundError } from '../kube/errors.ts';
import type { Node } from '../kube/objects.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { STALE } from '../lib/rate-limiter.ts';
import { WorkQueue } from '../lib/work-queue.ts';
import type { Snapshot } from './plan/snapshot.ts';

/** Writes that may be under way at once. */
const AT_ONCE = 4;
/** After a write that was refused or not answered, milliseconds. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };

/** What a Node should say, and does not say yet. */
export interface Due<T> {
  readonly node: string;
  readonly wanted: T;
}

/** What every writer is made with. */
export interface NodeWriterPorts {
  readonly nodes: Pick<Collection<Node>, 'get'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface NodeWriterOptions<T> extends NodeWriterPorts {
  /** What is written, for the log. */
  readonly what: string;
  readonly dueIn: (snapshot: Snapshot) => readonly Due<T>[];
  /** Writes what is missing on the Node, as it is now. */
  readonly write: (node: Node, wanted: T, signal: AbortSignal) => Promise<void>;
}

/** Shows on Nodes where their updates are, in annotations or conditions that others define. Nothing of ours reads them back. */
export class NodeWriter<T> {
  readonly #options: NodeWriterOptions<T>;
  readonly #queue: WorkQueue<Due<T>>;

  constructor(options: NodeWriterOptions<T>) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      keyOf: ({ node }) => node,
      work: (due, signal) => this.#write(due, signal),
      atOnce: AT_ONCE,
      versionOf: ({ wanted }) => JSON.stringify(wanted),
    });
  }

  /** Each call replaces what was not written yet. */
  replace(snapshot: Snapshot): void {
    this.#queue.replace(this.#options.dueIn(snapshot));
  }

  /** For one term as leader. */
  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run(signal);
  }

  async #write(due: Due<T>, signal: AbortSignal): Promise<void> {
    const { node: name, wanted } = due;
    const { nodes, logger, what } = this.#options;
    try {
      const node = await nodes.get(name, signal);
      if (node) await this.#options.write(node, wanted, signal);
      this.#queue.rest(due, STALE, JSON.stringify(wanted));
    } catch (error) {
      if (signal.aborted) return;
      this.#queue.rest(due, PAUSE);
      // The Node was changed or deleted meanwhile. The next plan sees that.
      if (error instanceof ConflictError || error instanceof NotFoundError) return;
      logger.warn('node not written', { node: name, what, error });
    }
  }
}
