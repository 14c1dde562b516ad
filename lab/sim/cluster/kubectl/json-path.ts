/** One step of a path: from a value to the values it leads to. */
type Step = (value: unknown) => readonly unknown[];

const FIELD = String.raw`\.?(?<field>(?:\\.|[^.[\]\\])+)`;
const QUOTED = String.raw`\[(?<quote>['"])(?<name>.*?)\k<quote>\]`;
const INDEX = String.raw`\[(?<index>-?\d+|\*)\]`;
const FILTER = String.raw`\[\?\(\s*@\.(?<key>[\w.-]+)\s*(?<operator>==|!=)\s*(?<wanted>"[^"]*"|'[^']*'|[\w.-]+)\s*\)\]`;
const TOKEN = new RegExp(`${FILTER}|${QUOTED}|${INDEX}|${FIELD}`, 'guy');

/**
 * Reads values out of an object by the JSONPath dialect of printer columns: `.a.b`, `.a\.b`, `['a.b']`, `[0]`, `[*]` and
 * `[?(@.type=="Ready")]`. What is absent yields nothing.
 * @throws SyntaxError for a path in another dialect
 */
export function jsonPath(path: string): (object: unknown) => readonly unknown[] {
  const steps = parse(path.replace(/^\{(?<inner>.*)\}$/u, '$<inner>').replace(/^\$/u, ''));
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

function parse(path: string): readonly Step[] {
  const tokens = [...path.matchAll(TOKEN)];
  const read = tokens.reduce((length, [token]) => length + token.length, 0);
  if (read < path.length) {
    throw new SyntaxError(`JSONPath ${JSON.stringify(path)}: cannot read ${JSON.stringify(path.slice(read))}`);
  }
  return tokens.map(({ groups = {} }) => step(groups));
}

function step(token: Readonly<Record<string, string | undefined>>): Step {
  if (token.key !== undefined) return filter(token.key, token.operator === '==', unquote(token.wanted ?? ''));
  if (token.index === '*') return (value) => elements(value);
  if (token.index !== undefined) {
    const index = Number(token.index);
    return (value) => elements(value).slice(index, index === -1 ? undefined : index + 1);
  }
  const name = token.name ?? token.field?.replaceAll(/\\(?<char>.)/gu, '$<char>') ?? '';
  return (value) => member(value, name);
}

function filter(key: string, equal: boolean, wanted: string): Step {
  const read = jsonPath(`.${key}`);
  return (value) =>
    elements(value).filter((element) => read(element).some((found) => (asText(found) === wanted) === equal));
}

function elements(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function member(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return found == null ? [] : [found];
}

function unquote(text: string): string {
  return text.replace(/^(?<quote>["'])(?<inner>.*)\k<quote>$/u, '$<inner>');
}
