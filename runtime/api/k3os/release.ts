import { isSemver } from '../shadow/semver.ts';

export interface Release {
  readonly kind: 'release';
  /** As its source names it, e.g. `v0.11.0`. */
  readonly tag: string;
  /** The same without the `v`, as the shadows have it. */
  readonly version: string;
}

/** The release of this tag; undefined for a tag that is no version. */
export function releaseOf(tag: string): Release | undefined {
  const version = tag.replace(/^v/, '');
  return isSemver(version) && tag.length <= LONGEST_TAG ? { kind: 'release', tag, version } : undefined;
}

const LONGEST_TAG = 128;
