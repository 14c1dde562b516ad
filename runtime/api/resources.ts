import { Collection, type VersionedPatch } from '../kube/collection.ts';
import type { KubeObject } from '../kube/objects.ts';
import { collectionPath } from '../kube/paths.ts';
import type { KubeTransport } from '../kube/transport.ts';
import type { PolicyObject } from './policy/model.ts';
import { POLICY_PLURAL, POLICY_VERSION } from './policy/names.ts';
import type { ReleaseObject } from './release/model.ts';
import { RELEASE_PLURAL, RELEASE_VERSION } from './release/names.ts';
import type { Shadow } from './shadow/model.ts';
import { GROUP, PLURAL, STORAGE_VERSION } from './shadow/names.ts';

/** A BottlerocketShadow as the API server sends it, validated by the CRD that is served. That may be older than ours. */
export type ShadowObject = KubeObject & Pick<Shadow, 'spec' | 'status'>;

/** A BottlerocketRelease as the API server sends it. */
export type ReleaseResource = KubeObject & ReleaseObject;

/** A BottlerocketUpdatePolicy as the API server sends it. */
export type UpdatePolicyObject = KubeObject & Pick<PolicyObject, 'spec' | 'status'>;

export const POLICIES_PATH = collectionPath({ group: GROUP, version: POLICY_VERSION, plural: POLICY_PLURAL });

export const RELEASES_PATH = collectionPath({ group: GROUP, version: RELEASE_VERSION, plural: RELEASE_PLURAL });

/** @param namespace all of them where undefined */
export function shadowsPath(namespace?: string): string {
  return collectionPath({ group: GROUP, version: STORAGE_VERSION, plural: PLURAL, namespace });
}

/** Of one namespace. Those of all can only be listed. */
export function shadowsOf(transport: KubeTransport, namespace: string): Collection<ShadowObject>;
export function shadowsOf(transport: KubeTransport): Pick<Collection<ShadowObject>, 'list'>;
export function shadowsOf(transport: KubeTransport, namespace?: string): Collection<ShadowObject> {
  return new Collection(transport, shadowsPath(namespace));
}

export function policiesOf(transport: KubeTransport): Collection<UpdatePolicyObject> {
  return new Collection(transport, POLICIES_PATH);
}

/** A release has two writers, so each patch of one carries the resourceVersion that it was decided on. */
export function releasesOf(transport: KubeTransport): Collection<ReleaseResource, VersionedPatch> {
  return new Collection(transport, RELEASES_PATH);
}
