import type { Basics } from '../../lib/basics.ts';
import type { Collection, VersionedPatch } from '../../kube/collection.ts';
import type { Node } from '../../kube/objects.ts';
import type { Plan } from '../plan/plan.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';
import { WriteQueue } from './write-queue.ts';

/** A plan, and what it was made of. */
export type Planned = Pick<Plan, 'preferences' | 'arrivals'> & { readonly snapshot: Snapshot };

/** What a Node should say, and does not say yet. */
export interface Due<T> {
  readonly node: string;
  readonly wanted: T;
}

/** What every writer is made with. */
export interface NodeWriterPorts extends Basics {
  readonly nodes: Pick<Collection<Node, VersionedPatch>, 'get' | 'patch' | 'mergeStatus'>;
}

export interface NodeWriterOptions<T> extends NodeWriterPorts {
  /** What is written, for the log. */
  readonly what: string;
  readonly dueIn: (planned: Planned) => readonly Due<T>[];
  /** Milliseconds between the beginnings of two writes. @default 0 */
  readonly paceMs?: number;
  /** Writes what is missing on the Node, as it is now. */
  readonly write: (node: Node, wanted: T, signal: AbortSignal) => Promise<void>;
}

/** Shows on Nodes where their updates are. Nothing is decided on what it writes. */
export interface NodeWriter extends Pick<WriteQueue, 'run'> {
  /** Each call replaces what was not written yet. */
  replace(planned: Planned): void;
}

export function nodeWriter<T>({ nodes, dueIn, write, ...options }: NodeWriterOptions<T>): NodeWriter {
  const queue = new WriteQueue({ ...options, atOnce: 4 });
  const writeOn = async ({ node: name, wanted }: Due<T>, signal: AbortSignal): Promise<undefined> => {
    const node = await nodes.get(name, signal);
    if (node) await write(node, wanted, signal);
  };
  return {
    run: (signal) => queue.run(signal),
    replace: (planned) =>
      queue.replace(
        dueIn(planned).map((due) => ({
          key: due.node,
          version: JSON.stringify(due.wanted),
          write: (signal) => writeOn(due, signal),
        })),
      ),
  };
}
