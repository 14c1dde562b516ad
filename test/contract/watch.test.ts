import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listNames, refusal, told } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

/** Secrets: of every other kind with labels a namespace has some of its own. */
const secrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;
const named = (name: string, labels: object = {}): object => ({ metadata: { name, labels } });

/** The one kind that an API server keeps no memory of: it asks its store each time. */
function event(path: string, name: string): object {
  const [namespace = ''] = /(?<=namespaces\/)[^/]+/.exec(path) ?? [];
  return {
    metadata: { name },
    involvedObject: { kind: 'Secret', name, namespace },
    reason: 'Seen',
    message: name,
    type: 'Normal',
  };
}

async function filled(...names: string[]): Promise<string> {
  const path = secrets(await cluster.namespace());
  for (const name of names) await cluster.admin.create(path, named(name));
  return path;
}

describe('a list', () => {
  test('in pages shows the moment of its first page, in order', async () => {
    const path = await filled('e', 'd', 'c', 'b', 'a');
    const first = await cluster.admin.list(path, { limit: '2' });
    await cluster.admin.delete(`${path}/d`);
    const second = await cluster.admin.list(path, { limit: '2', continue: first.metadata.continue ?? '' });
    const third = await cluster.admin.list(path, { limit: '2', continue: second.metadata.continue ?? '' });
    expect([first, second, third].map(listNames)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(first.metadata.remainingItemCount).toBe(3);
    expect(third.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(third.metadata.continue).toBeUndefined();
  });

  test('that goes on from nonsense is a bad request', async () => {
    expect(await refusal(cluster.admin.list(await filled(), { continue: 'rubbish' }))).toMatchObject({ code: 400 });
  });

  test('that goes on after its moment was compacted is 410', async () => {
    const path = `/api/v1/namespaces/${await cluster.namespace()}/events`;
    for (const name of ['a', 'b', 'c']) await cluster.admin.create(path, event(path, name));
    const first = await cluster.admin.list(path, { limit: '1' });
    await cluster.admin.create(path, event(path, 'd'));
    await cluster.compact();
    const goOn = cluster.admin.list(path, { limit: '1', continue: first.metadata.continue ?? '' });
    expect(await refusal(goOn)).toMatchObject({ code: 410, reason: 'Expired' });
    expect(listNames(await cluster.admin.list(path))).toEqual(['a', 'b', 'c', 'd']);
  });

  test.each([
    ['role=web', ['a']],
    ['role==web', ['a']],
    ['tier>1', ['b']],
    ['', ['a', 'b', 'c']],
    ['role!=web', ['b', 'c']],
    ['role in (web,db)', ['a', 'b']],
    ['role notin (web)', ['b', 'c']],
    ['role', ['a', 'b']],
    ['!role', ['c']],
    ['role=web,tier=2', []],
  ])('selects by label %s', async (labelSelector, names) => {
    const path = secrets(await cluster.namespace());
    await cluster.admin.create(path, named('a', { role: 'web' }));
    await cluster.admin.create(path, named('b', { role: 'db', tier: '2' }));
    await cluster.admin.create(path, named('c'));
    expect(listNames(await cluster.admin.list(path, { labelSelector }))).toEqual(names);
  });

  test('of all namespaces is in their order, and says of what kind it is', async () => {
    const [one, two] = [await cluster.namespace(), await cluster.namespace()].toSorted();
    const role = one!;
    for (const namespace of [two!, one!])
      for (const name of ['b', 'a']) await cluster.admin.create(secrets(namespace), named(name, { role }));
    const all = await cluster.admin.list('/api/v1/secrets', { labelSelector: `role=${role}` });
    expect(all.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      `${one}/a`,
      `${one}/b`,
      `${two}/a`,
      `${two}/b`,
    ]);
    expect(all).toMatchObject({ kind: 'SecretList', apiVersion: 'v1' });
    const newest = Math.max(...all.items.map(({ metadata }) => Number(metadata.resourceVersion)));
    expect(Number(all.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest);
  });

  test.each([
    ['spec.nodeName!=', ['a', 'b']],
    ['spec.nodeName=', ['c']],
    ['spec.nodeName!=,status.phase!=Running', ['b']],
    ['metadata.name=b', ['b']],
    ['metadata.name!=b,spec.nodeName!=', ['a']],
  ])('selects pods by %s', async (fieldSelector, names) => {
    const path = `/api/v1/namespaces/${await cluster.namespace()}/pods`;
    const spec = { containers: [{ name: 'main', image: 'web' }] };
    for (const name of ['a', 'b'])
      await cluster.admin.create(path, { metadata: { name }, spec: { ...spec, nodeName: cluster.node } });
    await cluster.admin.create(path, { metadata: { name: 'c' }, spec });
    await cluster.admin.patch(`${path}/a/status`, { status: { phase: 'Running' } });
    expect(listNames(await cluster.admin.list(path, { fieldSelector }))).toEqual(names);
  });

  test('of Events selects what they are about, and who has written them', async () => {
    const path = `/api/v1/namespaces/${await cluster.namespace()}/events`;
    for (const name of ['a', 'b']) await cluster.admin.create(path, event(path, name));
    const fieldSelector = 'involvedObject.kind=Secret,involvedObject.name=b,type=Normal,reason=Seen';
    expect(listNames(await cluster.admin.list(path, { fieldSelector }))).toEqual(['b']);
    await cluster.admin.create(path, { ...event(path, 'c'), reportingComponent: 'brupop-controller' });
    const ours = { fieldSelector: 'reportingComponent=brupop-controller' };
    expect(listNames(await cluster.admin.list(path, ours))).toEqual(['c']);
  });

  test('selects by field, and refuses fields that nobody keeps', async () => {
    const path = await filled('a', 'b');
    expect(listNames(await cluster.admin.list(path, { fieldSelector: 'metadata.name=b' }))).toEqual(['b']);
    expect(await refusal(cluster.admin.list(path, { fieldSelector: 'spec.colour=red' }))).toMatchObject({ code: 400 });
    for (const query of [{ labelSelector: '=,' }, { labelSelector: 'a=b=c' }, { fieldSelector: 'name' }])
      expect(await refusal(cluster.admin.list(path, query))).toMatchObject({ code: 400 });
  });
});

describe('pods of a node', () => {
  const fieldSelector = (): string => `spec.nodeName=${cluster.node}`;
  const pod = (name: string, nodeName?: string): object => ({
    metadata: { name },
    spec: { nodeName, containers: [{ name: 'main', image: 'web' }] },
  });

  test('are what a list and a watch of its name select', async () => {
    const path = `/api/v1/namespaces/${await cluster.namespace()}/pods`;
    await cluster.admin.create(path, pod('here', cluster.node));
    await cluster.admin.create(path, pod('nowhere'));
    const listed = await cluster.admin.list(path, { fieldSelector: fieldSelector() });
    expect(listNames(listed)).toEqual(['here']);
    const query = { fieldSelector: fieldSelector(), resourceVersion: listed.metadata.resourceVersion };
    const watch = cluster.admin.watch(path, query);
    await cluster.admin.patch(`${path}/nowhere`, { metadata: { labels: { a: 'b' } } });
    const target = { kind: 'Node', name: cluster.node };
    await cluster.admin.create(`${path}/nowhere/binding`, { metadata: { name: 'nowhere' }, target });
    await cluster.admin.delete(`${path}/here`, { gracePeriodSeconds: 0 });
    const comeAndGone = (): string[] => told(watch.events).filter((line) => !line.startsWith('MODIFIED'));
    await eventually(() => expect(comeAndGone()).toEqual(['ADDED nowhere', 'DELETED here']));
    watch.stop();
  });
});

describe('a watch', () => {
  test('begins with all objects where it names no resourceVersion', async () => {
    const path = await filled('b', 'a');
    const watch = cluster.admin.watch(path);
    await eventually(() => expect(told(watch.events).toSorted()).toEqual(['ADDED a', 'ADDED b']));
    await cluster.admin.patch(`${path}/a`, { metadata: { labels: { x: 'y' } } });
    await cluster.admin.delete(`${path}/b`);
    await eventually(() => expect(told(watch.events.slice(2))).toEqual(['MODIFIED a', 'DELETED b']));
    watch.stop();
  });

  test('goes on from a resourceVersion without a gap, deletions with a version of their own', async () => {
    const path = await filled('a');
    const { metadata } = await cluster.admin.get(`${path}/a`);
    await cluster.admin.patch(`${path}/a`, { metadata: { labels: { x: 'y' } } });
    await cluster.admin.delete(`${path}/a`);
    const watch = cluster.admin.watch(path, { resourceVersion: metadata.resourceVersion });
    await eventually(() => expect(told(watch.events)).toEqual(['MODIFIED a', 'DELETED a']));
    const [modified, deleted] = watch.events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(deleted).toBeGreaterThan(modified ?? 0);
    watch.stop();
  });

  test('shows what enters and leaves a selection as added and deleted', async () => {
    const path = await filled('a');
    const { metadata } = await cluster.admin.list(path);
    const query = { labelSelector: 'role=web', resourceVersion: metadata.resourceVersion };
    const watch = cluster.admin.watch(path, query);
    for (const role of ['db', 'web', 'web', null])
      await cluster.admin.patch(`${path}/a`, { metadata: { labels: { role } } });
    await eventually(() => expect(told(watch.events)).toEqual(['ADDED a', 'DELETED a']));
    expect(watch.events[1]?.object.metadata.labels).toEqual({ role: 'web' });
    watch.stop();
  });

  test('hears of its own namespace alone, and everybody hears the same in the same order', async () => {
    const path = await filled();
    const watches = [cluster.admin.watch(path), cluster.admin.watch(path)];
    const elsewhere = await filled();
    for (const [at, name] of [
      [path, 'b'],
      [elsewhere, 'c'],
      [path, 'a'],
    ] as const)
      await cluster.admin.create(at, named(name));
    for (const { events } of watches) await eventually(() => expect(told(events)).toEqual(['ADDED b', 'ADDED a']));
    for (const watch of watches) watch.stop();
  });

  test('marks the end of the initial events where that is asked for', async () => {
    const path = await filled('a');
    const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
    const watch = cluster.admin.watch(path, query);
    await eventually(() => expect(told(watch.events)).toEqual(['ADDED a', 'BOOKMARK']));
    expect(watch.events[1]?.object.metadata.annotations).toMatchObject({ 'k8s.io/initial-events-end': 'true' });
    watch.stop();
  });

  test('ends in time, with a bookmark for a client that asked for them', async () => {
    const path = await filled('a');
    const watch = cluster.admin.watch(path, { timeoutSeconds: '3', allowWatchBookmarks: 'true' });
    const { metadata } = await cluster.admin.create(secrets(await cluster.namespace()), named('elsewhere'));
    await eventually(() => expect(watch.ended).toBe(true));
    expect(new Set(told(watch.events))).toEqual(new Set(['ADDED a', 'BOOKMARK']));
    const bookmark = Number(watch.events.at(-1)?.object.metadata.resourceVersion);
    expect(bookmark).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
  });
});
