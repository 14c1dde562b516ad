import { describe, expect, test } from '@jest/globals';
import { ConversionError, convertShadow } from '../../../runtime/api/shadow/convert.ts';

const V1 = 'brupop.bottlerocket.aws/v1';
const V2 = 'brupop.bottlerocket.aws/v2';

const metadata = {
  name: 'brs-n1',
  namespace: 'brupop-bottlerocket-aws',
  uid: 'u1',
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-u1' }],
  somethingNew: { kept: true },
};
const timestamp = '2026-01-01T00:00:00.123456789+00:00';

const v1 = (wanted: string, reached: string): object => ({
  apiVersion: V1,
  kind: 'BottlerocketShadow',
  metadata,
  spec: { state: wanted, version: '1.39.0', state_transition_timestamp: timestamp },
  status: { current_version: '1.38.0', target_version: '1.39.0', current_state: reached },
});

describe('from v1 to v2', () => {
  test.each([
    ['Idle', 'Idle'],
    ['StagedUpdate', 'StagedAndPerformedUpdate'],
    ['PerformedUpdate', 'StagedAndPerformedUpdate'],
    ['RebootedIntoUpdate', 'RebootedIntoUpdate'],
    ['MonitoringUpdate', 'MonitoringUpdate'],
  ])('%s becomes %s', (before, after) => {
    expect(convertShadow(v1(before, before), V2)).toEqual({
      apiVersion: V2,
      kind: 'BottlerocketShadow',
      metadata,
      spec: { state: after, version: '1.39.0', state_transition_timestamp: timestamp },
      status: { current_version: '1.38.0', target_version: '1.39.0', current_state: after, crash_count: 0 },
    });
  });
});

describe('from v2 to v1', () => {
  test.each([
    ['Idle', 'Idle'],
    ['StagedAndPerformedUpdate', 'StagedUpdate'],
    ['RebootedIntoUpdate', 'RebootedIntoUpdate'],
    ['MonitoringUpdate', 'MonitoringUpdate'],
    ['ErrorReset', 'MonitoringUpdate'],
  ])('%s becomes %s, and what v1 has no place for goes along in an annotation', (before, after) => {
    const v2 = {
      apiVersion: V2,
      kind: 'BottlerocketShadow',
      metadata,
      spec: { state: 'Idle', version: null },
      status: {
        current_version: '1.38.0',
        target_version: '1.39.0',
        current_state: before,
        crash_count: 3,
        state_transition_failure_timestamp: timestamp,
        reboot: null,
        conditions: [],
      },
    };
    const { spec, status } = v2;
    const annotations = { 'brupop.bottlerocket.aws/conversion-data': JSON.stringify({ spec, status }) };
    expect(convertShadow(v2, V1)).toEqual({
      apiVersion: V1,
      kind: 'BottlerocketShadow',
      metadata: { ...metadata, annotations },
      spec: { state: 'Idle', version: null },
      status: { current_version: '1.38.0', target_version: '1.39.0', current_state: after },
    });
  });
});

test('an object without status stays without one', () => {
  const { status: _, ...bare } = v1('Idle', 'Idle') as { status: object };
  expect(convertShadow(bare, V2)).not.toHaveProperty('status');
  expect(convertShadow({ ...bare, status: null }, V2)).toHaveProperty('status', null);
});

test('the version that an object already has leaves it as it is', () => {
  const object = v1('PerformedUpdate', 'Idle');
  expect(convertShadow(object, V1)).toEqual(object);
});

describe('what cannot be converted says which field is wrong', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['no object', 7, V2, /^object: expected an object, got 7$/],
    ['another kind', { kind: 'Pod' }, V2, /^kind: expected BottlerocketShadow, got "Pod"$/],
    [
      'an unknown version',
      { kind: 'BottlerocketShadow', apiVersion: 'brupop.bottlerocket.aws/v9' },
      V2,
      /^apiVersion: .* got "brupop.bottlerocket.aws\/v9"$/,
    ],
    ['an unknown target', v1('Idle', 'Idle'), 'v3', /^desiredAPIVersion: .* got "v3"$/],
    ['no metadata', { kind: 'BottlerocketShadow', apiVersion: V1 }, V2, /^metadata: expected an object, got nothing$/],
    [
      'annotations that are none',
      { kind: 'BottlerocketShadow', apiVersion: V2, metadata: { annotations: 'a' } },
      V1,
      /^metadata.annotations: expected an object, got "a"$/,
    ],
    [
      'no spec',
      { kind: 'BottlerocketShadow', apiVersion: V1, metadata },
      V2,
      /^spec: expected an object, got nothing$/,
    ],
    ['an unknown state', v1('Sleeping', 'Idle'), V2, /^spec.state: expected one of Idle, .* got "Sleeping"$/],
    ['a state of the other version', v1('Idle', 'ErrorReset'), V2, /^status.current_state: .* got "ErrorReset"$/],
  ])('%s', (_, object, desired, message) => {
    const convert = (): unknown => convertShadow(object, desired);
    expect(convert).toThrow(ConversionError);
    expect(convert).toThrow(message);
  });
});
