/** As many versions that a node failed on are kept, the newest ones. */
export const MAX_FAILED_VERSIONS = 5;

/** `known`, with `version` as the newest. */
export function withFailed(known: readonly string[], version: string): string[] {
  return [...without(known, version), version].slice(-MAX_FAILED_VERSIONS);
}

/** `known`, once the node runs `version`: that makes up for a failure. */
export function without(known: readonly string[], version: string): string[] {
  return known.filter((other) => other !== version);
}
