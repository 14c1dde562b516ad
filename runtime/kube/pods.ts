import { Collection, type Selectors } from './collection.ts';
import type { Pod } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

export interface PodQuery extends Selectors {
  /** Absent: all namespaces. */
  readonly namespace?: string;
}

/** Pods, live. */
export interface PodPort {
  /** Undefined where there is none of that name. */
  get(pod: { readonly namespace: string; readonly name: string }, signal?: AbortSignal): Promise<Pod | undefined>;
  list(query: PodQuery, signal?: AbortSignal): Promise<readonly Pod[]>;
}

/** Field selector of the pods that are bound to a node. */
export function onNode(nodeName: string): string {
  return `spec.nodeName=${nodeName}`;
}

export function podsPath(namespace?: string): string {
  return collectionPath({ version: 'v1', plural: 'pods', namespace });
}

export function podPort(transport: KubeTransport): PodPort {
  const pods = (namespace?: string): Collection<Pod> => new Collection(transport, podsPath(namespace));
  return {
    get: ({ namespace, name }, signal) => pods(namespace).get(name, signal),
    list: ({ namespace, ...selectors }, signal) => pods(namespace).list(selectors, signal),
  };
}
