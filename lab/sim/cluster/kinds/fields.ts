import type { Schema } from '../crd/schema.ts';

/** The words in which the structures of built-in kinds are written down. */
export const text: Schema = { type: 'string' };
export const flag: Schema = { type: 'boolean' };
export const whole: Schema = { type: 'integer' };
export const time: Schema = { type: 'string', format: 'date-time' };
/** A time that the server's own type holds by value: where it was never set, it is stored and given out as null. */
export const instant: Schema = { ...time, nullable: true, default: null };
/** Six digits behind the point, no more and no fewer. */
export const microTime: Schema = { ...time, pattern: String.raw`\.\d{6}(Z|[+-]\d\d:\d\d)$` };
export const microInstant: Schema = { ...microTime, nullable: true, default: null };
/** An object of which nothing is known here. */
export const open: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** An object with these fields and no others. */
export function struct(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties };
}

/** An object with these fields and others, of which nothing is known here. */
export function partly(properties: Readonly<Record<string, Schema>>): Schema {
  return { ...open, properties };
}

export function texts(...names: readonly string[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(names.map((name) => [name, text]));
}

export function list(items: Schema): Schema {
  return { type: 'array', items };
}

export function map(each: Schema): Schema {
  return { type: 'object', additionalProperties: each };
}
