import { describe, expect, test } from '@jest/globals';
import { whyHopeless } from '../../../runtime/apiserver/auth/hopeless.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const CLAIMS = {
  aud: ['brupop-apiserver'],
  sub: 'system:serviceaccount:ns:brupop-agent-service-account',
  exp: NOW / 1000 + 3600,
  'kubernetes.io': { namespace: 'ns', pod: { name: 'agent-1', uid: 'u1' } },
};

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = (claims: unknown): string => `${encoded({ alg: 'RS256' })}.${encoded(claims)}.c2lnbmF0dXJl`;
const why = (text: string): string | undefined => whyHopeless(text, { namespace: 'ns', now: NOW });

describe('a review is asked for', () => {
  test.each([
    ['a token that says what an agent’s says', CLAIMS],
    ['one of any issuer, with claims that nobody knows', { ...CLAIMS, iss: 'https://elsewhere', more: [1] }],
    ['one for several audiences', { ...CLAIMS, aud: ['vault', 'brupop-apiserver'] }],
    ['one whose only audience is no list', { ...CLAIMS, aud: 'brupop-apiserver' }],
    ['one that has ended minutes ago by this replica’s clock', { ...CLAIMS, exp: NOW / 1000 - 300 }],
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
    ['one that never ends', token({ ...CLAIMS, exp: undefined }), NO_TOKEN],
    ['one for the Kubernetes API', token({ ...CLAIMS, aud: ['kubernetes'] }), 'the token is for another audience'],
    ['one of another namespace', token({ ...CLAIMS, sub: CLAIMS.sub.replace(':ns:', ':shop:') }), /not of the agents/],
    ['one that has ended long ago', token({ ...CLAIMS, exp: NOW / 1000 - 601 }), 'the token has expired'],
    ['one of no pod', token({ ...CLAIMS, 'kubernetes.io': { namespace: 'ns' } }), 'the token is not bound to a pod'],
  ])('for %s', (_, text, words) => expect(why(text)).toMatch(words));
});
