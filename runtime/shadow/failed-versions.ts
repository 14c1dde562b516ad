/** Failed attempts in a row are counted up to this. */
export const MAX_CRASHES = 4294967295;

/** Of the versions that a node failed on, this many are kept, the newest ones. */
export const MAX_FAILED_VERSIONS = 5;

/** `known` with `version` added as the newest. */
export function withFailed(known: readonly string[], version: string): string[] {
  return [...without(known, version), version].slice(-MAX_FAILED_VERSIONS);
}

/** `known` without `version`, which the node runs now: its failure no longer counts. */
export function without(known: readonly string[], version: string): string[] {
  return known.filter((other) => other !== version);
}
