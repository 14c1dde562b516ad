/**
 * Whether resourceVersion `seen` is `wanted` or later. The API server's versions are numbers of one growing sequence. Versions that are
 * no numbers can only be compared for equality.
 */
export function isAsNewAs(seen: string | undefined, wanted: string): boolean {
  if (seen === undefined) return false;
  if (!/^\d+$/.test(seen) || !/^\d+$/.test(wanted)) return seen === wanted;
  return BigInt(seen) >= BigInt(wanted);
}
