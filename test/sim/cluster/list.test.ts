import { describe, expect, test } from '@jest/globals';
import { type Client, listNames, NODES, node, PODS, refusal, world } from './harness.ts';

async function fill(client: Client, names: readonly string[]): Promise<void> {
  for (const name of names) await client.create(NODES, node(name));
}

describe('a list', () => {
  test('is sorted by namespace and name and says when it was made', async () => {
    const { admin } = world();
    for (const place of ['kube-system', 'default']) {
      for (const name of ['b', 'a'])
        await admin.create(`/api/v1/namespaces/${place}/configmaps`, { metadata: { name } });
    }
    const all = await admin.list('/api/v1/configmaps');
    expect(all.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'default/a',
      'default/b',
      'kube-system/a',
      'kube-system/b',
    ]);
    expect(all).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    const newest = Math.max(...all.items.map(({ metadata }) => Number(metadata.resourceVersion)));
    expect(Number(all.metadata.resourceVersion)).toBe(newest);
  });

  test('in pages shows the moment of its first page', async () => {
    const { admin } = world();
    await fill(admin, ['n1', 'n2', 'n3', 'n4', 'n5']);
    const first = await admin.list(NODES, { limit: '2' });
    await admin.delete(`${NODES}/n4`);
    await admin.create(NODES, node('n0'));
    const second = await admin.list(NODES, { limit: '2', continue: first.metadata.continue ?? '' });
    const third = await admin.list(NODES, { limit: '2', continue: second.metadata.continue ?? '' });
    expect([first, second, third].map(listNames)).toEqual([['n1', 'n2'], ['n3', 'n4'], ['n5']]);
    expect(first.metadata.remainingItemCount).toBe(3);
    expect(third.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
  });

  test('that was begun before a compaction has to be begun again', async () => {
    const { admin, cluster } = world();
    await fill(admin, ['n1', 'n2']);
    const first = await admin.list(NODES, { limit: '1' });
    cluster.compact();
    const rest = admin.list(NODES, { limit: '1', continue: first.metadata.continue ?? '' });
    expect(await refusal(rest)).toMatchObject({ code: 410, reason: 'Expired' });
    expect(await refusal(admin.list(NODES, { continue: 'rubbish' }))).toMatchObject({ code: 400 });
  });

  test('of a moment that has not come is refused', async () => {
    const { admin } = world();
    expect(await refusal(admin.list(NODES, { resourceVersion: '9999' }))).toMatchObject({ code: 504 });
  });
});

describe('selectors', () => {
  const LABELS = { a: { role: 'web', tier: '1' }, b: { role: 'db', tier: '2' }, c: {} };

  test.each([
    ['role=web', ['a']],
    ['role==web', ['a']],
    ['role!=web', ['b', 'c']],
    ['role in (web,db),tier=2', ['b']],
    ['role notin (web)', ['b', 'c']],
    ['role', ['a', 'b']],
    ['!role', ['c']],
    ['tier>1', ['b']],
    ['', ['a', 'b', 'c']],
  ])('labels: %s', async (labelSelector, expected) => {
    const { admin } = world();
    for (const [name, labels] of Object.entries(LABELS)) await admin.create(NODES, { metadata: { name, labels } });
    expect(listNames(await admin.list(NODES, { labelSelector }))).toEqual(expected);
  });

  test.each([
    ['spec.nodeName=n1', ['a', 'b']],
    ['spec.nodeName!=n1', ['c']],
    ['spec.nodeName=', ['c']],
    ['spec.nodeName=n1,status.phase!=Running', ['b']],
    ['metadata.name=b', ['b']],
    ['metadata.namespace=default,metadata.name!=b', ['a', 'c']],
  ])('fields: %s', async (fieldSelector, expected) => {
    const { admin } = world();
    for (const name of ['a', 'b']) await admin.create(PODS, { metadata: { name }, spec: { nodeName: 'n1' } });
    await admin.create(PODS, { metadata: { name: 'c' }, spec: {} });
    await admin.patch(`${PODS}/a/status`, { status: { phase: 'Running' } });
    expect(listNames(await admin.list(PODS, { fieldSelector }))).toEqual(expected);
  });

  test('events are found by what they are about', async () => {
    const { admin } = world();
    const events = '/api/v1/namespaces/default/events';
    for (const name of ['n1', 'n2']) {
      const involvedObject = { kind: 'Node', name, uid: `uid-${name}` };
      await admin.create(events, { metadata: { name: `e-${name}` }, involvedObject, type: 'Warning', reason: 'Held' });
    }
    const fieldSelector = 'involvedObject.kind=Node,involvedObject.name=n2,type=Warning,reason=Held';
    expect(listNames(await admin.list(events, { fieldSelector }))).toEqual(['e-n2']);
  });

  test('that nobody understands are a bad request', async () => {
    const { admin } = world();
    for (const query of [{ fieldSelector: 'spec.colour=red' }, { labelSelector: 'a=b=c' }, { fieldSelector: 'name' }]) {
      expect(await refusal(admin.list(NODES, query))).toMatchObject({ code: 400 });
    }
  });

  test('a whole selection is deleted at once', async () => {
    const { admin } = world();
    for (const [name, labels] of Object.entries(LABELS)) await admin.create(NODES, { metadata: { name, labels } });
    await admin.delete(NODES, undefined, { labelSelector: 'role' });
    expect(listNames(await admin.list(NODES))).toEqual(['c']);
  });
});
