import { expect, test } from '@jest/globals';
import { Tally, TOLD_AT_ONCE } from './tally.ts';

const NODES = '/api/v1/nodes';
const PODS = '/api/v1/namespaces/default/pods';
const SHADOWS = '/apis/brupop.bottlerocket.aws/v2/namespaces/brupop-bottlerocket-aws/bottlerocketshadows';

const pod = (name: string, nodeName?: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name, resourceVersion: '1' },
  spec: { ...(nodeName !== undefined && { nodeName }) },
});

const headers = {};

test.each([
  ['a read of the Node', { method: 'GET', path: `${NODES}/n1` }, { node: 'n1', ofPods: false }],
  ['a patch of its shadow', { method: 'PATCH', path: `${SHADOWS}/brs-n1/status` }, { node: 'n1', ofPods: false }],
  [
    'a new shadow',
    { method: 'POST', path: SHADOWS, body: { metadata: { name: 'brs-n1' } } },
    { node: 'n1', ofPods: false },
  ],
  [
    'a list of its pods',
    { method: 'GET', path: '/api/v1/pods', query: { fieldSelector: 'spec.nodeName=n1' } },
    { node: 'n1', ofPods: true },
  ],
  ['an eviction', { method: 'POST', path: `${PODS}/web-1/eviction`, body: {} }, { node: 'n1', ofPods: true }],
  ['a list of all nodes', { method: 'GET', path: NODES }, { node: undefined, ofPods: false }],
  ['a pod that nobody knows', { method: 'GET', path: `${PODS}/web-2` }, { node: undefined, ofPods: true }],
  ['a version', { method: 'GET', path: '/version' }, { node: undefined, ofPods: false }],
] as const)('which node %s names', (_, request, about) => {
  const tally = new Tally();
  tally.bind(pod('web-1', 'n1'));
  // A change in which it is not bound, such as that of a client that leaves it out, moves it nowhere.
  tally.bind(pod('web-1'));
  expect(tally.about({ headers, ...request })).toEqual(about);
});

test('requests are told of by the ten, each sender and node for itself', () => {
  const tally = new Tally();
  const of = (node: string) => ({ by: 'controller-0', to: 'api', node, ofPods: false }) as const;
  const told = Array.from({ length: 2 * TOLD_AT_ONCE }, () => [
    tally.add(of('n1')),
    tally.add({ ...of('n1'), ofPods: true }),
  ]);
  expect(told.flat().filter((entry) => entry !== undefined)).toHaveLength(4);
  expect(tally.add(of('n2'))).toBeUndefined();
  expect(told[TOLD_AT_ONCE - 1]![0]).toEqual({ kind: 'sent', ...of('n1'), count: TOLD_AT_ONCE });
});
