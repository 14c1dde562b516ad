import { Collection } from './collection.ts';
import type { CustomResourceDefinition } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** CustomResourceDefinitions, as far as moving stored objects to another version needs them. */
export interface CrdPort {
  /** Undefined where there is none of that name. */
  get(name: string, signal?: AbortSignal): Promise<CustomResourceDefinition | undefined>;
  /**
   * Says in which versions objects are stored, once none is left in another.
   * @throws ConflictError when the definition changed since `crd` was read, NotFoundError
   */
  setStoredVersions(crd: CustomResourceDefinition, versions: readonly string[], signal?: AbortSignal): Promise<void>;
}

export function crdPort(transport: KubeTransport): CrdPort {
  const path = collectionPath({ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' });
  const crds = new Collection<CustomResourceDefinition>(transport, path);
  return {
    get: (name, signal) => crds.get(name, signal),
    async setStoredVersions({ metadata: { name, resourceVersion } }, storedVersions, signal) {
      const patch = { metadata: { resourceVersion }, status: { storedVersions } };
      await crds.patch(name, patch, { subresource: 'status', signal });
    },
  };
}
