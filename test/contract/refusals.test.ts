import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeStatus } from '../../runtime/kube/errors.ts';
import { type Answer, type Exchange, exchange } from '../e2e/controlplane/exchange.ts';
import { type Contract, contract } from './cluster.ts';

let cluster: Contract;
let namespace: string;
beforeAll(async () => {
  cluster = await contract();
  namespace = await cluster.namespace();
  const { admin, node } = cluster;
  await admin.create(at('configmaps'), { metadata: { name: 'm' } });
  await admin.create(at('pods'), { metadata: { name: 'p' }, spec: { nodeName: node, containers: [CONTAINER] } });
});
afterAll(() => cluster.stop());

const CONTAINER = { name: 'main', image: 'web' };
const at = (what: string): string => `/api/v1/namespaces/${namespace}/${what}`;
const LEASES = (): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const NODE = (): string => `/api/v1/nodes/${cluster.node}`;
type Ask = () => Exchange;
/** A request, and the code of its refusal. */
type Refusal = readonly [name: string, ask: Ask, code: number];
const REASONS: Readonly<Record<number, string>> = { 400: 'BadRequest', 422: 'Invalid', 504: 'Timeout' };

const post =
  (path: () => string, content: object, query = ''): Ask =>
  () => ({ method: 'POST', path: `${path()}?dryRun=All${query}`, body: { metadata: { name: 'x' }, ...content } });
const patch =
  (how: 'merge' | 'strategic-merge') =>
  (path: () => string, body: object): Ask =>
  () => ({ method: 'PATCH', path: path(), body, headers: { 'content-type': `application/${how}-patch+json` } });
const merge = patch('merge');
const read =
  (path: () => string, query: string): Ask =>
  () => ({ path: `${path()}?${query}` });

const maps = (): string => at('configmaps');
const events = (): string => at('events');
const pod = (): string => at('pods/p');

const TYPES: readonly Refusal[] = [
  ['ConfigMap with a number', post(maps, { data: { a: 1 } }), 400],
  ['ConfigMap whose data is a text', post(maps, { data: 'a' }), 400],
  ['ConfigMap with an annotation that is no text', post(maps, { metadata: { name: 'x', annotations: { a: 1 } } }), 400],
  ['ConfigMap with finalizers that are no list', post(maps, { metadata: { name: 'x', finalizers: 'a' } }), 400],
  ['patch of an annotation that is no text', merge(pod, { metadata: { annotations: { a: 1 } } }), 422],
  ['patch of a label that is no text', merge(NODE, { metadata: { labels: { a: true } } }), 422],
  ['patch of a cordon that is a text', merge(NODE, { spec: { unschedulable: 'true' } }), 422],
  ['patch of taints that are no list', merge(NODE, { spec: { taints: {} } }), 422],
  ['Lease with a duration that is a text', post(LEASES, { spec: { leaseDurationSeconds: '15' } }), 400],
  ['Lease with a duration that is no integer', post(LEASES, { spec: { leaseDurationSeconds: 1.5 } }), 400],
  ['Lease without microseconds', post(LEASES, { spec: { renewTime: '2026-01-01T00:00:00Z' } }), 400],
  ['Lease with a time that is none', post(LEASES, { spec: { renewTime: 'now' } }), 400],
  ['Event with a time that is none', post(events, { firstTimestamp: 'now' }), 400],
  ['Event with a count that is a text', post(events, { count: '1' }), 400],
  ['pod with a grace that is a text', post(() => at('pods'), { spec: { terminationGracePeriodSeconds: '3' } }), 400],
  ['unknown field where validation is strict', post(maps, { colour: 1 }, '&fieldValidation=Strict'), 400],
  [
    'unknown field of a Lease where validation is strict',
    post(LEASES, { spec: { colour: 1 } }, '&fieldValidation=Strict'),
    400,
  ],
];

const RULES: readonly Refusal[] = [
  ['Lease of no duration', post(LEASES, { spec: { leaseDurationSeconds: 0 } }), 422],
  ['Lease with negative transitions', post(LEASES, { spec: { leaseTransitions: -1 } }), 422],
  ['Event about nothing', post(events, { reason: 'x' }), 422],
  ['Event about another namespace', post(events, { involvedObject: { namespace: 'other' } }), 422],
  ['ConfigMap of more than a mebibyte', post(maps, { data: { a: 'x'.repeat(1_100_000) } }), 422],
  [
    'object with two controllers',
    post(maps, { metadata: { name: 'x', ownerReferences: ['a', 'b'].map(controller) } }),
    422,
  ],
  [
    'taint that is there twice',
    merge(NODE, { spec: { taints: [1, 2].map(() => ({ key: 'a', effect: 'NoSchedule' })) } }),
    422,
  ],
  ['taint of no known effect', merge(NODE, { spec: { taints: [{ key: 'a', effect: 'None' }] } }), 422],
  ["change of a pod's node", merge(pod, { spec: { nodeName: 'other' } }), 422],
  ["change of a pod's restart policy", merge(pod, { spec: { restartPolicy: 'Never' } }), 422],
  ["change of a pod's grace", merge(pod, { spec: { terminationGracePeriodSeconds: 3 } }), 422],
  ["removal of a pod's container", merge(pod, { spec: { containers: [] } }), 422],
];

function controller(name: string): object {
  return { apiVersion: 'v1', kind: 'Node', name, uid: name, controller: true };
}

const ACCESS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const FUTURE = 'resourceVersion=99999999';

const OPTIONS: readonly Refusal[] = [
  [
    'deletion with a grace that is a text',
    () => ({ method: 'DELETE', path: `${pod()}?dryRun=All`, body: { gracePeriodSeconds: 'x' } }),
    400,
  ],
  ['limit that is no number', read(maps, 'limit=abc'), 400],
  ['timeout that is no number', read(maps, 'watch=1&timeoutSeconds=abc'), 400],
  ['list at a resourceVersion that is none', read(maps, 'resourceVersion=abc'), 400],
  ['list at a resourceVersion to come', read(maps, FUTURE), 504],
  ['get at a resourceVersion to come', read(() => at('configmaps/m'), FUTURE), 504],
  ['get at a resourceVersion that is none', read(() => at('configmaps/m'), 'resourceVersion=abc'), 500],
  ['watch from a resourceVersion that is none', read(maps, 'watch=1&resourceVersion=abc'), 500],
  ['dry run of an unknown kind', post(() => `${maps()}?dryRun=Some&x=`, {}), 422],
  ['validation of an unknown kind', post(maps, {}, '&fieldValidation=Some'), 422],
  ['review of nothing', () => ({ method: 'POST', path: ACCESS, body: { spec: { user: 'x' } } }), 422],
  [
    'review of nobody',
    () => ({ method: 'POST', path: ACCESS, body: { spec: { resourceAttributes: { verb: 'get' } } } }),
    422,
  ],
];

describe.each([
  ['by types', TYPES],
  ['by rules', RULES],
  ['by options', OPTIONS],
])('refused %s:', (_, rows) => {
  test.each(rows)('%s', async (_name, ask, code) => {
    const { status, text } = await exchange(cluster.access, ask());
    expect([status, (JSON.parse(text) as KubeStatus).reason]).toEqual([code, REASONS[code]]);
  });
});

describe('not refused:', () => {
  test.each<readonly [name: string, ask: Ask]>([
    ['Event about a Node, of the namespace default', post(() => '/api/v1/namespaces/default/events', { reason: 'x' })],
    [
      "change of a pod's image",
      patch('strategic-merge')(pod, { spec: { containers: [{ name: 'main', image: 'other' }] } }),
    ],
    ['resourceVersion 0', read(maps, 'resourceVersion=0')],
    ['unknown field', post(maps, { colour: 1 })],
  ])('%s', async (_, ask) => {
    expect(Math.floor((await exchange(cluster.access, ask())).status / 100)).toBe(2);
  });
});

test('a field that no structure has is not kept', async () => {
  const { admin } = cluster;
  const made = await admin.create(maps(), {
    metadata: { name: 'odd', colour: 'red' },
    data: { a: '1' },
    colour: 'red',
  });
  expect(made).not.toHaveProperty('colour');
  expect(made.metadata).not.toHaveProperty('colour');
  expect(made['data']).toEqual({ a: '1' });
});

test('a Lease that a PUT makes is created', async () => {
  const put = (): Promise<Answer> =>
    exchange(cluster.access, { method: 'PUT', path: `${LEASES()}/l`, body: { metadata: { name: 'l' } } });
  expect((await put()).status).toBe(201);
});

test('an empty token authenticates nobody', async () => {
  const { text } = await exchange(
    {
      ...cluster.access,
      credentials: async () => ({
        tls: { ca: (await cluster.access.credentials()).tls.ca },
        headers: { authorization: 'Bearer ' },
      }),
    },
    { path: '/api/v1/nodes' },
  );
  expect(JSON.parse(text)).toMatchObject({ code: 403, message: expect.stringContaining('"system:anonymous"') });
});
