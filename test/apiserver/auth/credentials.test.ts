import { describe, expect, test } from '@jest/globals';
import { type DistinctHeaders, readCredentials } from '../../../runtime/apiserver/auth/credentials.ts';
import type { RefusedError } from '../../../runtime/apiserver/refusal.ts';

const HEADERS = { brupopnodename: ['n1.local'], brupopnodeuid: ['u-1'], brupopk8sauthtoken: ['t'] };

describe('credentials', () => {
  test('are three headers, and a boot id where the agent says it', () => {
    expect(readCredentials(HEADERS)).toEqual({ nodeName: 'n1.local', nodeUid: 'u-1', token: 't', bootId: null });
    expect(readCredentials({ ...HEADERS, brupopbootid: ['b-1'] }).bootId).toBe('b-1');
  });

  test.each([
    ['no token', { brupopk8sauthtoken: undefined }, 401],
    ['an empty token', { brupopk8sauthtoken: [''] }, 401],
    ['two tokens', { brupopk8sauthtoken: ['t', 'u'] }, 400],
    ['no node name', { brupopnodename: undefined }, 400],
    ['two node names', { brupopnodename: ['n1', 'n2'] }, 400],
    ['a node name that leads elsewhere', { brupopnodename: ['../pods'] }, 400],
    ['no node UID', { brupopnodeuid: undefined }, 400],
    ['a boot id with a line break', { brupopbootid: ['a\nb'] }, 400],
  ])('are refused with %s', (_, changed, status) => {
    expect(statusOf({ ...HEADERS, ...changed })).toBe(status);
  });
});

function statusOf(headers: DistinctHeaders): number | undefined {
  try {
    readCredentials(headers);
    return undefined;
  } catch (error) {
    return (error as RefusedError).status;
  }
}
