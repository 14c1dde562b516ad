import { isDeepStrictEqual } from 'node:util';
import { fields, isFields, list } from '../object.ts';
import { type Cause, unsupportedValue } from '../status.ts';
import type { Schema } from './schema.ts';

/** A value and where it stands, e.g. `status.crash_count`. */
interface Place {
  readonly value: unknown;
  readonly path: string;
}

/** What `value` breaks of `schema`, in the API server's words. */
export function validate(schema: Schema, value: unknown, path = ''): readonly Cause[] {
  const place = { value, path };
  const ofType = typeFault(schema, place);
  if (ofType) return [ofType];
  // As in the API server, a null that is allowed still has to be among the values of an enum.
  if (value === null) return enumFault(schema, place);
  return [
    ...enumFault(schema, place),
    ...numberFaults(schema, place),
    ...textFaults(schema, place),
    ...arrayFaults(schema, place),
    ...objectFaults(schema, place),
    ...combinedFaults(schema, place),
  ];
}

function fault(reason: string, place: Place, message: string): Cause {
  return { reason, message, field: fieldOf(place) };
}

function fieldOf({ path }: Place): string {
  return path === '' ? '<nil>' : path;
}

/** The form that most faults take: `Invalid value: "x": spec.state in body should ...`. */
function invalid(place: Place, rule: string): Cause {
  const shown = JSON.stringify(isFields(place.value) || Array.isArray(place.value) ? '...' : place.value);
  return fault('FieldValueInvalid', place, `Invalid value: ${shown}: ${place.path} in body ${rule}`);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function typeFault(schema: Schema, place: Place): Cause | undefined {
  const found = typeOf(place.value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (found === 'integer' || found === 'string') return undefined;
    return typeInvalid(place, found, 'integer,string');
  }
  if (schema.type === undefined || (found === 'null' && schema.nullable === true)) return undefined;
  if (found === schema.type || (found === 'integer' && schema.type === 'number')) return undefined;
  return typeInvalid(place, found, schema.type);
}

function typeInvalid(place: Place, found: string, wanted: string): Cause {
  const message = `Invalid value: "${found}": ${place.path} in body must be of type ${wanted}: "${found}"`;
  return fault('FieldValueTypeInvalid', place, message);
}

function enumFault(schema: Schema, place: Place): readonly Cause[] {
  if (!schema.enum || schema.enum.some((allowed) => isDeepStrictEqual(allowed, place.value))) return [];
  return [unsupportedValue(fieldOf(place), place.value, schema.enum)];
}

function numberFaults(schema: Schema, place: Place): readonly Cause[] {
  const { value } = place;
  if (typeof value !== 'number') return [];
  const { multipleOf = 0 } = schema;
  const remains = multipleOf !== 0 && value % multipleOf !== 0;
  return [
    ...minimumFault(schema, place, value),
    ...maximumFault(schema, place, value),
    ...(remains ? [invalid(place, `should be a multiple of ${multipleOf}`)] : []),
  ];
}

function minimumFault({ minimum, exclusiveMinimum }: Schema, place: Place, value: number): readonly Cause[] {
  if (minimum === undefined || value > minimum || (value === minimum && exclusiveMinimum !== true)) return [];
  return [invalid(place, `should be greater than${exclusiveMinimum === true ? '' : ' or equal to'} ${minimum}`)];
}

function maximumFault({ maximum, exclusiveMaximum }: Schema, place: Place, value: number): readonly Cause[] {
  if (maximum === undefined || value < maximum || (value === maximum && exclusiveMaximum !== true)) return [];
  return [invalid(place, `should be less than${exclusiveMaximum === true ? '' : ' or equal to'} ${maximum}`)];
}

/** RFC 3339, as Go reads it: the separator is a T and the offset is not optional. */
const DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function textFaults(schema: Schema, place: Place): readonly Cause[] {
  const { value } = place;
  if (typeof value !== 'string') return [];
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
  const { length } = Array.from(value);
  return [
    ...(length < minLength ? [invalid(place, `should be at least ${minLength} chars long`)] : []),
    ...(length > maxLength
      ? [fault('FieldValueTooLong', place, `Too long: may not be more than ${maxLength} bytes`)]
      : []),
    ...(pattern !== undefined && !new RegExp(pattern).test(value) ? [invalid(place, `should match '${pattern}'`)] : []),
    ...(format === 'date-time' && !DATE_TIME.test(value)
      ? [invalid(place, `must be of type date-time: ${JSON.stringify(value)}`)]
      : []),
  ];
}

function arrayFaults(schema: Schema, place: Place): readonly Cause[] {
  if (!Array.isArray(place.value)) return [];
  const values = list(place.value);
  const { minItems = 0, maxItems = Infinity, items } = schema;
  const tooMany = `Too many: ${values.length}: must have at most ${maxItems} items`;
  const twice = schema.uniqueItems === true && values.some((value, index) => contains(values.slice(0, index), value));
  return [
    ...(values.length > maxItems ? [fault('FieldValueTooMany', place, tooMany)] : []),
    ...(values.length < minItems ? [invalid(place, `should have at least ${minItems} items`)] : []),
    ...(twice ? [invalid(place, `shouldn't contain duplicates`)] : []),
    ...(items ? values.flatMap((value, index) => validate(items, value, `${place.path}[${index}]`)) : []),
  ];
}

function contains(values: readonly unknown[], value: unknown): boolean {
  return values.some((other) => isDeepStrictEqual(other, value));
}

function objectFaults(schema: Schema, place: Place): readonly Cause[] {
  if (!isFields(place.value)) return [];
  const object = fields(place.value);
  const { required = [], minProperties = 0, maxProperties = Infinity } = schema;
  const child = (key: string): Place => ({
    value: object[key],
    path: place.path === '' ? key : `${place.path}.${key}`,
  });
  const size = Object.keys(object).length;
  return [
    ...required
      .filter((key) => object[key] === undefined)
      .map((key) => fault('FieldValueRequired', child(key), 'Required value')),
    ...(size < minProperties ? [invalid(place, `should have at least ${minProperties} properties`)] : []),
    ...(size > maxProperties
      ? [fault('FieldValueTooMany', place, `Too many: ${size}: must have at most ${maxProperties} items`)]
      : []),
    ...Object.keys(object).flatMap((key) => {
      const inner = propertySchema(schema, key);
      return inner ? validate(inner, object[key], child(key).path) : [];
    }),
  ];
}

/** The schema of one field of an object, if it says anything about it. */
export function propertySchema(schema: Schema, key: string): Schema | undefined {
  const own = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  return own ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
}

function combinedFaults(schema: Schema, place: Place): readonly Cause[] {
  const { value, path } = place;
  const fits = (inner: Schema): boolean => validate(inner, value, path).length === 0;
  const { allOf = [], anyOf, oneOf, not } = schema;
  return [
    ...allOf.flatMap((inner) => validate(inner, value, path)),
    ...(anyOf && !anyOf.some(fits) ? [invalid(place, 'must validate at least one schema (anyOf)')] : []),
    ...(oneOf && oneOf.filter(fits).length !== 1
      ? [invalid(place, 'must validate one and only one schema (oneOf)')]
      : []),
    ...(not && fits(not) ? [invalid(place, 'must not validate the schema (not)')] : []),
  ];
}
