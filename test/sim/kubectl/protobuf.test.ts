import { expect, test } from '@jest/globals';
import { decodeProtobuf } from '../../../sim/cluster/kubectl/protobuf.ts';

/** A length-delimited field, or a number. */
function field(number: number, value: string | Uint8Array | number): Uint8Array {
  if (typeof value === 'number') return Uint8Array.from([number * 8, ...varint(value)]);
  const bytes = Buffer.from(value);
  return Uint8Array.from([number * 8 + 2, ...varint(bytes.length), ...bytes]);
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

const concat = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);

function body(apiVersion: string, kind: string, content: Uint8Array): Uint8Array {
  return concat(Buffer.from('k8s\0'), field(1, concat(field(1, apiVersion), field(2, kind))), field(2, content));
}

test('a TokenRequest is read with its audiences, bound object and long numbers', () => {
  const bound = concat(field(1, 'Pod'), field(2, 'v1'), field(3, 'p'), field(4, 'uid-p'));
  const spec = concat(field(1, 'one'), field(1, 'two'), field(3, bound), field(4, 86_400));
  const status = field(3, concat(field(1, ''), field(2, '')));
  expect(decodeProtobuf(body('authentication.k8s.io/v1', 'TokenRequest', concat(field(2, spec), status)))).toEqual({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: ['one', 'two'],
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'uid-p' },
      expirationSeconds: 86_400,
    },
  });
});

test('a Namespace is read with its labels, without the fields that were never set', () => {
  const label = (key: string, value: string): Uint8Array => field(11, concat(field(1, key), field(2, value)));
  const metadata = concat(field(1, 'shop'), field(2, ''), label('a', '1'), label('b', ''));
  expect(decodeProtobuf(body('v1', 'Namespace', field(1, metadata)))).toEqual({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', labels: { a: '1', b: '' } },
  });
});

test('a Secret is read with its bytes in base64, and with what tells a stale copy', () => {
  const metadata = concat(field(1, 'release'), field(5, 'uid-r'), field(6, '7'));
  const data = field(2, concat(field(1, 'release'), field(2, Uint8Array.from([0, 255, 16]))));
  expect(
    decodeProtobuf(body('v1', 'Secret', concat(field(1, metadata), data, field(3, 'helm.sh/release.v1')))),
  ).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'release', uid: 'uid-r', resourceVersion: '7' },
    data: { release: 'AP8Q' },
    type: 'helm.sh/release.v1',
  });
});

test('options of a deletion are read', () => {
  const options = concat(field(1, 30), field(2, field(1, 'uid-p')), field(4, 'Foreground'), field(5, 'All'));
  expect(decodeProtobuf(body('v1', 'DeleteOptions', options))).toMatchObject({
    gracePeriodSeconds: 30,
    preconditions: { uid: 'uid-p' },
    propagationPolicy: 'Foreground',
    dryRun: ['All'],
  });
});

test('a kind that is taken as JSON only, and bytes that are no object, are left alone', () => {
  const whole = body('v1', 'Namespace', field(1, field(1, 'shop')));
  expect(decodeProtobuf(body('v1', 'ConfigMap', field(1, '')))).toBeUndefined();
  expect(decodeProtobuf(Buffer.from('{"kind":"Namespace"}'))).toBeUndefined();
  expect(decodeProtobuf(whole.subarray(0, -2))).toBeUndefined();
  expect(decodeProtobuf(concat(whole, Uint8Array.from([0x80])))).toBeUndefined();
});
