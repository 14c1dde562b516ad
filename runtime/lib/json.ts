/** The JSON object that a text holds; an empty one where it holds another value, or is no JSON. */
export function jsonObject(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
