import type { Collection, Selectors } from '../kube/collection.ts';
import { isServed } from '../kube/discovery.ts';
import { ApiStatusError } from '../kube/errors.ts';
import { type ReleaseResource, type UpdatePolicyObject, policiesOf, releasesOf } from '../api/resources.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { KubeTransport } from '../kube/transport.ts';
import { POLICY_PLURAL, POLICY_VERSION } from '../api/policy/names.ts';
import { RELEASE_PLURAL, RELEASE_VERSION } from '../api/release/names.ts';
import { COMPONENT_LABEL, GROUP } from '../api/shadow/names.ts';

/** What was read, or a fallback where the API server refused the read (403). */
export interface Read<T> {
  readonly value: T;
  /** The API server's message; undefined where it did not refuse. */
  readonly refused: string | undefined;
}

/** Reads what the user may read. Where one kind is refused, a command can still show the rest. */
export async function ifAllowed<T, O>(reading: Promise<T>, otherwise: O): Promise<Read<T | O>> {
  try {
    return { value: await reading, refused: undefined };
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status.code !== 403) throw error;
    return { value: otherwise, refused: error.status.message ?? 'Forbidden' };
  }
}

/** All policies; none where the cluster does not have their CustomResourceDefinition. @throws as `KubeTransport.request` */
export const readPolicies = (transport: KubeTransport): Promise<readonly UpdatePolicyObject[]> =>
  listIfServed(transport, policiesOf(transport), { version: POLICY_VERSION, plural: POLICY_PLURAL });

/** The same of releases. */
export const readReleases = (transport: KubeTransport): Promise<readonly ReleaseResource[]> =>
  listIfServed(transport, releasesOf(transport), { version: RELEASE_VERSION, plural: RELEASE_PLURAL });

async function listIfServed<T extends KubeObject>(
  transport: KubeTransport,
  collection: Pick<Collection<T>, 'list'>,
  kind: { readonly version: string; readonly plural: string },
): Promise<readonly T[]> {
  try {
    return await collection.list();
  } catch (error) {
    const isNotFound = error instanceof ApiStatusError && error.status.code === 404;
    if (isNotFound && !(await isServed(transport, { group: GROUP, ...kind }))) return [];
    throw error;
  }
}

/** Selects the objects of one component of the operator. */
export function selecting(component: string): Selectors {
  return { labelSelector: `${COMPONENT_LABEL}=${component}` };
}
