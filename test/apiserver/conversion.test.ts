import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { convert, convertBytes } from '../../runtime/apiserver/conversion.ts';
import { CONVERSION_DATA_ANNOTATION } from '../../runtime/api/shadow/names.ts';
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
    'are not parsed where they hold more values than memory does, also in what v1 keeps of v2: %s',
    (piece) => {
      const objects = `${piece.repeat(75_001)}0`;
      const body = `{"request":{"uid":"r1","desiredAPIVersion":"${GROUP}/v2","objects":[${objects}]}}`;
      const { response } = answered(body);
      expect(response).toMatchObject({
        uid: 'r1',
        result: { status: 'Failed', message: expect.stringContaining('75000 values') },
      });
      const annotations = { [CONVERSION_DATA_ANNOTATION]: `{"spec":{"state":"ErrorReset"},"x":[${objects}]}` };
      const kept = { ...shadow('v1', { state: 'Idle' }), metadata: { name: 'n', annotations } };
      expect(convert(review([kept])).response.convertedObjects).toMatchObject([{ spec: { state: 'Idle' } }]);
    },
  );

  test('may be a page of 500 shadows with all that is noted of their fields, though the API server sends one', () => {
    const managedFields = [{ fieldsV1: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f:${i}`, {}])) }];
    const status = { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0 };
    const full = { ...status, failed_versions: Array.from({ length: 60 }, () => '1.0.0') };
    const one = { ...shadow('v2', { state: 'Idle' }, full), metadata: { name: 'n', managedFields } };
    const { response } = answered(
      JSON.stringify(
        review(
          Array.from({ length: 500 }, () => one),
          `${GROUP}/v1`,
        ),
      ),
    );
    expect(response).toMatchObject({ result: { status: 'Success' } });
  });

  test.each([
    ['in the first kilobyte, before the objects', '{"request": {"uid" : "0a1b-2", "objects": [{"uid":"x"}', '0a1b-2'],
    ['and not that of an object', '{"request":{"objects":[{"metadata":{"uid":"x"}}],"uid":"r1"', ''],
    ['and not later', `{${' '.repeat(1024)}"uid":"r1",`, ''],
    ['and nothing that is none', '{"request":{"uid":"a\\"b","uid":{}', ''],
  ])('that are no JSON get the uid that is found %s', (_where, body, uid) => {
    const { response } = answered(body);
    expect(response).toMatchObject({ uid, result: { status: 'Failed', message: 'expected JSON' } });
  });

  test('may be of an object that is large for its texts, whatever they look like', () => {
    const annotations = { a: '[{,'.repeat(500_000), b: '\\",'.repeat(100_000) };
    const object = { ...shadow('v2', { state: 'Idle' }), metadata: { name: 'n', annotations } };
    const body = JSON.stringify(review([object], `${GROUP}/v1`));
    expect(answered(body).response).toMatchObject({ result: { status: 'Success' } });
  });

  test('that are no UTF-8 are not made into some: the review fails, with its uid', () => {
    const body = JSON.stringify(review([shadow('v1', { state: 'Idle', version: '1.39.0-HERE' })]));
    const bytes = Buffer.from(body.replace('HERE', '\u00FF'), 'latin1');
    expect(JSON.parse(convertBytes(bytes))).toMatchObject({
      response: { uid: 'r1', convertedObjects: [], result: { status: 'Failed', message: 'expected UTF-8' } },
    });
  });

  test('are not parsed where they are nested deeper than an answer can be', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const body = JSON.stringify(review([{ metadata: 'HERE' }])).replace('"HERE"', deep);
    expect(answered(body)).toMatchObject({
      response: { uid: 'r1', result: { status: 'Failed', message: expect.stringContaining('within each other') } },
    });
  });
});
