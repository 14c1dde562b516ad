import { type Fields, isFields, list } from '../object.ts';
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
    return items
      ? list(value).map((item, index) => pruned(items, item, { path: `${path}[${index}]`, unknown }))
      : value;
  }
  if (!isFields(value)) return value;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  const kept = Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const known = propertySchema(schema, key);
    if (known) return [[key, pruned(known, inner, { path: here, unknown })] as const];
    if (open || (schema['x-kubernetes-embedded-resource'] === true && ENVELOPE.has(key)))
      return [[key, inner] as const];
    unknown.push(here);
    return [];
  });
  return Object.fromEntries(kept);
}

/** Fills in the schema's defaults; a null that is not allowed counts as missing. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? list(value).map((item) => withDefaults(items, item)) : value;
  }
  if (!isFields(value)) return value;
  const filled = { ...value, ...missingDefaults(schema, value) };
  const entries = Object.entries(filled).flatMap(([key, child]) => {
    const inner = propertySchema(schema, key);
    if (inner && child === null && inner.nullable !== true) return [];
    return [[key, inner ? withDefaults(inner, child) : child] as const];
  });
  return Object.fromEntries(entries);
}

function missingDefaults({ properties = {} }: Schema, value: Fields): Fields {
  const missing = Object.entries(properties).filter(([key, inner]) => {
    const isMissing = value[key] === undefined || (value[key] === null && inner.nullable !== true);
    return isMissing && inner.default !== undefined;
  });
  return Object.fromEntries(missing.map(([key, inner]) => [key, inner.default]));
}
