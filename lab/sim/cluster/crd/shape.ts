import { type Fields, isFields, mapFields, mapList } from '../object.ts';
import type { Schema } from './schema.ts';
import { propertySchema } from './validate.ts';

/** What the API server cares for in every object, whatever the schema says. */
const ENVELOPE = new Set(['apiVersion', 'kind', 'metadata']);

/** Removes the fields that `schema` does not know and adds their paths to `unknown`. Apart from the root's envelope. */
export function prune(schema: Schema, object: Readonly<Record<string, unknown>>, unknown: string[]): object {
  const inner = Object.fromEntries(Object.entries(object).filter(([key]) => !ENVELOPE.has(key)));
  const envelope = Object.fromEntries(Object.entries(object).filter(([key]) => ENVELOPE.has(key)));
  return { ...envelope, ...(pruned(schema, inner, { path: '', unknown }) as object) };
}

/** Where a value stands, and the paths that its schema does not know, to which more are added. */
interface Context {
  readonly path: string;
  readonly unknown: string[];
}

/** As `prune`, without exceptions. */
export function pruned(schema: Schema, value: unknown, { path, unknown }: Context): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return value;
    return mapList(value, (item, index) => pruned(items, item, { path: `${path}[${index}]`, unknown }));
  }
  if (!isFields(value)) return value;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  return mapFields(value, (inner, key) => {
    const here = path === '' ? key : `${path}.${key}`;
    const known = propertySchema(schema, key);
    if (known) return pruned(known, inner, { path: here, unknown });
    if (open || (schema['x-kubernetes-embedded-resource'] === true && ENVELOPE.has(key))) return inner;
    unknown.push(here);
    return undefined;
  });
}

/** Fills in the schema's defaults; a null that is not allowed counts as missing. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? mapList(value, (item) => withDefaults(items, item)) : value;
  }
  if (!isFields(value)) return value;
  return mapFields(filled(schema, value), (child, key) => {
    const inner = propertySchema(schema, key);
    if (inner && child === null && inner.nullable !== true) return undefined;
    return inner ? withDefaults(inner, child) : child;
  });
}

function filled({ properties = {} }: Schema, value: Fields): Fields {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(properties)) {
    const { default: given, nullable } = properties[key] ?? {};
    if (given === undefined) continue;
    const isMissing = value[key] === undefined || (value[key] === null && nullable !== true);
    if (isMissing) (copy ??= { ...value })[key] = given;
  }
  return copy ?? value;
}
