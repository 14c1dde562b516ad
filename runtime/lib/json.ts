import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';

/** A text from outside is not read as JSON; the message says what was expected of it. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/**
 * Most values of a text. A whole page of 500 shadows with their managedFields has 66,000, though the API server sends one object at a time.
 * Small values take up to 200 bytes each once they are parsed, and the names of as many fields a quarter of a second.
 */
export const MAX_VALUES = 75_000;
/** Most lists and objects within each other. A shadow has eight; what reads values recursively has room for thousands. */
export const MAX_DEPTH = 100;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACKET_END, BRACE, BRACE_END] = Buffer.from('"\\,[]{}');

/**
 * The value of JSON from whoever sends it. A few megabytes can hold more than fits into memory, so they are looked at before they are parsed.
 * @throws JsonError
 */
export function boundedJson(json: Buffer | string): unknown {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  // Lossy decoding would store characters that nobody has written.
  if (!isUtf8(bytes)) throw new JsonError('expected UTF-8');
  expectBounded(bytes);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new JsonError('expected JSON');
  }
}

/** Before each value but the first stands a comma, or the beginning of the list or object that it is the first of. */
function expectBounded(bytes: Buffer): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) values++;
    else if (byte === BRACKET || byte === BRACE) {
      depth++;
      if (!closes(bytes[at + 1])) values++;
      if (depth > MAX_DEPTH) throw new JsonError(`expected at most ${MAX_DEPTH} lists and objects within each other`);
    } else if (closes(byte)) depth--;
    if (values > MAX_VALUES) throw new JsonError(`expected at most ${MAX_VALUES} values`);
  }
}

const closes = (byte: number | undefined): boolean => byte === BRACKET_END || byte === BRACE_END;

function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A value of JSON as an object; an empty one where it is none. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

/** The JSON object that a text holds; an empty one where it holds another value, or is no JSON. */
export function jsonObject(text: string | undefined): Fields {
  try {
    return fieldsOf(JSON.parse(text ?? ''));
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

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON merge patch (RFC 7386) that makes `after` of `before`: a null for each field that goes. Null and absent are one. */
export function mergePatch(before: Fields, after: Fields): Fields {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const [was, is] = [before[key] ?? null, after[key] ?? null];
    if (isDeepStrictEqual(was, is)) return [];
    if (!isFields(was) || !isFields(is)) return [[key, is] as const];
    const inner = mergePatch(was, is);
    return Object.keys(inner).length > 0 ? [[key, inner] as const] : [];
  });
  return Object.fromEntries(changed);
}
