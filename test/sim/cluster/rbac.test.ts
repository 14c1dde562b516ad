import { describe, expect, test } from '@jest/globals';
import { type Client, NODES, node, PODS, refusal, world } from './harness.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AGENT = {
  username: 'system:serviceaccount:ns:sa',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
};
const SUBJECT = { kind: 'ServiceAccount', name: 'sa', namespace: 'ns' };

async function grant(client: Client, rules: readonly object[], subject: object = SUBJECT): Promise<void> {
  await client.create(`${RBAC}/clusterroles`, { metadata: { name: 'r' }, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
  await client.create(`${RBAC}/clusterrolebindings`, { metadata: { name: 'b' }, roleRef, subjects: [subject] });
}

const rule = (verbs: string[], resources: string[], more: object = {}): object => ({
  apiGroups: [''],
  verbs,
  resources,
  ...more,
});

describe('a refusal', () => {
  test.each([
    [
      (client: Client) => client.create('/api/v1/namespaces/x/pods/web-1/eviction', {}),
      'pods "web-1" is forbidden: User "system:serviceaccount:ns:sa" cannot create resource "pods/eviction" in API group "" in the namespace "x"',
    ],
    [
      (client: Client) => client.patch(`${NODES}/n1`, {}),
      'nodes "n1" is forbidden: User "system:serviceaccount:ns:sa" cannot patch resource "nodes" in API group "" at the cluster scope',
    ],
    [
      (client: Client) => client.list('/apis/coordination.k8s.io/v1/namespaces/x/leases'),
      'leases.coordination.k8s.io is forbidden: User "system:serviceaccount:ns:sa" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "x"',
    ],
    [
      (client: Client) => client.get('/metrics'),
      'forbidden: User "system:serviceaccount:ns:sa" cannot get path "/metrics"',
    ],
  ])('names verb and resource (%#)', async (ask, message) => {
    const { as } = world();
    expect(await refusal(ask(as(AGENT)))).toMatchObject({ code: 403, reason: 'Forbidden', message });
  });
});

describe('a role', () => {
  test('allows its verbs and resources, and nothing besides', async () => {
    const { admin, as } = world();
    await admin.create(NODES, node('n1'));
    await grant(admin, [rule(['get'], ['nodes'])]);
    const client = as(AGENT);
    await client.get(`${NODES}/n1`);
    for (const asked of [client.list(NODES), client.delete(`${NODES}/n1`), client.patch(`${NODES}/n1/status`, {})]) {
      expect(await refusal(asked)).toMatchObject({ code: 403 });
    }
  });

  test('that names objects allows them by name, and lists and watches of the one', async () => {
    const { admin, as } = world();
    for (const name of ['n1', 'n2']) await admin.create(NODES, node(name));
    await grant(admin, [rule(['get', 'list'], ['nodes'], { resourceNames: ['n1'] })]);
    const client = as(AGENT);
    await client.get(`${NODES}/n1`);
    await client.list(NODES, { fieldSelector: 'metadata.name=n1' });
    for (const asked of [client.get(`${NODES}/n2`), client.list(NODES)])
      expect(await refusal(asked)).toMatchObject({ code: 403 });
  });

  test.each([
    ['group', { kind: 'Group', name: 'system:serviceaccounts:ns' }],
    ['user name', { kind: 'User', name: 'system:serviceaccount:ns:sa' }],
  ])('reaches its subjects by %s', async (_, subject) => {
    const { admin, as } = world();
    await grant(admin, [rule(['*'], ['*'])], subject);
    await as(AGENT).list(PODS);
  });

  test('bound in a namespace holds there only', async () => {
    const { admin, as } = world();
    await admin.create(`${RBAC}/namespaces/default/roles`, {
      metadata: { name: 'r' },
      rules: [rule(['list'], ['pods'])],
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
    await admin.create(`${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name: 'b' },
      roleRef,
      subjects: [SUBJECT],
    });
    await as(AGENT).list(PODS);
    expect(await refusal(as(AGENT).list('/api/v1/pods'))).toMatchObject({ code: 403 });
    expect(await refusal(as(AGENT).list('/api/v1/namespaces/kube-system/pods'))).toMatchObject({ code: 403 });
  });

  test('that is changed holds from the next request', async () => {
    const { admin, as } = world();
    await grant(admin, [rule(['list'], ['pods'])]);
    await as(AGENT).list(PODS);
    await admin.patch(`${RBAC}/clusterroles/r`, { rules: [] });
    expect(await refusal(as(AGENT).list(PODS))).toMatchObject({ code: 403 });
  });

  test('every cluster has binds as it does in a real one', async () => {
    const { admin, as } = world();
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:auth-delegator' };
    await admin.create(`${RBAC}/clusterrolebindings`, { metadata: { name: 'b' }, roleRef, subjects: [SUBJECT] });
    const review = { spec: { token: 'rubbish' } };
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    expect(await as(AGENT).create(path, review)).toMatchObject({ status: { authenticated: false } });
    expect(await refusal(as({ ...AGENT, username: 'joe' }).create(path, review))).toMatchObject({ code: 403 });
  });
});

describe('access reviews', () => {
  const ask = (verb: string): object => ({ spec: { resourceAttributes: { verb, resource: 'nodes' } } });

  test('answer for oneself and, to those who may ask, for others', async () => {
    const { admin, as } = world();
    await grant(admin, [rule(['get'], ['nodes'])]);
    const path = '/apis/authorization.k8s.io/v1';
    const self = `${path}/selfsubjectaccessreviews`;
    expect(await as(AGENT).create(self, ask('get'))).toMatchObject({ status: { allowed: true } });
    expect(await as(AGENT).create(self, ask('patch'))).toMatchObject({ status: { allowed: false } });
    const other = {
      spec: { user: AGENT.username, groups: AGENT.groups, resourceAttributes: { verb: 'get', resource: 'nodes' } },
    };
    expect(await admin.create(`${path}/subjectaccessreviews`, other)).toMatchObject({ status: { allowed: true } });
    expect(await refusal(as(AGENT).create(`${path}/subjectaccessreviews`, other))).toMatchObject({ code: 403 });
  });

  test('say who one is', async () => {
    const me = await world().as(AGENT).create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    expect(me).toMatchObject({ status: { userInfo: AGENT } });
  });
});
