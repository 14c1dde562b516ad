import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { convert, convertBytes } from '../../runtime/apiserver/conversion.ts';
import { runs, seeded, seeds } from '../random.ts';
import { faultOf, mutated } from './fuzz.ts';

const GROUP = 'brupop.bottlerocket.aws';

const shadow = (version: string, spec: object, status?: unknown): object => ({
  apiVersion: `${GROUP}/${version}`,
  kind: 'BottlerocketShadow',
  metadata: { name: 'brs-n1', namespace: 'x', uid: 'u', ownerReferences: [{ uid: 'n' }] },
  spec,
  ...(status !== undefined && { status }),
});

const review = (objects: unknown, desired = `${GROUP}/v2`): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: 'r1', desiredAPIVersion: desired, objects },
});

describe('a ConversionReview', () => {
  test('is answered in its order, with its uid', () => {
    const { response, kind } = convert(
      review([shadow('v1', { state: 'PerformedUpdate' }), shadow('v2', { state: 'ErrorReset' }, null)]),
    );
    expect(kind).toBe('ConversionReview');
    expect(response).toMatchObject({ uid: 'r1', result: { status: 'Success' } });
    expect(response.convertedObjects).toEqual([
      shadow('v2', { state: 'StagedAndPerformedUpdate' }),
      shadow('v2', { state: 'ErrorReset' }, null),
    ]);
  });

  test('fails as a whole, and names the object and the field', () => {
    const { response } = convert(review([shadow('v1', { state: 'Idle' }), shadow('v1', { state: 'Nowhere' })]));
    expect(response.uid).toBe('r1');
    expect(response.convertedObjects).toEqual([]);
    expect(response.result).toMatchObject({
      status: 'Failed',
      message: expect.stringMatching(/objects\[1\].*spec\.state.*Nowhere/),
    });
  });

  test.each([
    ['an unknown version', review([shadow('v1', { state: 'Idle' })], `${GROUP}/v9`)],
    ['no objects', review(undefined)],
    ['no body', undefined],
    ['another kind', review([{ kind: 'Pod', apiVersion: `${GROUP}/v1` }])],
  ])('fails with %s', (_, body) => {
    expect(convert(body).response.result.status).toBe('Failed');
  });

  test('whatever comes in, a review goes out', () => {
    const state = fc.oneof(fc.constantFrom('Idle', 'StagedUpdate', 'ErrorReset'), fc.anything());
    const object = fc.record(
      {
        apiVersion: fc.oneof(fc.constantFrom(`${GROUP}/v1`, `${GROUP}/v2`), fc.anything()),
        kind: fc.oneof(fc.constant('BottlerocketShadow'), fc.anything()),
        metadata: fc.anything(),
        spec: fc.oneof(fc.record({ state }), fc.anything()),
        status: fc.oneof(fc.record({ current_state: state }), fc.anything()),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.anything(),
      fc.record({ request: fc.anything() }),
      fc.record({
        request: fc.record({
          uid: fc.oneof(fc.string(), fc.anything()),
          desiredAPIVersion: fc.oneof(fc.constantFrom(`${GROUP}/v1`, `${GROUP}/v2`), fc.anything()),
          objects: fc.oneof(fc.array(fc.oneof(object, fc.anything())), fc.anything()),
        }),
      }),
    );
    fc.assert(
      fc.property(body, (anything) => {
        const { kind, response } = convert(anything);
        expect(kind).toBe('ConversionReview');
        expect(typeof response.uid).toBe('string');
        expect(['Success', 'Failed']).toContain(response.result.status);
      }),
      runs(500),
    );
  });
});

const answered = (text: string): { response: object } =>
  JSON.parse(convertBytes(Buffer.from(text))) as { response: object };

describe('the bytes of a request', () => {
  test.each(seeds(1))('always get a review, with every object or with none (seed %i)', (seed) => {
    const random = seeded(seed);
    const answers = Array.from({ length: 10_000 }, () => {
      const body = mutated(random);
      const answer = convertBytes(body);
      return { fault: faultOf(body, answer), isSuccess: answer.includes('"Success"'), body: body.toString('latin1') };
    });
    expect(answers.filter(({ fault }) => fault !== undefined)).toEqual([]);
    // Mutations that nothing survives would prove nothing.
    expect(answers.filter(({ isSuccess }) => isSuccess).length).toBeGreaterThan(250);
  });

  test.each(['[],', '{},', '0,', '{"a":0},'])(
    'are not parsed where they hold more values than memory does: %s',
    (piece) => {
      const objects = piece.repeat(500_001);
      const body = `{"request":{"uid":"r1","desiredAPIVersion":"${GROUP}/v2","objects":[${objects}0]}}`;
      const { response } = answered(body);
      expect(response).toMatchObject({
        uid: 'r1',
        result: { status: 'Failed', message: expect.stringContaining('500000 values') },
      });
    },
  );

  test.each([
    ['in the first kilobyte, before the objects', '{"request": {"uid" : "0a1b-2", "objects": [{"uid":"x"}', '0a1b-2'],
    ['and not that of an object', '{"request":{"objects":[{"metadata":{"uid":"x"}}],"uid":"r1"', ''],
    ['and not later', `{${' '.repeat(1024)}"uid":"r1",`, ''],
    ['and nothing that is none', '{"request":{"uid":"a\\"b","uid":{}', ''],
  ])('that are no JSON get the uid that is found %s', (_where, body, uid) => {
    const { response } = answered(body);
    expect(response).toMatchObject({ uid, result: { status: 'Failed', message: 'expected JSON' } });
  });

  test('may be of the largest object that the API server takes, by whatever it is large', () => {
    // What is noted of fields' owners, as small as it gets, and texts that look like it.
    const fields = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`f${index}`, {}]));
    const annotations = { a: ','.repeat(90_000) };
    const object = {
      ...shadow('v2', { state: 'Idle' }),
      metadata: { name: 'n', annotations, managedFields: [fields] },
    };
    const body = JSON.stringify(review([object], `${GROUP}/v1`));
    expect(body.length).toBeGreaterThan(2 << 20);
    expect(answered(body).response).toMatchObject({ result: { status: 'Success' } });
  });

  test('that are no UTF-8 are not made into some: the review fails, with its uid', () => {
    const body = JSON.stringify(review([shadow('v1', { state: 'Idle', version: '1.39.0-HERE' })]));
    const bytes = Buffer.from(body.replace('HERE', '\u00FF'), 'latin1');
    expect(JSON.parse(convertBytes(bytes))).toMatchObject({
      response: { uid: 'r1', convertedObjects: [], result: { status: 'Failed', message: 'expected UTF-8' } },
    });
  });

  test('may be nested deeper than an answer can be', () => {
    const depth = 200_000;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const body = JSON.stringify(review([{ ...shadow('v1', { state: 'Idle' }), metadata: 'HERE' }])).replace(
      '"HERE"',
      deep,
    );
    expect(answered(body)).toMatchObject({ response: { uid: 'r1', result: { status: 'Failed' } } });
  });
});
