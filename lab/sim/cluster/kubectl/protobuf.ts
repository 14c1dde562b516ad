/** How a message's fields are called in JSON, by field number; those that nobody here reads are left out. */
type Shape = Readonly<Record<number, Field>>;

interface Field {
  readonly name: string;
  /** In a map of bytes they are base64, as in JSON. */
  readonly kind: 'text' | 'texts' | 'number' | 'map' | 'bytes' | Shape;
}

interface Token {
  readonly field: number;
  /** A number, or the bytes of a text or message. */
  readonly value: number | Uint8Array;
}

const text = (name: string): Field => ({ name, kind: 'text' });

const METADATA: Field = {
  name: 'metadata',
  kind: {
    1: text('name'),
    2: text('generateName'),
    3: text('namespace'),
    5: text('uid'),
    6: text('resourceVersion'),
    11: { name: 'labels', kind: 'map' },
    12: { name: 'annotations', kind: 'map' },
  },
};
const BOUND_OBJECT: Shape = { 1: text('kind'), 2: text('apiVersion'), 3: text('name'), 4: text('uid') };
const RESOURCE: Shape = {
  1: text('namespace'),
  2: text('verb'),
  3: text('group'),
  4: text('version'),
  5: text('resource'),
  6: text('subresource'),
  7: text('name'),
};

/** What kubectl and Helm send in protobuf and nothing else, as they do with all that they do not read from a file or patch. */
const KINDS: Readonly<Record<string, Shape>> = {
  Namespace: { 1: METADATA },
  ServiceAccount: { 1: METADATA },
  // Helm's record of a release.
  Secret: { 1: METADATA, 2: { name: 'data', kind: 'bytes' }, 3: text('type') },
  DeleteOptions: {
    1: { name: 'gracePeriodSeconds', kind: 'number' },
    2: { name: 'preconditions', kind: { 1: text('uid'), 2: text('resourceVersion') } },
    4: text('propagationPolicy'),
    5: { name: 'dryRun', kind: 'texts' },
  },
  SelfSubjectReview: { 1: METADATA },
  SelfSubjectAccessReview: {
    1: METADATA,
    2: {
      name: 'spec',
      kind: {
        1: { name: 'resourceAttributes', kind: RESOURCE },
        2: { name: 'nonResourceAttributes', kind: { 1: text('path'), 2: text('verb') } },
      },
    },
  },
  TokenRequest: {
    1: METADATA,
    2: {
      name: 'spec',
      kind: {
        1: { name: 'audiences', kind: 'texts' },
        3: { name: 'boundObjectRef', kind: BOUND_OBJECT },
        4: { name: 'expirationSeconds', kind: 'number' },
      },
    },
  },
};

const MAGIC = 'k8s\0';
const ENVELOPE: Shape = { 1: { name: 'typeMeta', kind: { 1: text('apiVersion'), 2: text('kind') } } };
const CONTENT_FIELD = 2;

/**
 * The object in a body of type `application/vnd.kubernetes.protobuf`.
 * @returns undefined for a kind that is only taken as JSON, and for bytes that are no such object
 */
export function decodeProtobuf(body: Uint8Array): unknown {
  if (Buffer.from(body.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC) return undefined;
  try {
    const tokens = [...read(body.subarray(MAGIC.length))];
    const { typeMeta } = message(tokens, ENVELOPE) as { readonly typeMeta?: { readonly kind?: string } };
    const content = tokens.find(({ field }) => field === CONTENT_FIELD)?.value;
    const shape = KINDS[typeMeta?.kind ?? ''];
    if (!shape || !(content instanceof Uint8Array)) return undefined;
    return { ...typeMeta, ...message([...read(content)], shape) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function message(tokens: readonly Token[], shape: Shape): Readonly<Record<string, unknown>> {
  const object: Record<string, unknown> = {};
  for (const { field, value } of tokens) {
    const known = shape[field];
    // Go writes fields that were never set as empty texts.
    if (known && (known.kind !== 'text' || length(value) > 0))
      object[known.name] = merged(object[known.name], known, value);
  }
  return object;
}

function merged(before: unknown, { kind }: Field, value: number | Uint8Array): unknown {
  if (typeof value === 'number') return value;
  if (kind === 'texts') return [...((before as readonly string[] | undefined) ?? []), decode(value)];
  if (kind === 'map' || kind === 'bytes') return { ...(before as object | undefined), ...entryOf(value, kind) };
  return typeof kind === 'string' ? decode(value) : message([...read(value)], kind);
}

/** An entry of a map. */
function entryOf(value: Uint8Array, kind: 'map' | 'bytes'): Readonly<Record<string, string>> {
  const tokens = [...read(value)];
  const part = (wanted: number) => {
    const found = tokens.find(({ field }) => field === wanted)?.value;
    return found instanceof Uint8Array ? found : new Uint8Array();
  };
  return { [decode(part(1))]: kind === 'map' ? decode(part(2)) : Buffer.from(part(2)).toString('base64') };
}

const length = (value: number | Uint8Array): number => (typeof value === 'number' ? 1 : value.length);
const decode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

/** @throws RangeError where the bytes end too early, or hold a type of field that no object here has */
function* read(bytes: Uint8Array): Generator<Token> {
  const cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const tag = varint(cursor);
    const field = Math.floor(tag / 8);
    yield { field, value: tag % 8 === 0 ? varint(cursor) : chunk(cursor, tag % 8) };
  }
}

interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

function varint(cursor: Cursor): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = cursor.bytes[cursor.at++];
    if (byte === undefined || scale > Number.MAX_SAFE_INTEGER) throw new RangeError('no number here');
    value += (byte % 128) * scale;
    if (byte < 128) return value;
  }
}

function chunk(cursor: Cursor, wireType: number): Uint8Array {
  if (wireType !== 2) throw new RangeError(`wire type ${wireType}`);
  const size = varint(cursor);
  const start = cursor.at;
  cursor.at += size;
  if (cursor.at > cursor.bytes.length) throw new RangeError('the bytes end within a field');
  return cursor.bytes.subarray(start, cursor.at);
}
