import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { convertShadow } from '../../../runtime/api/shadow/convert.ts';
import { shadowV2 as modelV2 } from '../../../runtime/api/shadow/model.ts';
import { type State, STATES_V1, stateFromV1, stateToV1 } from '../../../runtime/api/shadow/states.ts';
import { runs } from '../../random.ts';
import { maybe, some, spec, status, time, version } from './arbitrary.ts';

const V1 = 'brupop.bottlerocket.aws/v1';
const V2 = 'brupop.bottlerocket.aws/v2';
const DATA = 'brupop.bottlerocket.aws/conversion-data';

type Json = Record<string, unknown>;
interface Shadow extends Json {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Json & { readonly state: string };
  readonly status?: (Json & { readonly current_state: string }) | null;
}

const toV1 = (object: object): Shadow => convertShadow(object, V1) as Shadow;
const toV2 = (object: object): Shadow => convertShadow(object, V2) as Shadow;

const annotations = fc.dictionary(fc.string(), fc.string(), { minKeys: 1 });
const metadata = some(fc.record({ name: fc.string(), uid: fc.uuid() }), { annotations });
const shadow = <T extends object>(apiVersion: string, parts: T) =>
  metadata.map((meta) => Object.assign({ apiVersion, kind: 'BottlerocketShadow', metadata: meta }, parts));
const shadowV2 = fc
  .tuple(spec, fc.option(maybe(status), { nil: undefined }))
  .chain(([wanted, reached]) => shadow(V2, { spec: wanted, ...(reached !== undefined && { status: reached }) }));

const stateV1 = fc.constantFrom(...STATES_V1);
const specV1 = some(fc.record({ state: stateV1 }), {
  version: maybe(version),
  state_transition_timestamp: maybe(time),
});
const statusV1 = fc.record({ current_version: version, target_version: version, current_state: stateV1 });
/** Never given out by this operator: created by an older client, or stored when v1 was what is stored. */
const shadowV1 = fc
  .tuple(specV1, fc.option(maybe(statusV1), { nil: undefined }))
  .chain(([wanted, reached]) => shadow(V1, { spec: wanted, ...(reached !== undefined && { status: reached }) }));

const always = <T>(arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void =>
  fc.assert(fc.property(arbitrary, holds), runs(300));

/** v1's own fields as they stand on a v2 object. Null is absence. */
const asV1 = ({ spec: wanted, status: reached }: Shadow): Json => {
  const { version: v = null, state_transition_timestamp: t = null } = wanted;
  const told = (value: unknown): string => stateToV1(value as State);
  const { current_version, target_version, current_state }: Json = reached ?? {};
  return { state: told(wanted.state), v, t, current_version, target_version, current: reached && told(current_state) };
};

describe('a v2 object that goes through v1', () => {
  test('comes back as it was', () => {
    always(shadowV2, (object) => expect(toV2(toV1(object))).toEqual(object));
  });

  test('comes back as it was but for what a client of v1 has annotated', () => {
    always(fc.tuple(shadowV2, annotations), ([object, added]) => {
      const given = toV1(object);
      const edited = {
        ...given,
        metadata: { ...given.metadata, annotations: { ...given.metadata.annotations, ...added } },
      };
      const before = object.metadata as { annotations?: object };
      const expected = { ...object, metadata: { ...before, annotations: { ...before.annotations, ...added } } };
      expect(toV2(edited)).toEqual(expected);
    });
  });

  test('has the status of an older agent, and nothing of the one before, where that reports; spec comes back as it was', () => {
    always(fc.tuple(shadowV2, statusV1), ([object, reported]) => {
      const given = toV1(object);
      fc.pre(JSON.stringify(given.status) !== JSON.stringify(reported));
      const { current_state } = reported;
      expect(toV2({ ...given, status: reported })).toEqual({
        ...object,
        status: { ...reported, current_state: stateFromV1(current_state), crash_count: 0 },
      });
    });
  });

  test('has the spec of an older controller where that writes one; status comes back as it was', () => {
    always(fc.tuple(shadowV2, specV1), ([object, wanted]) => {
      const given = toV1(object);
      const { state: was, version: v = null, state_transition_timestamp: t = null } = given.spec;
      const { version: newV = null, state_transition_timestamp: newT = null } = wanted as Json;
      fc.pre(was !== wanted.state || v !== newV || t !== newT);
      expect(toV2({ ...given, spec: wanted })).toEqual({
        ...object,
        spec: { ...wanted, state: stateFromV1(wanted.state) },
      });
    });
  });

  test('is told to v1 alike whatever annotation of that name it bears, which is neither read nor kept', () => {
    always(
      fc.tuple(
        shadowV2,
        fc.oneof(
          fc.string(),
          shadowV2.map((other) => JSON.stringify(other)),
        ),
      ),
      ([object, data]) => {
        const before = object.metadata as { annotations?: object };
        const bearing = { ...object, metadata: { ...before, annotations: { ...before.annotations, [DATA]: data } } };
        expect(toV1(bearing)).toEqual(toV1(object));
      },
    );
  });
});

describe('a v1 object', () => {
  test('that goes through v2 comes back, but for the one of two states that v2 does not tell from the other', () => {
    always(shadowV1, (object) => {
      const back = toV1(toV2(object));
      const { [DATA]: _, ...others } = back.metadata.annotations ?? {};
      const told = (value: string): string => stateToV1(stateFromV1(value as (typeof STATES_V1)[number]));
      const { spec: wanted, status: reached } = object as unknown as Shadow;
      expect(back.spec).toEqual({ ...wanted, state: told(wanted.state) });
      expect(back.status).toEqual(reached && { ...reached, current_state: told(reached.current_state) });
      expect(others).toEqual((object.metadata as { annotations?: object }).annotations ?? {});
    });
  });

  test('is read with whatever has been made of its annotation: a shadow that fits the model, and says what v1 says', () => {
    const garbled = fc.tuple(shadowV2, fc.nat(), fc.string()).map(([{ spec: wanted, status: reached }, at, text]) => {
      const data = JSON.stringify({ spec: wanted, status: reached });
      return data.slice(0, at % data.length) + text + data.slice(at % data.length);
    });
    const forged = fc.record(
      { spec: fc.oneof(spec, fc.jsonValue()), status: fc.oneof(status, fc.jsonValue()) },
      { requiredKeys: [] },
    );
    const data = fc.oneof(
      fc.string(),
      fc.json(),
      garbled,
      forged.map((value) => JSON.stringify(value)),
      fc.constantFrom(
        '['.repeat(250_000),
        `{"spec":${'{"a":'.repeat(50_000)}`,
        '{"__proto__":{"spec":{"state":"Idle"}}}',
      ),
    );
    always(fc.tuple(shadowV1, data), ([object, text]) => {
      const before = object.metadata as { annotations?: object };
      const v2 = toV2({ ...object, metadata: { ...before, annotations: { ...before.annotations, [DATA]: text } } });
      expect(() => modelV2.parse(v2)).not.toThrow();
      expect(v2.metadata).toEqual(object.metadata);
      expect(asV1(v2)).toEqual(asV1(toV2(object)));
    });
  });

  test.each([
    ['a count that is none', { crash_count: -1 }],
    ['a version that is none', { failed_versions: ['v1'] }],
    ['a state that v2 has not', { current_state: 'Sleeping' }],
  ])('takes nothing from an annotation with %s: nobody checks what comes out of a conversion', (_, wrong) => {
    const reached = { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle' };
    const object = { apiVersion: V1, kind: 'BottlerocketShadow', spec: { state: 'Idle' }, status: reached };
    const data = JSON.stringify({ spec: { state: 'Idle' }, status: { ...reached, crash_count: 7, ...wrong } });
    expect(toV2({ ...object, metadata: { annotations: { [DATA]: data } } })).toEqual({
      ...object,
      apiVersion: V2,
      metadata: {},
      status: { ...reached, crash_count: 0 },
    });
  });
});
