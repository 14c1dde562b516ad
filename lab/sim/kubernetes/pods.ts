import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isPodTerminal, type KubeObject, type Pod } from '../../../runtime/kube/objects.ts';
import type { KubeRequest } from '../../../runtime/kube/transport.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import type { PodSpec, PodTemplate } from './types.ts';

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;

/** A pod that still counts for its owner: neither finished nor on its way out. */
export const isActive = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined;

/** The UID of the object that manages this one. */
export const controllerUid = ({ metadata }: KubeObject): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller)?.uid;

/** Changes with every change of a template, and only then. */
export function templateHash(template: PodTemplate): string {
  return createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10);
}

/** A request that creates an object owned by `owner`. */
export function createOwned(collection: string, owner: KubeObject, object: KubeObjectDraft): KubeRequest {
  const { name, uid } = owner.metadata;
  const reference = {
    apiVersion: 'apps/v1',
    kind: object.ownerKind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const { ownerKind: _, metadata, ...rest } = object;
  return {
    method: 'POST',
    path: collection,
    body: { ...rest, metadata: { ...metadata, ownerReferences: [reference] } },
  };
}

export interface KubeObjectDraft {
  readonly ownerKind: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: object; readonly annotations?: object };
  readonly spec: object;
}

export interface PodDraft {
  readonly ownerKind: string;
  readonly owner: KubeObject;
  readonly template: PodTemplate;
  /** Labels besides the template's. */
  readonly labels: Readonly<Record<string, string>>;
  /** Parts of the spec besides the template's. */
  readonly spec?: PodSpec;
  readonly random: Random;
}

/** A request that creates a pod from its owner's template, under the owner's name and a random suffix. */
export function createPod({ ownerKind, owner, template, labels, spec, random }: PodDraft): KubeRequest {
  const suffix = Array.from(
    { length: SUFFIX_LENGTH },
    () => SUFFIX_ALPHABET[Math.floor(random() * SUFFIX_ALPHABET.length)],
  );
  return createOwned(`/api/v1/namespaces/${owner.metadata.namespace ?? 'default'}/pods`, owner, {
    ownerKind,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...template.metadata,
      name: `${owner.metadata.name}-${suffix.join('')}`,
      labels: { ...template.metadata?.labels, ...labels },
    },
    spec: { ...template.spec, ...spec },
  });
}

export const podPath = ({ metadata }: KubeObject): string =>
  `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

/** A request that deletes exactly this pod, with its own grace period unless `graceSeconds` is given. */
export function deletePod(pod: Pod, graceSeconds?: number): KubeRequest {
  const preconditions = { uid: pod.metadata.uid };
  return {
    method: 'DELETE',
    path: podPath(pod),
    body: { preconditions, ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }) },
  };
}

/** A request that changes these fields, and no others. */
export const mergePatch = (path: string, body: object): KubeRequest => ({
  method: 'PATCH',
  path,
  contentType: 'application/merge-patch+json',
  body,
});

/** A request that brings a status up to date; none when every field already has its value. */
export function patchStatus(
  path: string,
  object: { readonly status?: object },
  wanted: object,
): readonly KubeRequest[] {
  const present = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  const changed = Object.entries(wanted).some(([field, value]) => !isDeepStrictEqual(present[field], value));
  if (!changed) return [];
  return [mergePatch(`${path}/status`, { status: wanted })];
}

/** `value` of `total`, where it may be a percentage; a fraction is rounded up, as everywhere in disruption budgets. */
export function scaled(value: number | string, total: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * total) / 100);
}
