import type { Shadow } from '../shadow/model.ts';
import { GROUP, PLURAL, STORAGE_VERSION } from '../shadow/names.ts';
import { Collection, type Preconditions } from './collection.ts';
import type { KubeObject } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** A BottlerocketShadow as it is on the wire. The served CRD has validated it, which may be an older one than ours. */
export type ShadowObject = KubeObject & Pick<Shadow, 'spec' | 'status'>;

/** BottlerocketShadows of one namespace, live. A patch with `metadata.resourceVersion` in it is a compare-and-swap. */
export interface ShadowPort {
  /** Undefined where there is none of that name. */
  get(name: string, signal?: AbortSignal): Promise<ShadowObject | undefined>;
  list(signal?: AbortSignal): Promise<readonly ShadowObject[]>;
  /** @throws ConflictError (reason AlreadyExists) */
  create(shadow: object, signal?: AbortSignal): Promise<ShadowObject>;
  /** Merge patch of everything but the status. @throws ConflictError, NotFoundError */
  patch(name: string, patch: object, signal?: AbortSignal): Promise<ShadowObject>;
  /** Merge patch of the status subresource, `{metadata?, status}`. @throws ConflictError, NotFoundError */
  patchStatus(name: string, patch: object, signal?: AbortSignal): Promise<ShadowObject>;
  /** @throws ConflictError when another object has taken the name, or it changed */
  delete(name: string, preconditions: Preconditions, signal?: AbortSignal): Promise<void>;
}

/** @param namespace all of them where undefined */
export function shadowsPath(namespace?: string): string {
  return collectionPath({ group: GROUP, version: STORAGE_VERSION, plural: PLURAL, namespace });
}

/** @param namespace without one, only `list` makes sense */
export function shadowPort(transport: KubeTransport, namespace?: string): ShadowPort {
  const shadows = new Collection<ShadowObject>(transport, shadowsPath(namespace));
  return {
    get: (name, signal) => shadows.get(name, signal),
    list: (signal) => shadows.list({}, signal),
    create: (shadow, signal) => shadows.create(shadow, signal),
    patch: (name, patch, signal) => shadows.patch(name, patch, { signal }),
    patchStatus: (name, patch, signal) => shadows.patch(name, patch, { subresource: 'status', signal }),
    delete: (name, preconditions, signal) => shadows.delete(name, preconditions, signal),
  };
}
