import { getOrInsert } from '../../../../runtime/lib/maps.ts';
import { isDeepStrictEqual } from 'node:util';
import { type Fields, isFields, list } from '../object.ts';
import { type Cause, unsupportedValue } from '../status.ts';
import { excludedBy } from './rules.ts';
import type { Schema } from './schema.ts';

/** A value and where it stands, e.g. `status.crash_count`. */
interface Spot<T = unknown> {
  readonly value: T;
  readonly path: string;
}

/** What most places have. */
const NONE: readonly Cause[] = [];

/** What `value` breaks of `schema`, in the API server's words. */
export function validate(schema: Schema, value: unknown, path = ''): readonly Cause[] {
  const faults: Cause[] = [];
  check(schema, { value, path }, faults);
  return faults;
}

/** Adds what is broken to `faults`. Every write comes by here, and most break nothing: so nothing is made for those. */
function check(schema: Schema, spot: Spot, faults: Cause[]): void {
  const ofType = typeFault(schema, spot);
  if (ofType) {
    faults.push(ofType);
    return;
  }
  // As in the API server, which finds a null in no enum, also where it is allowed and listed.
  if (schema.enum) faults.push(...enumFault(schema, spot));
  if (spot.value === null) return;
  checkKind(schema, spot, faults);
  if (schema.anyOf ?? schema.oneOf) faults.push(...combinedFaults(schema, spot));
}

/** By what the value is: number, text, list or object. */
function checkKind(schema: Schema, spot: Spot, faults: Cause[]): void {
  const { value, path } = spot;
  if (typeof value === 'number') faults.push(...numberFaults(schema, spot, value));
  else if (typeof value === 'string') faults.push(...textFaults(schema, spot, value));
  else if (Array.isArray(value)) arrayFaults(schema, { path, value: list(value) }, faults);
  else if (isFields(value)) objectFaults(schema, { path, value }, faults);
}

function fault(reason: string, spot: Spot, message: string): Cause {
  return { reason, message, field: fieldOf(spot) };
}

function fieldOf({ path }: Spot): string {
  return path === '' ? '<nil>' : path;
}

/** The form that most faults take: `Invalid value: "x": spec.state in body should ...`. */
function invalid(spot: Spot, rule: string): Cause {
  const shown = JSON.stringify(isFields(spot.value) || Array.isArray(spot.value) ? '...' : spot.value);
  return fault('FieldValueInvalid', spot, `Invalid value: ${shown}: ${spot.path} in body ${rule}`);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function typeFault(schema: Schema, spot: Spot): Cause | undefined {
  const found = typeOf(spot.value);
  if (found === 'null' && schema.nullable === true) return undefined;
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (found === 'integer' || found === 'string') return undefined;
    return typeInvalid(spot, found, 'integer,string');
  }
  if (schema.type === undefined) return undefined;
  if (found === schema.type || (found === 'integer' && schema.type === 'number')) return undefined;
  return typeInvalid(spot, found, schema.type);
}

function typeInvalid(spot: Spot, found: string, wanted: string): Cause {
  const message = `Invalid value: "${found}": ${spot.path} in body must be of type ${wanted}: "${found}"`;
  return fault('FieldValueTypeInvalid', spot, message);
}

function enumFault(schema: Schema, spot: Spot): readonly Cause[] {
  if (!schema.enum || schema.enum.some((allowed) => allowed !== null && isDeepStrictEqual(allowed, spot.value)))
    return NONE;
  return [unsupportedValue(fieldOf(spot), spot.value, schema.enum)];
}

function numberFaults(schema: Schema, spot: Spot, value: number): readonly Cause[] {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  return [
    ...(value < minimum ? [invalid(spot, `should be greater than or equal to ${minimum}`)] : NONE),
    ...(value > maximum ? [invalid(spot, `should be less than or equal to ${maximum}`)] : NONE),
  ];
}

/** RFC 3339, as Go reads it: the separator is a T and the offset is not optional. */
const DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function textFaults(schema: Schema, spot: Spot, value: string): readonly Cause[] {
  const { pattern, format, minLength, maxLength } = schema;
  if ((pattern ?? format ?? minLength ?? maxLength) === undefined) return NONE;
  return [
    ...lengthFaults(schema, spot, value),
    ...(pattern !== undefined && !patternOf(schema, pattern).test(value)
      ? [invalid(spot, `should match '${pattern}'`)]
      : NONE),
    ...(format === 'date-time' && !DATE_TIME.test(value)
      ? [invalid(spot, `must be of type date-time: ${JSON.stringify(value)}`)]
      : NONE),
  ];
}

/** A schema stays what it is, so that its pattern is read once. */
const patterns = new WeakMap<Schema, RegExp>();

const patternOf = (schema: Schema, pattern: string): RegExp => getOrInsert(patterns, schema, () => new RegExp(pattern));

function lengthFaults({ minLength = 0, maxLength = Infinity }: Schema, spot: Spot, value: string): readonly Cause[] {
  if (minLength === 0 && maxLength === Infinity) return NONE;
  const { length } = Array.from(value);
  return [
    ...(length < minLength ? [invalid(spot, `should be at least ${minLength} chars long`)] : NONE),
    ...(length > maxLength
      ? [fault('FieldValueTooLong', spot, `Too long: may not be more than ${maxLength} bytes`)]
      : NONE),
  ];
}

function arrayFaults(schema: Schema, spot: Spot<readonly unknown[]>, faults: Cause[]): void {
  const { value: values, path } = spot;
  const { minItems = 0, maxItems = Infinity, items } = schema;
  if (values.length > maxItems) {
    faults.push(fault('FieldValueTooMany', spot, `Too many: ${values.length}: must have at most ${maxItems} items`));
  }
  if (values.length < minItems) faults.push(invalid(spot, `should have at least ${minItems} items`));
  if (!items) return;
  for (const [index, value] of values.entries()) check(items, { value, path: `${path}[${index}]` }, faults);
}

function objectFaults(schema: Schema, spot: Spot<Fields>, faults: Cause[]): void {
  const { value: object } = spot;
  const { required = [], maxProperties = Infinity } = schema;
  const child = (key: string): Spot => ({
    value: object[key],
    path: spot.path === '' ? key : `${spot.path}.${key}`,
  });
  const keys = Object.keys(object);
  for (const key of required) {
    if (object[key] === undefined) faults.push(fault('FieldValueRequired', child(key), 'Required value'));
  }
  if (keys.length > maxProperties) {
    faults.push(fault('FieldValueTooMany', spot, `Too many: ${keys.length}: must have at most ${maxProperties} items`));
  }
  faults.push(...exclusionFaults(schema, spot));
  for (const key of keys) {
    const inner = propertySchema(schema, key);
    if (inner) check(inner, child(key), faults);
  }
}

function exclusionFaults({ 'x-kubernetes-validations': rules }: Schema, spot: Spot<Fields>): readonly Cause[] {
  if (!rules) return NONE;
  return rules.flatMap((rule) => {
    const excluded = excludedBy(rule);
    if (excluded.length === 0 || excluded.some((name) => spot.value[name] == null)) return [];
    const { message } = rule as { readonly message?: string };
    return [fault('FieldValueInvalid', spot, `Invalid value: "object": ${message ?? 'failed rule'}`)];
  });
}

/** The schema of one field of an object, if it says anything about it. */
export function propertySchema(schema: Schema, key: string): Schema | undefined {
  const own = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  return own ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
}

function combinedFaults(schema: Schema, spot: Spot): readonly Cause[] {
  const { value, path } = spot;
  const fits = (inner: Schema): boolean => validate(inner, value, path).length === 0;
  const { anyOf, oneOf } = schema;
  return [
    ...(anyOf && !anyOf.some(fits) ? [invalid(spot, 'must validate at least one schema (anyOf)')] : []),
    ...(oneOf && oneOf.filter(fits).length !== 1
      ? [invalid(spot, 'must validate one and only one schema (oneOf)')]
      : []),
  ];
}
