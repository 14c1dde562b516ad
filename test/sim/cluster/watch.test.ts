import { describe, expect, test } from '@jest/globals';
import { Client, NODES, node, settle, told, world } from './harness.ts';

const label = (value: string | null): object => ({ metadata: { labels: { role: value } } });

describe('a watch', () => {
  test('begins with all objects where it names no resourceVersion', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n2'));
    await admin.create(NODES, node('n1'));
    const watch = admin.watch(NODES);
    await settle();
    await admin.patch(`${NODES}/n1`, label('a'));
    await admin.delete(`${NODES}/n2`);
    await settle();
    expect(told(watch.events)).toEqual(['ADDED n1', 'ADDED n2', 'MODIFIED n1', 'DELETED n2']);
  });

  test('goes on from a resourceVersion without a gap', async () => {
    const { admin } = world();
    const { metadata } = await admin.create(NODES, node('n1'));
    await admin.patch(`${NODES}/n1`, label('a'));
    await admin.delete(`${NODES}/n1`);
    const watch = admin.watch(NODES, { resourceVersion: metadata.resourceVersion });
    await settle();
    expect(told(watch.events)).toEqual(['MODIFIED n1', 'DELETED n1']);
    const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual([1, 2].map((step) => Number(metadata.resourceVersion) + step));
  });

  test('shows what enters and what leaves a selection as added and deleted', async () => {
    const { admin } = world();
    const { metadata } = await admin.create(NODES, node('n1'));
    const watch = admin.watch(NODES, { labelSelector: 'role=a', resourceVersion: metadata.resourceVersion });
    for (const value of ['b', 'a', 'a', null]) await admin.patch(`${NODES}/n1`, label(value));
    await admin.delete(`${NODES}/n1`);
    await settle();
    expect(told(watch.events)).toEqual(['ADDED n1', 'DELETED n1']);
    expect(watch.events[1]?.object.metadata.labels).toEqual({ role: 'a' });
  });

  test('of one name hears nothing of the others', async () => {
    const { admin } = world();
    const watch = admin.watch(NODES, { fieldSelector: 'metadata.name=n2' });
    await settle();
    for (const name of ['n1', 'n2', 'n3']) await admin.create(NODES, node(name));
    await settle();
    expect(told(watch.events)).toEqual(['ADDED n2']);
  });

  test('of a namespace hears nothing of the others', async () => {
    const { admin } = world();
    const watch = admin.watch('/api/v1/namespaces/default/configmaps');
    await settle();
    for (const namespace of ['kube-system', 'default']) {
      await admin.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: namespace } });
    }
    await settle();
    expect(told(watch.events)).toEqual(['ADDED default']);
  });

  test('from before what is remembered is told 410 and ends', async () => {
    const { admin, cluster } = world();
    const { metadata } = await admin.create(NODES, node('n1'));
    await admin.patch(`${NODES}/n1`, label('a'));
    cluster.compact();
    const watch = admin.watch(NODES, { resourceVersion: metadata.resourceVersion });
    await settle();
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
    expect(watch.ended).toBe(true);
  });

  test('remembers no more than it is told to', async () => {
    const { admin } = world({ historyLimit: 5 });
    const { metadata } = await admin.create(NODES, node('n1'));
    for (let step = 0; step < 20; step++) await admin.patch(`${NODES}/n1`, label(`v${step}`));
    const watch = admin.watch(NODES, { resourceVersion: metadata.resourceVersion });
    await settle();
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
  });

  test('ends in time, with a bookmark for a client that asked for them', async () => {
    const { admin, clock } = world();
    await admin.create(NODES, node('n1'));
    const query = { timeoutSeconds: '90', allowWatchBookmarks: 'true' };
    const [marked, plain] = [admin.watch(NODES, query), admin.watch(NODES, { timeoutSeconds: '90' })];
    await clock.advance(60_000);
    const { metadata } = await admin.create('/api/v1/namespaces', { metadata: { name: 'other' } });
    await clock.advance(29_999);
    expect([marked.ended, plain.ended]).toEqual([false, false]);
    await clock.advance(1);
    expect([marked.ended, plain.ended]).toEqual([true, true]);
    expect(told(marked.events)).toEqual(['ADDED n1', 'BOOKMARK', 'BOOKMARK']);
    expect(marked.events.at(-1)?.object.metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(told(plain.events)).toEqual(['ADDED n1']);
  });

  test('marks the end of the initial events where that is asked for', async () => {
    const { admin } = world();
    await admin.create(NODES, node('n1'));
    const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
    const watch = admin.watch(NODES, query);
    await settle();
    expect(told(watch.events)).toEqual(['ADDED n1', 'BOOKMARK']);
    expect(watch.events[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
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

  test('sees what every other watch sees, in the same order', async () => {
    const { admin, cluster } = world();
    const watches = [
      admin.watch(NODES),
      new Client(cluster.transport({ username: 'root', groups: ['system:masters'] })).watch(NODES),
    ];
    await settle();
    await Promise.all(['n3', 'n1', 'n2'].map((name) => admin.create(NODES, node(name))));
    await settle();
    expect(told(watches[0]?.events ?? [])).toEqual(['ADDED n3', 'ADDED n1', 'ADDED n2']);
    expect(watches[1]?.events).toEqual(watches[0]?.events);
  });
});
