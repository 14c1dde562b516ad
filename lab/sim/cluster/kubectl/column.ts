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

export const text = (name: string, cell: Read): Column => ({ name, type: 'string', priority: 0, cell });
export const wide = (name: string, cell: Read): Column => ({ ...text(name, cell), priority: 1 });

export const nameColumn: Column = { ...text('Name', value('.metadata.name')), format: 'name' };
export const ageColumn: Column = text('Age', (object, nowMs) => age(at(object, '.metadata.creationTimestamp'), nowMs));

/** The value at a path as text; `<none>` (or `absent`) where there is none. */
export function value(path: string, absent = '<none>'): Read {
  return (object) => textAt(object, path, absent);
}

/** The elements of a list at a path. */
export function list(object: object, path: string): readonly unknown[] {
  const found = at(object, path);
  return Array.isArray(found) ? found : [];
}
