import { Collection } from './collection.ts';
import type { Node } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/**
 * A JSON merge patch; null removes. It carries the resourceVersion of the node that it was computed from, so a change by somebody else
 * in between turns it into a ConflictError.
 */
export interface NodeMergePatch {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string | null>>;
    readonly annotations?: Readonly<Record<string, string | null>>;
  };
  readonly spec?: { readonly unschedulable?: boolean | null };
}

/** Nodes, live. */
export interface NodePort {
  /** Undefined where there is none of that name. */
  get(name: string, signal?: AbortSignal): Promise<Node | undefined>;
  /** The node after the patch. @throws ConflictError when it changed since it was read, NotFoundError */
  patch(name: string, patch: NodeMergePatch, signal?: AbortSignal): Promise<Node>;
  list(labelSelector?: string, signal?: AbortSignal): Promise<readonly Node[]>;
}

export const NODES_PATH = collectionPath({ version: 'v1', plural: 'nodes' });

export function nodePort(transport: KubeTransport): NodePort {
  const nodes = new Collection<Node>(transport, NODES_PATH);
  return {
    get: (name, signal) => nodes.get(name, signal),
    patch: (name, patch, signal) => nodes.patch(name, patch, { signal }),
    list: (labelSelector, signal) => nodes.list({ labelSelector }, signal),
  };
}
