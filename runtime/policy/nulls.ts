/**
 * `value` without what is null or undefined in its objects, where that is absence. What stands in a list stays.
 * @param except the name of a field whose own values stay as they are
 */
export function withoutNulls(value: unknown, except?: string): unknown {
  if (Array.isArray(value)) return value.map((inner) => withoutNulls(inner, except));
  if (typeof value !== 'object' || value === null) return value;
  const present = Object.entries(value).filter(([, inner]) => inner != null);
  return Object.fromEntries(present.map(([key, inner]) => [key, key === except ? inner : withoutNulls(inner, except)]));
}
