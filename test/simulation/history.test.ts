import { expect, test } from '@jest/globals';
import { ADMIN, type UserInfo } from '../../sim/cluster/cluster.ts';
import { NODES, node, PODS, runningPod, world } from '../sim/cluster/harness.ts';
import { History, type SentRequest } from './history.ts';
import type { WriteEntry } from './types.ts';

const APISERVER: UserInfo = { username: 'system:serviceaccount:ns:apiserver', groups: ['system:masters'] };

function recorded() {
  const history = new History(() => 7);
  const { cluster, as } = world({ onChange: (type, change) => history.changed(type, change) });
  const writes = (plural: string): WriteEntry[] =>
    history.entries.filter((entry) => entry.kind === 'write' && entry.resource === plural) as WriteEntry[];
  return { history, cluster, as, writes };
}

test('a write has its author, and the object before and after it', async () => {
  const { as, writes } = recorded();
  const made = await as(ADMIN).create(NODES, node('n1'));
  const changed = await as(APISERVER).patch(`${NODES}/n1`, { spec: { unschedulable: true } });
  await as(ADMIN).delete(`${NODES}/n1`);
  const [first, second, third] = writes('nodes');
  expect(first).toMatchObject({
    at: 7,
    by: ADMIN.username,
    name: 'n1',
    after: { metadata: { uid: made.metadata.uid } },
  });
  expect(first!.before).toBeUndefined();
  expect(second).toMatchObject({
    by: APISERVER.username,
    before: first!.after,
    after: { spec: { unschedulable: true } },
  });
  expect(third).toMatchObject({ by: ADMIN.username, before: { metadata: { uid: changed.metadata.uid } } });
  expect(third!.after).toBeUndefined();
});

test('a write that changes nothing is none', async () => {
  const { as, writes } = recorded();
  await as(ADMIN).create(NODES, node('n1'));
  await as(ADMIN).patch(`${NODES}/n1`, { metadata: { labels: {} } });
  expect(writes('nodes')).toHaveLength(1);
});

test('a request that names its sender is told from others of the same user, and was sent when that says', async () => {
  const { cluster, as, writes } = recorded();
  await as(ADMIN).create(NODES, node('n1'));
  const headers = { 'content-type': 'application/merge-patch+json' };
  const body = { spec: { unschedulable: true } };
  const sender = { by: 'apiserver-2', sentAt: 3 };
  const request: SentRequest = { method: 'PATCH', path: `${NODES}/n1`, headers, body, sender };
  await cluster.handle(request, APISERVER);
  expect(writes('nodes')[1]).toMatchObject({ at: 7, by: 'apiserver-2', sentAt: 3 });
});

test("an eviction is told from a deletion, and what follows from a write is no user's", async () => {
  const { as, writes } = recorded();
  const { metadata } = await as(ADMIN).create(NODES, node('n1'));
  await runningPod(as(ADMIN), 'web-1');
  await as(APISERVER).create(`${PODS}/web-1/eviction`, { metadata: { name: 'web-1' } });
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: metadata.uid };
  await as(ADMIN).create(PODS, {
    metadata: { name: 'mirror', ownerReferences: [owner] },
    spec: { containers: [{ name: 'main', image: 'web' }] },
  });
  await as(ADMIN).delete(`${NODES}/n1`);
  const told = writes('pods').map(({ by, name, subresource = '' }) => [by, name, subresource]);
  expect(told.slice(2)).toEqual([
    [APISERVER.username, 'web-1', 'eviction'],
    [ADMIN.username, 'mirror', ''],
    ['garbage-collector', 'mirror', ''],
  ]);
});

test('a request that was answered on its way is told too', () => {
  const { history } = recorded();
  const sender = { by: 'controller-0', sentAt: 1 };
  history.answered({ method: 'GET', path: NODES, query: { watch: 'true' }, sender }, APISERVER, 429);
  expect(history.entries.slice(-1)).toEqual([
    { at: 7, kind: 'request', by: 'controller-0', verb: 'watch', resource: 'nodes', code: 429, isVain: false },
  ]);
});
