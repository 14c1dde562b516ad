import type { ObjectMeta } from '../../../runtime/kube/objects.ts';

/** JSON objects in the store are frozen: a write replaces, so every view that was handed out stays what it was. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Meta extends ObjectMeta {
  readonly generation?: number;
  readonly generateName?: string;
  readonly finalizers?: readonly string[];
  readonly [field: string]: unknown;
}

export interface KubeJson {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Meta;
  readonly [field: string]: unknown;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value` if it is a JSON object, else an empty one. */
export function fields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** `value` if it is an array, else an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `object` without `keys`. */
export function without<T extends Fields>(object: T, ...keys: string[]): T {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(object)) if (!keys.includes(key)) copy[key] = object[key];
  return copy as T;
}

/** `object` with each value as `change` makes it, and without those that it makes undefined; `object` itself where all stay. */
export function mapFields(object: Fields, change: (inner: unknown, key: string) => unknown): Fields {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const inner = change(object[key], key);
    if (inner === object[key]) continue;
    copy ??= { ...object };
    if (inner === undefined) delete copy[key];
    else copy[key] = inner;
  }
  return copy ?? object;
}

/** `values` with each as `change` makes it; `values` itself where all stay. */
export function mapList(
  values: readonly unknown[],
  change: (inner: unknown, index: number) => unknown,
): readonly unknown[] {
  const mapped = values.map(change);
  return mapped.every((inner, index) => inner === values[index]) ? values : mapped;
}

/** `value` without its nulls: where the API server decodes into a structure, null and absent are the same. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return mapList(value, withoutNulls);
  if (!isFields(value)) return value;
  return mapFields(value, (inner) => (inner === null ? undefined : withoutNulls(inner)));
}

/** The value at `path`, undefined where anything on the way is missing. */
export function at(object: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isFields(value) ? value[key] : undefined), object);
}

export function withMeta(object: KubeJson, changes: Fields): KubeJson {
  return { ...object, metadata: { ...object.metadata, ...changes } };
}

/** Freezes `value` and what it holds; stops at what is frozen already, so that a shared subtree costs nothing. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

/** A copy as it would come over the wire: undefined fields are gone and nothing is shared with the caller. */
export function overTheWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((inner: unknown) => (inner === undefined ? null : overTheWire(inner)));
  if (!isFields(value)) return typeof value === 'number' && !Number.isFinite(value) ? null : value;
  if (typeof value['toJSON'] === 'function') return JSON.parse(JSON.stringify(value)) as unknown;
  // A copy of its own fields first: a field called __proto__ that is set on an empty object is lost.
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) {
    if (copy[key] === undefined) delete copy[key];
    else copy[key] = overTheWire(copy[key]);
  }
  return copy;
}
