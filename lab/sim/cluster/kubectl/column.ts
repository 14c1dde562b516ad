import { age } from './age.ts';
import { at, textAt } from './json-path.ts';

/** One column of a table, and how its cell is read from an object. */
export interface Column {
  readonly name: string;
  /** `integer`, `string` or `date`, as in the API's column definitions. */
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; 1: only with `-o wide`. */
  readonly priority: number;
  cell(object: object, nowMs: number): unknown;
}

export type Read = (object: object, nowMs: number) => unknown;

const NONE = '<none>';

export const text = (name: string, cell: Read): Column => ({ name, type: 'string', priority: 0, cell });
export const wide = (name: string, cell: Read): Column => ({ ...text(name, cell), priority: 1 });
export const count = (name: string, path: string): Column => ({
  name,
  type: 'integer',
  priority: 0,
  cell: (object) => at(object, path) ?? 0,
});

export const nameColumn: Column = { ...text('Name', value('.metadata.name')), format: 'name' };
export const ageColumn: Column = text('Age', since('.metadata.creationTimestamp'));
export const createdColumn: Column = { ...text('Created At', value('.metadata.creationTimestamp')), type: 'date' };

/** The value at a path as text; `<none>` (or `absent`) where there is none. */
export function value(path: string, absent = NONE): Read {
  return (object) => textAt(object, path, absent);
}

/** How long ago the first of these paths that has a time says. */
export function since(...paths: readonly string[]): Read {
  return (object, nowMs) => age(paths.map((path) => at(object, path)).find(Boolean), nowMs);
}

/** A map of labels as `a=b,c=d`. */
export function labels(path: string): Read {
  return (object) => {
    const pairs = Object.entries(at(object, path) ?? {}).map(([key, each]) => `${key}=${String(each)}`);
    return pairs.join(',') || NONE;
  };
}

/** The elements of a list at a path. */
export function list(object: object, path: string): readonly unknown[] {
  const found = at(object, path);
  return Array.isArray(found) ? found : [];
}

/** Several values, as `a,b`. */
export function joined(path: string, field: string): Read {
  return (object) =>
    list(object, path)
      .map((element) => textAt(element, field))
      .join(',') || NONE;
}
