/**
 * Whether resourceVersion `seen` is `wanted` or later. The API server's versions are numbers of one ever growing sequence; others
 * can only be told to be equal.
 */
export function isAsNewAs(seen: string | undefined, wanted: string): boolean {
  if (seen === undefined) return false;
  if (!/^\d+$/.test(seen) || !/^\d+$/.test(wanted)) return seen === wanted;
  return BigInt(seen) >= BigInt(wanted);
}
