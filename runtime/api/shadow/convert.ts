import * as z from 'zod';
import { boundedJson } from '../../lib/json.ts';
import { specV2, statusV2 } from './model.ts';
import { CONVERSION_DATA_ANNOTATION, GROUP, KIND, type ServedVersion } from './names.ts';
import { shown } from './parse.ts';
import { STATES, STATES_V1, stateFromV1, stateToV1 } from './states.ts';

/** The conversion cannot handle an object or a version. The message names the field, what was expected and what came. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

type Json = Readonly<Record<string, unknown>>;

/** Spec and status of an object, which may have no status, or null. */
interface Parts {
  readonly spec: Json;
  readonly status?: Json | null;
}

interface Versioned extends Parts {
  readonly apiVersion: string;
}

/** All fields of v1. */
const SPEC_V1 = ['state', 'version', 'state_transition_timestamp'] as const;
const STATUS_V1 = ['current_version', 'target_version', 'current_state'] as const;

/**
 * Converts one BottlerocketShadow between its served versions.
 *
 * v1 lacks most fields of v2, and any write of a v1 object, even of a label, is stored as the v2 object that it converts to. To lose nothing, a
 * v1 object that is given out carries its v2 spec and status in an annotation. On the way back each of the two is taken from there, unless
 * somebody has changed v1's own fields of it. A v2 object never carries the annotation: one that is on it is ignored and removed. All other
 * fields are copied as they are, so metadata and the exact text of timestamps survive.
 * @param desired e.g. `brupop.bottlerocket.aws/v2`
 * @throws ConversionError
 */
export function convertShadow(object: unknown, desired: string): Json {
  const shadow = record(object, 'object');
  if (shadow['kind'] !== KIND) throw new ConversionError(`kind: expected ${KIND}, got ${shown(shadow['kind'])}`);
  const from = version(shadow['apiVersion'], 'apiVersion');
  const to = version(desired, 'desiredAPIVersion');
  if (from === to) return shadow;
  const { [CONVERSION_DATA_ANNOTATION]: data, ...others } = annotationsOf(shadow);
  const parts = partsOf(shadow);
  return to === 'v1'
    ? { ...annotated(shadow, { ...others, [CONVERSION_DATA_ANNOTATION]: JSON.stringify(parts) }), ...toV1(parts) }
    : { ...annotated(shadow, others), ...toV2(parts), ...unchanged(parts, givenOut(data)) };
}

function annotationsOf(shadow: Json): Json {
  return record(record(shadow['metadata'], 'metadata')['annotations'] ?? {}, 'metadata.annotations');
}

/** Without any annotation the field is left out: an object that never had one comes back as it was. */
function annotated(shadow: Json, annotations: Json): Json {
  const { annotations: _, ...metadata } = shadow['metadata'] as Json;
  return { ...shadow, metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) } };
}

function partsOf({ spec, status }: Json): Parts {
  if (status === undefined) return { spec: record(spec, 'spec') };
  return { spec: record(spec, 'spec'), status: status === null ? null : record(status, 'status') };
}

function toV1({ spec, status }: Parts): Versioned {
  const state = stateToV1(oneOf(STATES, spec['state'], 'spec.state'));
  return {
    apiVersion: `${GROUP}/v1`,
    spec: { ...only(SPEC_V1, spec), state },
    ...(status !== undefined && { status: statusToV1(status) }),
  };
}

const only = (fields: readonly string[], part: Json): Json =>
  Object.fromEntries(fields.filter((field) => field in part).map((field) => [field, part[field]]));

function statusToV1(status: Json | null): Json | null {
  if (status === null) return null;
  return {
    ...only(STATUS_V1, status),
    current_state: stateToV1(oneOf(STATES, status['current_state'], 'status.current_state')),
  };
}

/** The v2 parts, as far as v1 has them. */
function toV2({ spec, status }: Parts): Versioned {
  const state = stateFromV1(oneOf(STATES_V1, spec['state'], 'spec.state'));
  return {
    apiVersion: `${GROUP}/v2`,
    spec: { ...spec, state },
    ...(status !== undefined && { status: statusToV2(status) }),
  };
}

function statusToV2(status: Json | null): Json | null {
  if (status === null) return null;
  const state = stateFromV1(oneOf(STATES_V1, status['current_state'], 'status.current_state'));
  return { ...status, current_state: state, crash_count: 0 };
}

/** Those parts of `before` whose v1 fields are still as they were given out. */
function unchanged({ spec, status }: Parts, before: Parts | undefined): Partial<Parts> {
  if (before === undefined) return {};
  const given = toV1(before);
  return {
    ...(isSame(spec, given.spec, SPEC_V1) && { spec: before.spec }),
    ...(status && before.status && isSame(status, given.status ?? {}, STATUS_V1) && { status: before.status }),
  };
}

function isSame(part: Json, other: Json, fields: readonly string[]): boolean {
  return fields.every((field) => (part[field] ?? null) === (other[field] ?? null));
}

const partsV2 = z.object({ spec: specV2, status: statusV2.nullish() });

/**
 * The parts in the annotation. Anybody may have edited it, and the API server does not validate what a conversion returns, so parts that do
 * not fit the model are ignored. Fields of a newer model are kept.
 */
function givenOut(data: unknown): Parts | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const parts = boundedJson(data);
    return partsV2.safeParse(parts).success ? (parts as Parts) : undefined;
  } catch {
    return undefined;
  }
}

function oneOf<T extends string>(values: readonly T[], value: unknown, path: string): T {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined)
    throw new ConversionError(`${path}: expected one of ${values.join(', ')}, got ${shown(value)}`);
  return found;
}

function version(value: unknown, path: string): ServedVersion {
  if (value === `${GROUP}/v1`) return 'v1';
  if (value === `${GROUP}/v2`) return 'v2';
  throw new ConversionError(`${path}: expected ${GROUP}/v1 or ${GROUP}/v2, got ${shown(value)}`);
}

function record(value: unknown, path: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new ConversionError(`${path}: expected an object, got ${shown(value)}`);
}
