import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../runtime/lib/random.ts';
import { convertShadow } from '../../runtime/api/shadow/convert.ts';
import { CONVERSION_DATA_ANNOTATION } from '../../runtime/api/shadow/names.ts';

const GROUP = 'brupop.bottlerocket.aws';
const META = {
  name: 'brs-n1',
  namespace: 'x',
  uid: 'u',
  resourceVersion: '1',
  annotations: { 'a/b': 'ü\u0000\u2028' },
  ownerReferences: [{ kind: 'Node', uid: 'n' }],
};
const V1 = {
  apiVersion: `${GROUP}/v1`,
  kind: 'BottlerocketShadow',
  metadata: META,
  spec: { state: 'StagedUpdate', version: '1.39.0', state_transition_timestamp: '2022-01-01T00:00:00.123456789Z' },
  status: { current_version: '1.38.0', target_version: '1.39.0', current_state: 'PerformedUpdate' },
};
const V2 = {
  apiVersion: `${GROUP}/v2`,
  kind: 'BottlerocketShadow',
  metadata: META,
  spec: { state: 'RebootedIntoUpdate', version: '1.39.0', unknown: { kept: [1e300, null, -0] } },
  status: {
    current_version: '1.38.0',
    target_version: '1.39.0',
    current_state: 'StagedAndPerformedUpdate',
    crash_count: 4294967295,
    drain: { started_at: '2026-01-01T00:00:00Z', pods_left: 3, blocked_by: ['x'] },
  },
};

const reviewOf = (to: string, ...objects: readonly unknown[]): string =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'f2c6', desiredAPIVersion: `${GROUP}/${to}`, objects },
  });

/** Good requests, and texts that have hurt parsers before. */
export const CORPUS: readonly Buffer[] = [
  reviewOf('v2', V1),
  reviewOf('v1', V2),
  reviewOf('v1', V2, V1, { ...V2, status: null }),
  reviewOf('v2', { ...V1, status: undefined }),
  reviewOf('v2'),
  // As this operator has given it out, and as somebody else may bring it back.
  reviewOf('v2', convertShadow(V2, `${GROUP}/v1`)),
  reviewOf('v1', { ...V2, metadata: { ...META, annotations: { [CONVERSION_DATA_ANNOTATION]: '{"spec":{}}' } } }),
  '',
  'null',
  '[]',
  '{"request":{"uid":{},"objects":{"length":-1}}}',
  '{"__proto__":{"request":{"uid":"x"}},"request":{"__proto__":{"uid":"y"},"objects":[{"__proto__":{"kind":"z"}}]}}',
].map((text) => Buffer.from(text));

/** Pieces that a mutation puts somewhere. */
const PIECES = [
  '{ } [ ] , : " \\ \\u \\ud800 \u0000 \uFEFF - 1e999 -0 0x1 NaN null true {} [] "" [[[[[[[[ {"a":{"a":{"a":',
  `"__proto__": "constructor": "toString": "uid": "status":null, "spec": "objects": "${GROUP}/v1" "${GROUP}/v2" "v9"`,
  '9'.repeat(400),
]
  .flatMap((line) => line.split(' '))
  .map((text) => Buffer.from(text));
const BYTES = [0x00, 0x22, 0x2c, 0x5c, 0x7b, 0x7f, 0x80, 0xc0, 0xed, 0xfe, 0xff];

/** A request body that no API server would send: one of the corpus, changed in a few places. */
export function mutated(random: Random): Buffer {
  const below = (end: number): number => Math.floor(random() * end);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!;
  let bytes = oneOf(CORPUS);
  for (let left = 1 + below(4); left > 0; left--) {
    const at = below(bytes.length + 1);
    const to = Math.min(bytes.length, at + below(24));
    const kinds = [
      () => Buffer.concat([bytes.subarray(0, at), oneOf(PIECES), bytes.subarray(at)]),
      () => Buffer.concat([bytes.subarray(0, at), oneOf(PIECES), bytes.subarray(to)]),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]),
      () => Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]),
      () => Buffer.concat([bytes.subarray(0, at), Buffer.from([oneOf(BYTES)]), bytes.subarray(at + 1)]),
      () =>
        Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from([(bytes[at] ?? 0) ^ (1 << below(8))]),
          bytes.subarray(at + 1),
        ]),
      () => Buffer.concat([bytes.subarray(0, at), oneOf(CORPUS).subarray(below(200))]),
    ];
    bytes = oneOf(kinds)();
  }
  return bytes;
}

interface Shadow {
  readonly apiVersion: string;
  readonly metadata?: { readonly annotations?: Readonly<Record<string, unknown>> | null };
  readonly status?: unknown;
}

interface Answer {
  readonly kind: string;
  readonly response: {
    uid: string;
    convertedObjects: Shadow[];
    result: { status: string };
  };
}

/** What is wrong with the answer to a body; undefined where it is as it must be: a review of its own, with every object or with none. */
export function faultOf(body: Buffer, answer: string): string | undefined {
  const { kind, response } = JSON.parse(answer) as Answer;
  if (kind !== 'ConversionReview' || typeof response.uid !== 'string') return 'no review';
  if (Object.hasOwn(Object.prototype, 'uid')) return 'a polluted prototype';
  if (response.result.status === 'Failed')
    return response.convertedObjects.length > 0 ? 'objects of a failure' : undefined;
  return isUtf8(body) ? faultOfSuccess(body, response) : 'bytes replaced';
}

function faultOfSuccess(body: Buffer, response: Answer['response']): string | undefined {
  const { request } = JSON.parse(body.toString('utf8')) as {
    request: { uid: string; desiredAPIVersion: string; objects: Shadow[] };
  };
  if (response.uid !== request.uid) return 'another uid';
  if (response.convertedObjects.length !== request.objects.length) return 'objects lost';
  const foreign = response.convertedObjects.some((object) => object.apiVersion !== request.desiredAPIVersion);
  const changed = response.convertedObjects.some(
    (object, index) => !isDeepStrictEqual(metadataOf(object), storable(metadataOf(request.objects[index]))),
  );
  return foreign
    ? 'another version'
    : changed
      ? 'changed metadata'
      : lossOf(request.objects, response.convertedObjects);
}

/** Without what a conversion adds and takes away. */
function metadataOf({ metadata }: Partial<Shadow> = {}): unknown {
  const { annotations, ...rest } = metadata ?? {};
  const { [CONVERSION_DATA_ANNOTATION]: _, ...others } = annotations ?? {};
  return { ...rest, annotations: others };
}

/** Numbers that a double cannot hold are infinite once parsed, and have no form in JSON, nor has -0: the API server stores none. */
const storable = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** What v1 has no field for is in the annotation of an object that has become v1, and an object that has become v2 has none. */
function lossOf(sent: readonly Shadow[], got: readonly Shadow[]): string | undefined {
  const loses = got.some(({ apiVersion, metadata }, index) => {
    const before = sent[index];
    if (apiVersion === before?.apiVersion) return false;
    const data = metadata?.annotations?.[CONVERSION_DATA_ANNOTATION];
    if (apiVersion.endsWith('/v2')) return data !== undefined;
    return !isDeepStrictEqual((JSON.parse(String(data)) as Partial<Shadow>).status, storable(before?.status));
  });
  return loses ? 'lost status' : undefined;
}
