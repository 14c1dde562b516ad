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
] as const;
type Field = (typeof FIELDS)[number];

export const DEFAULT_TEMPLATE = '[{{cluster}}] {{kind}} {{subject}}: {{message}}';

const PLACE = /\{\{\s*([^{}]*?)\s*\}\}/g;

const isField = (name: string): name is Field => FIELDS.some((field) => field === name);

/** The first field in a template that does not exist; undefined where all exist. */
export function unknownField(template: string): string | undefined {
  return [...template.matchAll(PLACE)].map(([, name = '']) => name).find((name) => !isField(name));
}

/** Replaces the fields. The value of a field is never read as a template. */
export function rendered(template: string, fact: Fact, cluster: string): string {
  const values: Readonly<Partial<Record<Field, string>>> = { ...fact, cluster, subject: subjectOf(fact) };
  return template.replaceAll(PLACE, (_, name: string) => (isField(name) ? (values[name] ?? '') : ''));
}
