import { describe, expect, test } from '@jest/globals';
import { agentClaims, agentNode } from '../../../runtime/apiserver/auth/claims.ts';
import type { TokenReviewStatus } from '../../../runtime/kube/reviews.ts';

const EXTRA = {
  'authentication.kubernetes.io/pod-name': ['agent-1'],
  'authentication.kubernetes.io/pod-uid': ['u1'],
};

function review(
  extra: Readonly<Record<string, readonly string[]>> = {},
  more: TokenReviewStatus = {},
): TokenReviewStatus {
  const user = { username: 'system:serviceaccount:ns:brupop-agent-service-account', extra: { ...EXTRA, ...extra } };
  return { authenticated: true, audiences: ['brupop-apiserver'], user, ...more };
}

const CLAIMS = { podName: 'agent-1', podUid: 'u1', nodeName: undefined, nodeUid: undefined };

describe('the claims of a token', () => {
  test('are its pod, and its node where the cluster says it', () => {
    expect(agentClaims(review(), 'ns')).toEqual(CLAIMS);
    const node = {
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': ['nu1'],
    };
    expect(agentClaims(review(node), 'ns')).toEqual({ ...CLAIMS, nodeName: 'n1', nodeUid: 'nu1' });
  });

  test.each([
    ['is not authenticated', review({}, { authenticated: false })],
    ['does not say that it is authenticated', { audiences: ['brupop-apiserver'] }],
    ['is for no audience', review({}, { audiences: [] })],
    // Good for the Kubernetes API is not good for us.
    ['was reviewed by a server that knows no audiences', { authenticated: true, user: review().user ?? {} }],
    ['is for another audience', review({}, { audiences: ['https://kubernetes.default.svc'] })],
    ['has two pod names', review({ 'authentication.kubernetes.io/pod-name': ['agent-1', 'agent-2'] })],
    ['has two pod UIDs', review({ 'authentication.kubernetes.io/pod-uid': ['u1', 'u2'] })],
    ['has two nodes', review({ 'authentication.kubernetes.io/node-name': ['n1', 'n2'] })],
    ['has no pod UID', review({ 'authentication.kubernetes.io/pod-uid': [] })],
    ['is a user’s who calls himself almost so', review({}, { user: { username: 'brupop-agent-service-account' } })],
  ])('are none where it %s', (_, status) => {
    expect(typeof agentClaims(status, 'ns')).toBe('string');
  });

  test('are none in another namespace', () => {
    expect(typeof agentClaims(review(), 'ns2')).toBe('string');
  });
});

describe('the node of an agent', () => {
  const pod = {
    metadata: {
      name: 'agent-1',
      uid: 'u1',
      resourceVersion: '1',
      labels: { 'brupop.bottlerocket.aws/component': 'agent' },
    },
    spec: { nodeName: 'n1' },
  };

  test('is that of its pod', () => {
    expect(agentNode(pod, CLAIMS)).toEqual({ nodeName: 'n1' });
  });

  test.each([
    ['the pod is gone', undefined, CLAIMS],
    ['the pod has another UID', pod, { ...CLAIMS, podUid: 'u2' }],
    ['the pod is on no node', { ...pod, spec: {} }, CLAIMS],
    ['the token names another node', pod, { ...CLAIMS, nodeName: 'n2' }],
  ])('is unknown where %s', (_, found, claims) => {
    expect(typeof agentNode(found, claims)).toBe('string');
  });
});
