/** Values that JSON does not have, as some that it has: maps, and numbers that are infinite. Two that no object of ours is like. */
type Marked = { readonly $map: readonly (readonly [unknown, unknown])[] } | { readonly $number: string };

/** JSON of a value that holds maps and infinite numbers. */
export function plainText(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown): unknown => {
    if (one instanceof Map) return { $map: [...one] } satisfies Marked;
    return typeof one === 'number' && !Number.isFinite(one) ? ({ $number: String(one) } satisfies Marked) : one;
  });
}

/** The value again, from its JSON once that is parsed. What was undefined is absent. */
export function fromPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromPlain);
  if ('$map' in value) return new Map(fromPlain(value.$map) as readonly (readonly [unknown, unknown])[]);
  if ('$number' in value) return Number(value.$number);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fromPlain(one)]));
}
