/** The JSON object that a text holds; an empty one where it holds another value, or is no JSON. */
export function jsonObject(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/**
 * `value` without the fields that are null or undefined, at any depth. Elements of lists stay.
 * @param except the name of a field whose value stays as it is
 */
export function withoutNulls(value: unknown, except?: string): unknown {
  if (Array.isArray(value)) return value.map((inner) => withoutNulls(inner, except));
  if (typeof value !== 'object' || value === null) return value;
  const present = Object.entries(value).filter(([, inner]) => inner != null);
  return Object.fromEntries(present.map(([key, inner]) => [key, key === except ? inner : withoutNulls(inner, except)]));
}
