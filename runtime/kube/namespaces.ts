import { Collection } from './collection.ts';
import type { KubeObject } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

export interface NamespacePort {
  /** Undefined where there is none of that name. */
  get(name: string, signal?: AbortSignal): Promise<KubeObject | undefined>;
}

export const NAMESPACES_PATH = collectionPath({ version: 'v1', plural: 'namespaces' });

export function namespacePort(transport: KubeTransport): NamespacePort {
  const namespaces = new Collection<KubeObject>(transport, NAMESPACES_PATH);
  return { get: (name, signal) => namespaces.get(name, signal) };
}
