import type { Collection } from '../kube/collection.ts';
import { ConflictError, NotFoundError } from '../kube/errors.ts';
import type { Node } from '../kube/objects.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import { WorkQueue } from '../lib/work-queue.ts';
import type { Snapshot } from './plan/snapshot.ts';

/** Writes that may be under way at once. */
const AT_ONCE = 4;
/** After a write that was refused or not answered, milliseconds. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };
/** After a write that the cache does not show yet: each plan asks for it again. */
const UNSEEN = { firstMs: 100, maxMs: 10_000 };

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

/** Why a Node is left alone for a while. */
interface Rest {
  /** No other write before, monotonic. */
  readonly restedAt: number;
  /** In a row. */
  readonly times: number;
  /** What was written, or was there already; undefined after a failure. */
  readonly written: string | undefined;
}

/** Shows on Nodes where their updates are, in annotations or conditions that others define. Nothing of ours reads them back. */
export class NodeWriter<T> {
  readonly #options: NodeWriterOptions<T>;
  readonly #queue: WorkQueue<Due<T>>;
  /** By node. */
  readonly #rests = new Map<string, Rest>();

  constructor(options: NodeWriterOptions<T>) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      keyOf: ({ node }) => node,
      work: (due, signal) => this.#write(due, signal),
      atOnce: AT_ONCE,
      restMs: ({ node }) => (this.#rests.get(node)?.restedAt ?? -Infinity) - options.clock.monotonic(),
    });
  }

  /** Each call replaces what was not written yet. */
  replace(snapshot: Snapshot): void {
    const due = this.#options.dueIn(snapshot);
    if (this.#rests.size > 0) this.#forget(new Map(due.map(({ node, wanted }) => [node, textOf(wanted)])));
    this.#queue.replace(due);
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#queue.replace([]);
    this.#rests.clear();
    await this.#queue.run(signal);
  }

  async #write({ node: name, wanted }: Due<T>, signal: AbortSignal): Promise<void> {
    const { nodes, logger, what } = this.#options;
    try {
      const node = await nodes.get(name, signal);
      if (node) await this.#options.write(node, wanted, signal);
      this.#rest(name, UNSEEN, textOf(wanted));
    } catch (error) {
      if (signal.aborted) return;
      this.#rest(name, PAUSE, undefined);
      // The Node was changed or deleted meanwhile. The next plan sees that.
      if (error instanceof ConflictError || error instanceof NotFoundError) return;
      logger.warn('node not written', { node: name, what, error });
    }
  }

  #rest(name: string, pause: typeof PAUSE, written: string | undefined): void {
    const { clock, random } = this.#options;
    const before = this.#rests.get(name);
    const times = before && before.written === written ? before.times : 0;
    this.#rests.set(name, {
      restedAt: clock.monotonic() + backoff(times, { ...pause, random }),
      times: times + 1,
      written,
    });
  }

  /** Nodes that say what they should by now, or should say something else than was written, are not left alone. */
  #forget(wanted: ReadonlyMap<string, string>): void {
    for (const [name, { written = wanted.get(name) }] of this.#rests)
      if (written === undefined || written !== wanted.get(name)) this.#rests.delete(name);
  }
}

const textOf = (wanted: unknown): string => JSON.stringify(wanted);
