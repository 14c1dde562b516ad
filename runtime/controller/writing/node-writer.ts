import type { Collection } from '../../kube/collection.ts';
import type { Node } from '../../kube/objects.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';
import { WriteQueue } from './write-queue.ts';

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
export interface NodeWriter extends Pick<WriteQueue, 'run'> {
  /** Each call replaces what was not written yet. */
  replace(snapshot: Snapshot): void;
}

export function nodeWriter<T>({ nodes, dueIn, write, ...options }: NodeWriterOptions<T>): NodeWriter {
  const queue = new WriteQueue({ ...options, atOnce: 4 });
  const writeOn = async ({ node: name, wanted }: Due<T>, signal: AbortSignal): Promise<undefined> => {
    const node = await nodes.get(name, signal);
    if (node) await write(node, wanted, signal);
  };
  return {
    run: (signal) => queue.run(signal),
    replace: (snapshot) =>
      queue.replace(
        dueIn(snapshot).map((due) => ({
          key: due.node,
          version: JSON.stringify(due.wanted),
          write: (signal) => writeOn(due, signal),
        })),
      ),
  };
}
