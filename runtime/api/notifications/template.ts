import { type Fact, subjectOf } from './fact.ts';

/** Fields that a template may name. A field that the fact lacks is empty. */
export const FIELDS = [
  'kind',
  'severity',
  'message',
  'subject',
  'node',
  'policy',
  'version',
  'family',
  'cluster',
  'time',
  'id',
  'token',
] as const;
type Field = (typeof FIELDS)[number];

export const DEFAULT_TEMPLATE = '[{{cluster}}] {{kind}} {{subject}}: {{message}}';

const PLACE = /\{\{\s*([^{}]*?)\s*\}\}/g;

const isField = (name: string): name is Field => FIELDS.some((field) => field === name);

/** The first field in a template that does not exist; undefined where all exist. */
export function unknownField(template: string): string | undefined {
  return [...template.matchAll(PLACE)].map(([, name = '']) => name).find((name) => !isField(name));
}

interface Values extends Fact {
  readonly cluster: string;
  readonly token?: string | undefined;
}

/** A value as it stands within a text of JSON. */
export const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);

/** Replaces the fields. The value of a field is never read as a template. */
export function rendered(template: string, fact: Values, escaped = (value: string): string => value): string {
  const values: Readonly<Partial<Record<Field, string | undefined>>> = { ...fact, subject: subjectOf(fact) };
  return template.replaceAll(PLACE, (_, name: string) => escaped((isField(name) && values[name]) || ''));
}

/** Whether it is JSON, whatever its fields stand for: they stand within texts. */
export function isJsonTemplate(template: string): boolean {
  try {
    JSON.parse(template.replaceAll(PLACE, 'x'));
    return true;
  } catch {
    return false;
  }
}
