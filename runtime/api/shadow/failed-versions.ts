/** Failed attempts in a row are counted up to this. */
export const MAX_CRASHES = 4294967295;

/** Of the versions that a node failed on, this many are kept, the newest ones. */
export const MAX_FAILED_VERSIONS = 5;

/** So many boots that nobody has asked for, within an hour of an update, are no coincidence. */
export const UNSTABLE_FROM = 2;

/** What a status says of versions that did not do well. */
interface Failures {
  readonly failed_versions?: readonly string[] | null | undefined;
  readonly finished?: { readonly version: string; readonly unasked_boots: number } | null | undefined;
}

/** The versions that still count as failed. A node that runs a version has not failed on it, unless it is unstable there. */
export function stillFailed({ failed_versions: known, finished }: Failures, running: string): readonly string[] {
  if (known == null || known.length === 0) return NONE;
  return isUnstable(finished, running) ? known : without(known, running);
}

/** Whether the node has finished an update on which it has failed since. */
function isUnstable(finished: Failures['finished'], running: string): boolean {
  return finished?.version === running && finished.unasked_boots >= UNSTABLE_FROM;
}

const NONE: readonly string[] = [];

/** `known` with `version` added as the newest. */
export function withFailed(known: readonly string[], version: string): string[] {
  return [...without(known, version), version].slice(-MAX_FAILED_VERSIONS);
}

/** `known` without `version`, which the node runs now: its failure no longer counts. */
export function without(known: readonly string[], version: string): string[] {
  return known.filter((other) => other !== version);
}
