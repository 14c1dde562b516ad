import { shortHash } from '../../lib/hash.ts';
import { GROUP } from '../shadow/names.ts';

/** The public names of the release resource. Each one is part of a contract with existing installations: never change one. */

export const RELEASE_KIND = 'BottlerocketRelease';
export const RELEASE_PLURAL = 'bottlerocketreleases';
export const RELEASE_SINGULAR = 'bottlerocketrelease';
export const RELEASE_SHORT_NAME = 'brr';
export const RELEASE_VERSION = 'v1alpha1';
export const RELEASE_API_VERSION = `${GROUP}/${RELEASE_VERSION}`;
export const RELEASE_CRD_NAME = `${RELEASE_PLURAL}.${GROUP}`;

/** In a spec: hosts of every variant and architecture. */
export const ANY_FAMILY = '*';

/** In `spec.rollbackFor` and `spec.expediteFor`: the nodes of every policy, and those that the variables rule. */
export const ANY_POLICY = '*';

/** @param policy empty = the variables */
export const isMeant = (policies: readonly string[] | null | undefined, policy: string): boolean =>
  policies?.some((one) => one === ANY_POLICY || one === policy) ?? false;

const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** What the object of a release is called: `VERSION.VARIANT.ARCH`, `VERSION.all`, or a hash where that is no name. */
export function releaseObjectName({ family, version }: { readonly family: string; readonly version: string }): string {
  const name = `${version}.${family === ANY_FAMILY ? 'all' : family.replace('/', '.')}`;
  if (name.length <= 253 && OBJECT_NAME.test(name)) return name;
  return `release-${shortHash(`${family} ${version}`)}`;
}
