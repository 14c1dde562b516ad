import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { at } from '../../lab/sim/cluster/object.ts';
import { type Client, refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

const AUDIENCE = 'brupop-apiserver';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** An agent's account and pod, the pod on a node. */
interface Agent {
  readonly namespace: string;
  readonly accounts: string;
  readonly pods: string;
  readonly uid: string;
  readonly username: string;
}

async function agent(): Promise<Agent> {
  const namespace = await cluster.namespace();
  const [accounts, pods] = [`/api/v1/namespaces/${namespace}/serviceaccounts`, `/api/v1/namespaces/${namespace}/pods`];
  await cluster.admin.create(accounts, { metadata: { name: 'agent' } });
  const spec = { nodeName: cluster.node, serviceAccountName: 'agent', containers: [{ name: 'main', image: 'agent' }] };
  const { metadata } = await cluster.admin.create(pods, { metadata: { name: 'agent-1' }, spec });
  return { namespace, accounts, pods, uid: metadata.uid, username: `system:serviceaccount:${namespace}:agent` };
}

async function issue(accounts: string, spec: object): Promise<string> {
  return at(await cluster.admin.create(`${accounts}/agent/token`, { spec }), 'status', 'token') as string;
}

async function review(token: string, audiences?: readonly string[]): Promise<object> {
  return (await cluster.admin.create(REVIEWS, { spec: { token, ...(audiences && { audiences }) } }))[
    'status'
  ] as object;
}

const bound = (uid: string): object => ({
  audiences: [AUDIENCE],
  boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'agent-1', uid },
});

const TOKEN_CACHE_MS = 10_000;

describe('a service account token', () => {
  test('is good for its audiences and for no other', async () => {
    const { accounts, namespace, username } = await agent();
    const token = await issue(accounts, { audiences: [AUDIENCE, 'other'] });
    expect(await review(token, [AUDIENCE, 'third'])).toMatchObject({
      authenticated: true,
      audiences: [AUDIENCE],
      user: {
        username,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      },
    });
    for (const audiences of [undefined, ['third']]) {
      expect(await review(token, audiences)).not.toMatchObject({ authenticated: true });
    }
    expect(await refusal(cluster.as(token).get('/api/v1/nodes'))).toMatchObject({ code: 401, reason: 'Unauthorized' });
  });

  test('tells of the pod that it is bound to', async () => {
    const { accounts, uid } = await agent();
    const node = await cluster.admin.get(`/api/v1/nodes/${cluster.node}`);
    expect(await review(await issue(accounts, bound(uid)), [AUDIENCE])).toMatchObject({
      user: {
        extra: {
          'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)],
          'authentication.kubernetes.io/node-name': [cluster.node],
          'authentication.kubernetes.io/node-uid': [node.metadata.uid],
          'authentication.kubernetes.io/pod-name': ['agent-1'],
          'authentication.kubernetes.io/pod-uid': [uid],
        },
      },
    });
  });

  /** The API server remembers for ten seconds whose a token is, also where it was asked a moment before it saw the deletion. */
  const ends = (token: string): Promise<void> =>
    eventually(
      async () => expect(await review(token, [AUDIENCE])).not.toMatchObject({ authenticated: true }),
      3 * TOKEN_CACHE_MS,
    );

  test('ends with its pod', async () => {
    const { accounts, pods, uid } = await agent();
    const token = await issue(accounts, bound(uid));
    await cluster.admin.delete(`${pods}/agent-1`, { gracePeriodSeconds: 0 });
    await ends(token);
  });

  test('ends with its account, one of the same name notwithstanding', async () => {
    const { accounts } = await agent();
    const token = await issue(accounts, { audiences: [AUDIENCE] });
    await cluster.admin.delete(`${accounts}/agent`);
    await cluster.admin.create(accounts, { metadata: { name: 'agent' } });
    await ends(token);
  });

  test('that is none, or was tampered with, is nobody', async () => {
    const { accounts } = await agent();
    const [header, payload = '', signature] = (await issue(accounts, { audiences: [AUDIENCE] })).split('.');
    const claims = Buffer.from(payload, 'base64url').toString().replace(':agent', ':admin');
    const forged = `${header}.${Buffer.from(claims).toString('base64url')}.${signature}`;
    for (const token of ['rubbish', forged, `${header}..`]) {
      const status = await review(token, [AUDIENCE]);
      expect(status).not.toMatchObject({ authenticated: true });
      expect(status).toMatchObject({ user: {}, error: expect.stringContaining('invalid bearer token') });
    }
  });

  test('is made for the pod that was meant, and for at least ten minutes', async () => {
    const { accounts } = await agent();
    const make = (spec: object, name = 'agent'): Promise<unknown> =>
      refusal(cluster.admin.create(`${accounts}/${name}/token`, { spec }));
    expect(await make(bound('other'))).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(await make({ expirationSeconds: 60 })).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(await make({}, 'nobody')).toMatchObject({ code: 404 });
    await cluster.admin.create(accounts, { metadata: { name: 'stranger' } });
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'agent-1' };
    expect(await make({ boundObjectRef }, 'stranger')).toMatchObject({ code: 400, reason: 'BadRequest' });
  });
});

interface Bearer extends Agent {
  readonly as: Client;
}

/** An agent with a token, bound to a role of its namespace. Of each rule that is given, the rest is ConfigMaps. */
async function bearing(
  rules: readonly object[],
  subject: (namespace: string) => object = (namespace) => ({ kind: 'ServiceAccount', name: 'agent', namespace }),
): Promise<Bearer> {
  const made = await agent();
  const rbac = `${RBAC}/namespaces/${made.namespace}`;
  const whole = rules.map((rule) => Object.assign({ apiGroups: [''], resources: ['configmaps'] }, rule));
  await cluster.admin.create(`${rbac}/roles`, { metadata: { name: 'bearer' }, rules: whole });
  await cluster.admin.create(`${rbac}/rolebindings`, {
    metadata: { name: 'bearer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'bearer' },
    subjects: [subject(made.namespace)],
  });
  return { ...made, as: cluster.as(await issue(made.accounts, {})) };
}

describe('a role', () => {
  async function granted(): Promise<Agent> {
    const made = await agent();
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${made.namespace}`;
    const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['get', 'patch'] }];
    await cluster.admin.create(`${rbac}/roles`, { metadata: { name: 'agent' }, rules });
    await cluster.admin.create(`${rbac}/rolebindings`, {
      metadata: { name: 'agent' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'agent' },
      subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace: made.namespace }],
    });
    await cluster.admin.create(`/api/v1/namespaces/${made.namespace}/configmaps`, { metadata: { name: 'mine' } });
    return made;
  }

  test('allows what it names, and the refusal of the rest says who asked for what', async () => {
    const { accounts, namespace, username } = await granted();
    const bearer = cluster.as(await issue(accounts, {}));
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    await eventually(() => bearer.get(`${maps}/mine`));
    expect(await refusal(bearer.list(maps))).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `configmaps is forbidden: User "${username}" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
      details: { kind: 'configmaps' },
    });
    expect(await refusal(bearer.get('/api/v1/nodes/n1'))).toMatchObject({
      code: 403,
      message: `nodes "n1" is forbidden: User "${username}" cannot get resource "nodes" in API group "" at the cluster scope`,
      details: { name: 'n1', kind: 'nodes' },
    });
  });

  test('that names objects allows lists of the one name', async () => {
    const { accounts, namespace, as } = await bearing([{ resourceNames: ['mine'], verbs: ['get', 'list'] }]);
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    await eventually(() => as.list(maps, { fieldSelector: 'metadata.name=mine' }));
    for (const asked of [
      as.list(maps),
      as.list(maps, { fieldSelector: 'metadata.name=theirs' }),
      as.get(`${maps}/theirs`),
    ])
      expect(await refusal(asked)).toMatchObject({ code: 403 });
    expect(await refusal(as.create(`${accounts}/agent/token`, {}))).toMatchObject({ code: 403 });
  });

  test.each([
    ['group', (namespace: string) => ({ kind: 'Group', name: `system:serviceaccounts:${namespace}` })],
    ['user name', (namespace: string) => ({ kind: 'User', name: `system:serviceaccount:${namespace}:agent` })],
  ])('reaches its subjects by %s, in its namespace alone', async (_, subject) => {
    const { namespace, as } = await bearing([{ verbs: ['list'] }], subject);
    await eventually(() => as.list(`/api/v1/namespaces/${namespace}/configmaps`));
    for (const path of ['/api/v1/configmaps', '/api/v1/namespaces/default/configmaps'])
      expect(await refusal(as.list(path))).toMatchObject({ code: 403 });
  });

  test('that is changed soon holds as changed', async () => {
    const { namespace, as } = await bearing([{ verbs: ['list'] }]);
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    await eventually(() => as.list(maps));
    await cluster.admin.patch(`${RBAC}/namespaces/${namespace}/roles/bearer`, { rules: [] });
    await eventually(async () => expect(await refusal(as.list(maps))).toMatchObject({ code: 403 }));
  });

  test('of every cluster lets its subjects review tokens', async () => {
    const { namespace, as } = await bearing([]);
    const body = { spec: { token: 'rubbish' } };
    expect(await refusal(as.create(REVIEWS, body))).toMatchObject({ code: 403 });
    const { metadata } = await cluster.admin.create(`${RBAC}/clusterrolebindings`, {
      metadata: { generateName: 'delegators-' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace }],
    });
    const reviewed = await eventually(() => as.create(REVIEWS, body));
    expect(at(reviewed, 'status', 'authenticated') ?? false).toBe(false);
    await cluster.admin.delete(`${RBAC}/clusterrolebindings/${metadata.name}`);
  });

  test('is what one may ask of oneself', async () => {
    const { namespace, username, as } = await bearing([{ verbs: ['get'] }]);
    const may = async (verb: string): Promise<unknown> => {
      const resourceAttributes = { namespace, verb, resource: 'configmaps' };
      const asked = as.create(ACCESS_REVIEWS.replace('/subject', '/selfsubject'), { spec: { resourceAttributes } });
      return at(await asked, 'status', 'allowed');
    };
    await eventually(async () => expect([await may('get'), await may('patch')]).toEqual([true, false]));
    const others = { spec: { user: username, resourceAttributes: { verb: 'get', resource: 'nodes' } } };
    expect(await refusal(as.create(ACCESS_REVIEWS, others))).toMatchObject({ code: 403 });
    const me = await as.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    expect(me).toMatchObject({ status: { userInfo: { username } } });
  });

  test('is needed for all but what everybody may ask, and the refusal names it', async () => {
    const { namespace, username, as } = await bearing([]);
    expect(await refusal(as.get('/metrics'))).toMatchObject({
      code: 403,
      message: `forbidden: User "${username}" cannot get path "/metrics"`,
    });
    expect(await refusal(as.create(`/api/v1/namespaces/${namespace}/pods/web-1/eviction`, {}))).toMatchObject({
      code: 403,
      message: `pods "web-1" is forbidden: User "${username}" cannot create resource "pods/eviction" in API group "" in the namespace "${namespace}"`,
    });
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    expect(await refusal(as.list(leases))).toMatchObject({
      code: 403,
      message: `leases.coordination.k8s.io is forbidden: User "${username}" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "${namespace}"`,
    });
    expect(await as.get('/version')).toMatchObject({ major: '1' });
    expect(await as.get('/api/v1')).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
  });

  test('is what a SubjectAccessReview answers by', async () => {
    const { namespace, username: user } = await granted();
    const ask = async (attributes: object): Promise<unknown> => {
      const resourceAttributes = { namespace, verb: 'get', group: '', resource: 'configmaps', ...attributes };
      return at(
        await cluster.admin.create(ACCESS_REVIEWS, { spec: { user, resourceAttributes } }),
        'status',
        'allowed',
      );
    };
    await eventually(async () => expect(await ask({ name: 'mine' })).toBe(true));
    expect(await ask({ name: 'theirs' })).toBe(false);
    expect(await ask({ name: 'mine', verb: 'delete' })).toBe(false);
    expect(await ask({ name: 'mine', namespace: 'default' })).toBe(false);
  });
});
