import { describe, expect, test } from '@jest/globals';
import { precheckToken } from '../../../runtime/apiserver/auth/claims.ts';

const CLAIMS = {
  aud: ['brupop-apiserver'],
  sub: 'system:serviceaccount:ns:brupop-agent-service-account',
  exp: 1_767_225_600,
  'kubernetes.io': { namespace: 'ns', pod: { name: 'agent-1', uid: 'u1' } },
};

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = (claims: unknown): string => `${encoded({ alg: 'RS256' })}.${encoded(claims)}.c2lnbmF0dXJl`;
const why = (text: string): string | undefined => precheckToken(text, 'ns');

describe('a review is asked for', () => {
  test.each([
    ['a token that says what an agent’s says', CLAIMS],
    ['one of any issuer, with claims that nobody knows', { ...CLAIMS, iss: 'https://elsewhere', more: [1] }],
    ['one for several audiences', { ...CLAIMS, aud: ['vault', 'brupop-apiserver'] }],
    ['one whose only audience is no list', { ...CLAIMS, aud: 'brupop-apiserver' }],
    ['one that ended long ago, by a clock that may be wrong', { ...CLAIMS, exp: 1 }],
  ])('for %s', (_, claims) => expect(why(token(claims))).toBeUndefined());
});

describe('no review is asked for', () => {
  const NO_TOKEN = 'the token is none of a service account';
  test.each([
    ['a word', 'x', NO_TOKEN],
    ['three of them', 'x.y.z', NO_TOKEN],
    ['a token without a signature', token(CLAIMS).replace(/[^.]*$/, ''), NO_TOKEN],
    ['a list', token([CLAIMS]), NO_TOKEN],
    ['nothing', token(null), NO_TOKEN],
    ['one for the Kubernetes API', token({ ...CLAIMS, aud: ['kubernetes'] }), 'the token is for another audience'],
    ['one of another namespace', token({ ...CLAIMS, sub: CLAIMS.sub.replace(':ns:', ':shop:') }), /not of the agents/],
    ['one of no pod', token({ ...CLAIMS, 'kubernetes.io': { namespace: 'ns' } }), 'the token is not bound to a pod'],
  ])('for %s', (_, text, words) => expect(why(text)).toMatch(words));
});
