import { describe, expect, test } from '@jest/globals';
import { at } from '../../../sim/cluster/object.ts';
import { type Client, NODES, node, PODS, refusal, world } from './harness.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const AUDIENCE = 'brupop-apiserver';

async function account(client: Client): Promise<void> {
  await client.create(ACCOUNTS, { metadata: { name: 'agent' } });
}

async function agentPod(client: Client): Promise<string> {
  await client.create(NODES, node('n1'));
  const spec = { nodeName: 'n1', serviceAccountName: 'agent' };
  return (await client.create(PODS, { metadata: { name: 'agent-1' }, spec })).metadata.uid;
}

async function issue(client: Client, spec: object): Promise<string> {
  return at(await client.create(`${ACCOUNTS}/agent/token`, { spec }), 'status', 'token') as string;
}

async function review(client: Client, token: string, audiences?: string[]): Promise<unknown> {
  return at(await client.create(REVIEWS, { spec: { token, ...(audiences && { audiences }) } }), 'status');
}

const bound = (uid: string): object => ({
  audiences: [AUDIENCE],
  boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'agent-1', uid },
});

describe('a service account token', () => {
  test('is good for its audiences and for no other', async () => {
    const { admin, cluster } = world();
    await account(admin);
    const token = await issue(admin, { audiences: [AUDIENCE, 'other'] });
    expect(await review(admin, token, [AUDIENCE, 'third'])).toMatchObject({
      authenticated: true,
      audiences: [AUDIENCE],
      user: {
        username: 'system:serviceaccount:default:agent',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    });
    expect(await review(admin, token)).toMatchObject({ authenticated: false });
    expect(cluster.authenticateToken(token)).toBeUndefined();
    expect(cluster.authenticateToken(await issue(admin, {}))?.username).toBe('system:serviceaccount:default:agent');
  });

  test('tells of the pod and the node it was made for', async () => {
    const { admin } = world();
    await account(admin);
    const uid = await agentPod(admin);
    const extra = at(await review(admin, await issue(admin, bound(uid)), [AUDIENCE]), 'user', 'extra');
    expect(extra).toEqual({
      'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)],
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': [(await admin.get(`${NODES}/n1`)).metadata.uid],
      'authentication.kubernetes.io/pod-name': ['agent-1'],
      'authentication.kubernetes.io/pod-uid': [uid],
    });
  });

  test('expires', async () => {
    const { admin, clock } = world();
    await account(admin);
    const token = await issue(admin, { audiences: [AUDIENCE], expirationSeconds: 600 });
    await clock.advance(599_000);
    expect(await review(admin, token, [AUDIENCE])).toMatchObject({ authenticated: true });
    await clock.advance(1000);
    expect(await review(admin, token, [AUDIENCE])).toMatchObject({ authenticated: false });
  });

  test('ends with its pod, a pod of the same name notwithstanding', async () => {
    const { admin } = world();
    await account(admin);
    const token = await issue(admin, bound(await agentPod(admin)));
    await admin.delete(`${PODS}/agent-1`, { gracePeriodSeconds: 0 });
    expect(await review(admin, token, [AUDIENCE])).toMatchObject({ authenticated: false });
    await admin.create(PODS, { metadata: { name: 'agent-1' }, spec: { serviceAccountName: 'agent', nodeName: 'n1' } });
    expect(await review(admin, token, [AUDIENCE])).toMatchObject({ authenticated: false });
  });

  test('ends with its account', async () => {
    const { admin } = world();
    await account(admin);
    const token = await issue(admin, { audiences: [AUDIENCE] });
    await admin.delete(`${ACCOUNTS}/agent`);
    await account(admin);
    expect(await review(admin, token, [AUDIENCE])).toMatchObject({ authenticated: false });
  });

  test('that was tampered with is nobody', async () => {
    const { admin } = world();
    await account(admin);
    const [header, payload = '', signature] = (await issue(admin, { audiences: [AUDIENCE] })).split('.');
    const claims = Buffer.from(payload, 'base64url').toString().replace(':agent', ':admin');
    for (const token of [
      'rubbish',
      `${header}.${Buffer.from(claims).toString('base64url')}.${signature}`,
      `${header}..`,
    ]) {
      expect(await review(admin, token, [AUDIENCE])).toMatchObject({
        authenticated: false,
        error: 'invalid bearer token',
      });
    }
  });

  test('is made for the pod that was meant, and for at least ten minutes', async () => {
    const { admin } = world();
    await account(admin);
    await agentPod(admin);
    expect(await refusal(issue(admin, bound('other')))).toMatchObject({ code: 409 });
    expect(await refusal(issue(admin, { expirationSeconds: 60 }))).toMatchObject({ code: 422 });
    await admin.create(ACCOUNTS, { metadata: { name: 'stranger' } });
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'agent-1' };
    expect(await refusal(admin.create(`${ACCOUNTS}/stranger/token`, { spec: { boundObjectRef } }))).toMatchObject({
      code: 400,
    });
    expect(await refusal(admin.create(`${ACCOUNTS}/nobody/token`, { spec: {} }))).toMatchObject({ code: 404 });
  });
});
