import { SEMVER_PATTERN } from '../shadow/semver.ts';

/** What a policy says of versions, in Bottlerocket's words: `latest` is no limit. */

export const LATEST = 'latest';
export const VERSION_OR_LATEST = `^${LATEST}$|${SEMVER_PATTERN}`;
export const EXPECTED_VERSION = 'a version such as 1.62.0';
export const EXPECTED_MAX = `${EXPECTED_VERSION}, or ${LATEST}`;

/** The version that a limit names; undefined for no limit. */
export const limitOf = (max: string): string | undefined => (max === LATEST ? undefined : max);
