import { GROUP, KIND } from './names.ts';
import { STATES, STATES_V1, type State, type StateV1, stateFromV1, stateToV1 } from './states.ts';

/** An object, or a version, that the conversion cannot handle. The message names the field, what was expected and what came. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

type Json = Readonly<Record<string, unknown>>;
type Version = 'v1' | 'v2';

/** Fields of `.status` that v1 has; the rest of a v2 status has no place in it and is dropped. */
const STATUS_FIELDS_V1 = ['current_version', 'target_version', 'current_state'] as const;

/**
 * Converts one BottlerocketShadow between its served versions. Everything outside `apiVersion`, `spec.state` and `status` is
 * carried over untouched, so metadata and the timestamps' own text survive.
 * @param desired e.g. `brupop.bottlerocket.aws/v2`
 * @throws ConversionError
 */
export function convertShadow(object: unknown, desired: string): Json {
  const shadow = record(object, 'object');
  if (shadow['kind'] !== KIND) throw new ConversionError(`kind: expected ${KIND}, got ${shown(shadow['kind'])}`);
  const from = version(shadow['apiVersion'], 'apiVersion');
  const to = version(desired, 'desiredAPIVersion');
  if (from === to) return shadow;
  const status = shadow['status'];
  return {
    ...shadow,
    apiVersion: desired,
    spec: convertSpec(record(shadow['spec'], 'spec'), to),
    ...(status !== undefined && { status: status === null ? null : convertStatus(record(status, 'status'), to) }),
  };
}

function convertSpec(spec: Json, to: Version): Json {
  return { ...spec, state: convertState(spec['state'], to, 'spec.state') };
}

function convertStatus(status: Json, to: Version): Json {
  const state = convertState(status['current_state'], to, 'status.current_state');
  if (to === 'v2') return { ...status, current_state: state, crash_count: 0 };
  const kept = STATUS_FIELDS_V1.filter((field) => field in status).map((field) => [field, status[field]]);
  return { ...Object.fromEntries(kept), current_state: state };
}

function convertState(value: unknown, to: Version, path: string): State | StateV1 {
  if (to === 'v2') return stateFromV1(oneOf(STATES_V1, value, path));
  return stateToV1(oneOf(STATES, value, path));
}

function oneOf<T extends string>(values: readonly T[], value: unknown, path: string): T {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined)
    throw new ConversionError(`${path}: expected one of ${values.join(', ')}, got ${shown(value)}`);
  return found;
}

function version(value: unknown, path: string): Version {
  if (value === `${GROUP}/v1`) return 'v1';
  if (value === `${GROUP}/v2`) return 'v2';
  throw new ConversionError(`${path}: expected ${GROUP}/v1 or ${GROUP}/v2, got ${shown(value)}`);
}

function record(value: unknown, path: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new ConversionError(`${path}: expected an object, got ${shown(value)}`);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
