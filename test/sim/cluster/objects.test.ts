import { expect, test } from '@jest/globals';
import { CRDS, definition, schema } from '../../contract/gadget.ts';
import { NODES, node, PODS, refusal, world } from './harness.ts';

test('what a client was given never changes under it', async () => {
  const { admin } = world();
  const body = { metadata: { name: 'n1', labels: { a: '1' } } };
  const made = await admin.create(NODES, body);
  body.metadata.labels.a = '2';
  await admin.patch(`${NODES}/n1`, { metadata: { labels: { a: '3' } } });
  expect(made.metadata.labels).toEqual({ a: '1' });
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
