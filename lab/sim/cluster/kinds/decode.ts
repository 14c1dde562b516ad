import type { WriteOptions } from '../candidate.ts';
import { pruned, withDefaults } from '../crd/shape.ts';
import { validate } from '../crd/validate.ts';
import { type Fields, isFields, withoutNulls } from '../object.ts';
import type { ResourceType } from '../resources.ts';
import { badRequest, invalid } from '../status.ts';
import { structureOf } from './structures.ts';

/** How a body is to be read. */
export interface Reading {
  readonly type: ResourceType;
  /** The type is a definition's. */
  readonly custom: boolean;
  readonly options: WriteOptions;
}

/**
 * Reads what a client sent into the structure of its kind, as the API server does before anything else: fields have their types, those
 * that the structure has not are dropped, and null is what was never set, sent as such or not at all. What is no JSON object is left to
 * whoever needs one.
 * @throws StatusError 400, in a patch 422
 */
export function decode(body: unknown, { type, custom, options }: Reading): unknown {
  if (!isFields(body)) return body;
  const clean = (custom ? mapped(body, 'metadata', withoutNulls) : withoutNulls(body)) as Fields;
  const structure = structureOf(type, custom);
  const [fault] = validate(structure, clean);
  if (fault) throw undecodable(type, `${fault.field ?? ''}: ${fault.message}`, options);
  const unknown: string[] = [];
  const known = pruned(structure, clean, { path: '', unknown });
  reportUnknown(type, unknown, options);
  return withDefaults(structure, unknown.length === 0 ? clean : known);
}

/** Fields that are not kept: the client is warned of them or refused, as it wishes. @throws StatusError 400, in a patch 422 */
export function reportUnknown(type: ResourceType, unknown: readonly string[], options: WriteOptions): void {
  if (unknown.length === 0) return;
  const problems = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (options.fieldValidation === 'Warn') options.warnings.push(...problems);
  if (options.fieldValidation !== 'Strict') return;
  throw undecodable(type, `strict decoding error: ${problems.join(', ')}`, options);
}

function undecodable({ kind, group, version }: ResourceType, why: string, { patch }: WriteOptions): Error {
  const groupVersion = group === '' ? version : `${group}/${version}`;
  if (!patch) return badRequest(`${kind} in version "${groupVersion}" cannot be handled as a ${kind}: ${why}`);
  const cause = { reason: 'FieldValueInvalid', field: 'patch', message: `Invalid value: ${why}` };
  return invalid({ type: { kind, group }, name: '' }, [cause]);
}

function mapped(object: Fields, key: string, change: (value: unknown) => unknown): Fields {
  return key in object ? { ...object, [key]: change(object[key]) } : object;
}
