import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { convert, convertText } from '../../runtime/apiserver/conversion.ts';
import { seeded } from '../sim/hosts/rig.ts';
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
      { numRuns: 2000 },
    );
  });
});

describe('the bytes of a request', () => {
  test('always get a review, with every object or with none', () => {
    const random = seeded(1);
    const answers = Array.from({ length: 20_000 }, () => {
      const body = mutated(random);
      const answer = convertText(body.toString('utf8'));
      return { fault: faultOf(body, answer), isSuccess: answer.includes('"Success"'), body: body.toString('latin1') };
    });
    expect(answers.filter(({ fault }) => fault !== undefined)).toEqual([]);
    // Mutations that nothing survives would prove nothing.
    expect(answers.filter(({ isSuccess }) => isSuccess).length).toBeGreaterThan(500);
  });

  test.each(['[],', '{},', '0,', '{"a":0},'])(
    'are not parsed where they hold more values than memory does: %s',
    (piece) => {
      const objects = piece.repeat(2_000_001);
      const body = `{"request":{"uid":"r1","desiredAPIVersion":"${GROUP}/v2","objects":[${objects}0]}}`;
      const { response } = JSON.parse(convertText(body)) as { response: object };
      expect(response).toMatchObject({
        uid: 'r1',
        result: { status: 'Failed', message: expect.stringContaining('2000000 values') },
      });
    },
  );

  test.each([
    ['in the first kilobyte, before the objects', '{"request": {"uid" : "0a1b-2", "objects": [{"uid":"x"}', '0a1b-2'],
    ['and not that of an object', '{"request":{"objects":[{"metadata":{"uid":"x"}}],"uid":"r1"', ''],
    ['and not later', `{${' '.repeat(1024)}"uid":"r1",`, ''],
    ['and nothing that is none', '{"request":{"uid":"a\\"b","uid":{}', ''],
  ])('that are no JSON get the uid that is found %s', (_where, body, uid) => {
    const { response } = JSON.parse(convertText(body)) as { response: object };
    expect(response).toMatchObject({ uid, result: { status: 'Failed', message: 'expected JSON' } });
  });

  test('may be of ten thousand shadows', () => {
    const fields = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`f:${index}`, {}]));
    const object = { ...shadow('v2', { state: 'Idle' }), metadata: { name: 'brs-n1', managedFields: [fields] } };
    const body = JSON.stringify(
      review(
        Array.from({ length: 10_000 }, () => object),
        `${GROUP}/v1`,
      ),
    );
    expect(convertText(body).slice(0, 200)).toContain('"convertedObjects":[{');
  });

  test('may be nested deeper than an answer can be', () => {
    const depth = 200_000;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const body = JSON.stringify(review([{ ...shadow('v1', { state: 'Idle' }), metadata: 'HERE' }])).replace(
      '"HERE"',
      deep,
    );
    expect(JSON.parse(convertText(body))).toMatchObject({ response: { uid: 'r1', result: { status: 'Failed' } } });
  });
});
