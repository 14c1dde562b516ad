import { describe, expect, test } from '@jest/globals';
import { nodeNameOf, shadowName } from '../../../runtime/api/shadow/names.ts';
import { InvalidShadowError, parseAgentStatus } from '../../../runtime/api/shadow/parse.ts';
import { crdSchema } from '../../../runtime/api/shadow/schema.ts';
import { nextState, STATES, type State } from '../../../runtime/api/shadow/states.ts';

const status = { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0 };

describe('names', () => {
  test('a shadow is named after its node', () =>
    expect(shadowName('ip-10-0-0-1.ec2.internal')).toBe('brs-ip-10-0-0-1.ec2.internal'));
  test('and gives the name back', () => expect(nodeNameOf('brs-brs-1')).toBe('brs-1'));
  test.each(['brs-', 'n1', ''])('%j belongs to no node', (name) => expect(nodeNameOf(name)).toBeUndefined());
});

test('every state leads back to Idle', () => {
  for (const state of STATES) {
    let at: State = state;
    for (let steps = 0; steps < STATES.length && at !== 'Idle'; steps++) at = nextState(at);
    expect(at).toBe('Idle');
  }
});

describe('a status from an agent', () => {
  test('of upstream has five fields at the most', () => {
    expect(parseAgentStatus({ ...status, state_transition_failure_timestamp: null })).toEqual({
      ...status,
      state_transition_failure_timestamp: null,
    });
  });

  test('cannot carry what is not the agent’s', () => {
    expect(parseAgentStatus({ ...status, conditions: [], drain: null, surprise: 1 })).toEqual(status);
  });

  test('that is wrong is refused with every fault, its path and what came', () => {
    const wrong = {
      ...status,
      current_version: 'v1.38.0',
      crash_count: -1,
      current_state: 'Asleep',
      reboot: { boot_id: 'b' },
    };
    const parse = (): unknown => parseAgentStatus(wrong);
    expect(parse).toThrow(InvalidShadowError);
    expect(parse).toThrow(/current_version: expected a semver.*got "v1.38.0"/);
    expect(parse).toThrow(/crash_count: .*got -1/);
    expect(parse).toThrow(/current_state: .*got "Asleep"/);
    expect(parse).toThrow(/reboot.version: .*got nothing/);
  });
});

describe('the CRD schema', () => {
  const v2 = crdSchema('v2').properties;
  test('requires what the contract requires', () => {
    expect(v2?.['spec']?.required).toEqual(['state']);
    expect(v2?.['status']?.required).toEqual(['current_version', 'target_version', 'current_state', 'crash_count']);
    expect(crdSchema('v1').properties?.['status']?.required).toEqual([
      'current_version',
      'target_version',
      'current_state',
    ]);
  });

  test('says the range of crash_count in words that the API server accepts without a warning', () => {
    expect(v2?.['status']?.properties?.['crash_count']).toMatchObject({
      type: 'integer',
      minimum: 0,
      maximum: 4294967295,
    });
    expect(v2?.['status']?.properties?.['crash_count']).not.toHaveProperty('format');
  });

  test('leaves dates to their format, and numbers without a bound of their own unbounded', () => {
    expect(v2?.['spec']?.properties?.['state_transition_timestamp']).toEqual({
      type: 'string',
      format: 'date-time',
      nullable: true,
      description: expect.any(String),
    });
    expect(v2?.['status']?.properties?.['drain']?.properties?.['pods_left']).not.toHaveProperty('maximum');
  });
});
