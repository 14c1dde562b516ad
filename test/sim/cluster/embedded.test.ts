import { describe, expect, test } from '@jest/globals';
import { httpsTransport } from '../../../runtime/kube/https.ts';
import { at } from '../../../sim/cluster/object.ts';
import { embeddedCluster } from '../../contract/embedded.ts';
import { CRDS, definition, schema } from '../../contract/gadget.ts';
import { collect } from '../../kube/tls-server.ts';
import { NODES, node, PODS, refusal, settle, world } from './harness.ts';

/** What of the embedded cluster no real one is asked as well (test/contract). */

test('what a client was given never changes under it', async () => {
  const { admin } = world();
  const body = { metadata: { name: 'n1', labels: { a: '1' } } };
  const made = await admin.create(NODES, body);
  body.metadata.labels.a = '2';
  await admin.patch(`${NODES}/n1`, { metadata: { labels: { a: '3' } } });
  expect(made.metadata.labels).toEqual({ a: '1' });
});

test('managedFields stay, which are half of what objects weigh, also where an update leaves them out', async () => {
  const { admin } = world();
  const managedFields = [
    { manager: 'kubelet', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } },
  ];
  const { metadata } = await admin.create(NODES, { metadata: { name: 'n1', managedFields } });
  const { managedFields: _, ...without } = metadata;
  expect(await admin.put(`${NODES}/n1`, { metadata: without })).toMatchObject({ metadata: { managedFields } });
});

test('what a client sends arrives with every field, whatever it is called', async () => {
  const labels = JSON.parse('{"__proto__":"b"}') as object;
  expect(await refusal(world().admin.create(NODES, { metadata: { name: 'n1', labels } }))).toMatchObject({ code: 422 });
});

test('what a real cluster can and this one cannot is said in words', async () => {
  const { admin } = world();
  await admin.create(NODES, node('n1'));
  expect(await refusal(admin.get(`${PODS}/p/log`))).toMatchObject({
    code: 501,
    message: expect.stringContaining('log'),
  });
  const apply = 'application/apply-patch+yaml' as 'application/json';
  expect(await refusal(admin.patch(`${NODES}/n1`, {}, apply))).toMatchObject({
    code: 501,
    message: expect.stringContaining('server-side apply'),
  });
  const ruled = schema({ ruled: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != ""' }] } });
  const versions = [{ name: 'v1', served: true, storage: true, schema: ruled }];
  expect(await refusal(admin.create(CRDS, definition({ versions })))).toMatchObject({ code: 501 });
});

test('every request is in the audit log, refusals too', async () => {
  const heard: string[] = [];
  const { admin, as } = world({ onAudit: ({ verb, name = '', code }) => heard.push(`${verb} ${name} ${code}`) });
  await admin.create(NODES, node('n1'));
  await admin.patch(`${NODES}/n1/status`, { status: { phase: 'x' } });
  await refusal(as({ username: 'joe', groups: [] }).get(`${NODES}/n1`));
  expect(heard).toEqual(['create  201', 'patch n1 200', 'get n1 403']);
});

test('the audit log keeps the newest', async () => {
  const { admin, cluster } = world({ auditLimit: 10 });
  for (let count = 0; count < 35; count++) await admin.list(NODES, { limit: String(count + 1) });
  expect(cluster.audit.length).toBeGreaterThanOrEqual(10);
  expect(cluster.audit.length).toBeLessThanOrEqual(20);
  expect(cluster.audit.at(-1)).toMatchObject({ verb: 'list', resource: 'nodes', user: 'kubernetes-admin', code: 200 });
});

const label = (value: string): object => ({ metadata: { labels: { role: value } } });

describe('a watch', () => {
  test('remembers no more than it is told to', async () => {
    const { admin } = world({ historyLimit: 5 });
    const { metadata } = await admin.create(NODES, node('n1'));
    for (let step = 0; step < 20; step++) await admin.patch(`${NODES}/n1`, label(`v${step}`));
    const watch = admin.watch(NODES, { resourceVersion: metadata.resourceVersion });
    await settle();
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
  });

  test('that is given up costs nothing any more', async () => {
    const { admin, cluster } = world();
    const watch = admin.watch(NODES, { allowWatchBookmarks: 'true' });
    await settle();
    watch.stop();
    await settle();
    await admin.create(NODES, node('n1'));
    await settle();
    expect([watch.ended, watch.events]).toEqual([true, []]);
    expect(cluster.audit.filter(({ verb }) => verb === 'watch')).toHaveLength(1);
  });
});

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const AUDIENCE = 'brupop-apiserver';

test('a service account token expires', async () => {
  const { admin, clock } = world();
  await admin.create(ACCOUNTS, { metadata: { name: 'agent' } });
  const spec = { audiences: [AUDIENCE], expirationSeconds: 600 };
  const token = at(await admin.create(`${ACCOUNTS}/agent/token`, { spec }), 'status', 'token');
  const review = async (): Promise<unknown> => {
    const body = { spec: { token, audiences: [AUDIENCE] } };
    return at(await admin.create('/apis/authentication.k8s.io/v1/tokenreviews', body), 'status');
  };
  await clock.advance(599_000);
  expect(await review()).toMatchObject({ authenticated: true });
  await clock.advance(1000);
  expect(await review()).toMatchObject({ authenticated: false });
});

test('the cluster that ends ends its watches', async () => {
  const cluster = await embeddedCluster();
  const transport = httpsTransport(cluster.access, { userAgent: 'test' });
  const path = '/api/v1/nodes';
  const over = collect(transport.watch({ path })).catch(() => []);
  await transport.request({ method: 'GET', path });
  await cluster.stop();
  expect(await over).toEqual([]);
});
