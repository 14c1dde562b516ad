/** One step of a path: from a value to the values it leads to. */
type Step = (value: unknown) => readonly unknown[];

const FIELD = String.raw`\.?(?<field>(?:\\.|[^.[\]\\])+)`;
const FILTER = String.raw`\[\?\(@\.(?<key>[\w-]+)=="(?<wanted>[^"]*)"\)\]`;
const TOKEN = new RegExp(`${FILTER}|${FIELD}`, 'guy');

/**
 * Reads values out of an object by as much of JSONPath as the printer columns here need: `.a.b`, `.a\.b` and `[?(@.type=="Ready")]`. What is
 * absent yields nothing.
 * @throws SyntaxError for any other path
 */
export function jsonPath(path: string): (object: unknown) => readonly unknown[] {
  const tokens = [...path.matchAll(TOKEN)];
  const read = tokens.reduce((length, [token]) => length + token.length, 0);
  if (read < path.length) throw new SyntaxError(`JSONPath ${JSON.stringify(path)}: cannot read it`);
  const steps = tokens.map(({ groups = {} }) => step(groups));
  return (object) => steps.reduce<readonly unknown[]>((values, next) => values.flatMap(next), [object]);
}

/** The one value at a plain path, or undefined. */
export function at(object: unknown, path: string): unknown {
  return jsonPath(path)(object)[0];
}

/** The value at a plain path as text (objects as JSON), or `absent`. */
export function textAt(object: unknown, path: string, absent = ''): string {
  const found = at(object, path);
  return found === undefined ? absent : asText(found);
}

/** A value as a cell shows it. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function step({ key, wanted, field = '' }: Readonly<Record<string, string | undefined>>): Step {
  if (key === undefined) return (value) => member(value, field.replaceAll(/\\(?<char>.)/gu, '$<char>'));
  return (value) => (Array.isArray(value) ? value.filter((element) => member(element, key)[0] === wanted) : []);
}

function member(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return found == null ? [] : [found];
}
