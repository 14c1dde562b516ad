import { describe, expect, test } from '@jest/globals';
import { shadowsOf } from '../../runtime/api/resources.ts';
import { isAsNewAs, type KubeList, type KubeObject, type Pod } from '../../runtime/kube/objects.ts';
import { crdsOf, onNode, podsOf } from '../../runtime/kube/resources.ts';
import { ConflictError, NotFoundError, UnreachableError } from '../../runtime/kube/errors.ts';
import { type EvictionResult, evictionPort } from '../../runtime/kube/evictions.ts';
import { eventRecorder } from '../../runtime/kube/event-recorder.ts';
import { collectionPath, objectPath } from '../../runtime/kube/paths.ts';
import { tokenReviewPort } from '../../runtime/kube/reviews.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { world } from './world.ts';
import { shadowCrd } from '../shadow-crd.ts';

async function post<T>(admin: KubeTransport, path: string, body: object): Promise<T> {
  return (await admin.request({ method: 'POST', path, body })) as T;
}

function createPod(admin: KubeTransport, name: string, nodeName = 'n1'): Promise<Pod> {
  return post(admin, '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
  });
}

test('an eviction of a pod that is not there, or whose name another has taken, says that it is gone', async () => {
  const { admin } = world();
  const { metadata } = await createPod(admin, 'p1');
  const evictions = evictionPort(admin);
  const evict = (name: string, uid: string): Promise<EvictionResult> =>
    evictions.evict({ namespace: 'default', name, uid });
  expect([await evict('p1', 'older'), await evict('p2', metadata.uid)]).toEqual([{ kind: 'gone' }, { kind: 'gone' }]);
  const left = await podsOf(admin, 'default').get('p1');
  expect(left?.metadata.deletionTimestamp).toBeUndefined();
});

test('pods are listed by node and label, in all namespaces or one', async () => {
  const { admin } = world();
  await createPod(admin, 'a');
  await createPod(admin, 'b');
  await createPod(admin, 'c', 'n2');
  const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);
  expect(names(await podsOf(admin).list({ fieldSelector: onNode('n1') }))).toEqual(['a', 'b']);
  expect(names(await podsOf(admin, 'default').list({ labelSelector: 'app=c' }))).toEqual(['c']);
  expect(names(await podsOf(admin, 'other').list())).toEqual([]);
});

describe('shadows', () => {
  async function shadows() {
    const { admin } = world();
    await post(admin, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', shadowCrd());
    const port = shadowsOf(admin, 'default');
    const created = await port.create({
      apiVersion: 'brupop.bottlerocket.aws/v2',
      kind: 'BottlerocketShadow',
      metadata: { name: 'brs-n1' },
      spec: { state: 'Idle' },
    });
    return { admin, port, created };
  }
  const status = { current_version: '1.0.0', target_version: '1.0.0', current_state: 'Idle', crash_count: 0 };

  test('are created, listed, and patched in spec and status apart; of one that is not there, a look is undefined and a patch fails', async () => {
    const { port } = await shadows();
    await expect(port.get('none')).resolves.toBeUndefined();
    await expect(port.patch('none', {})).rejects.toThrow(NotFoundError);
    await port.patch('brs-n1', { spec: { version: '1.1.0' }, status });
    await port.patchStatus('brs-n1', { spec: { version: '9.9.9' }, status });
    expect(await port.list()).toMatchObject([{ spec: { state: 'Idle', version: '1.1.0' }, status }]);
  });

  test('a status on an older view is a conflict', async () => {
    const { port, created } = await shadows();
    const { resourceVersion } = created.metadata;
    await port.patch('brs-n1', { spec: { version: '1.1.0' } });
    const late = port.patchStatus('brs-n1', { metadata: { resourceVersion }, status });
    await expect(late).rejects.toThrow(ConflictError);
  });

  test('one that replaced another under its name is not deleted for it', async () => {
    const { port, created } = await shadows();
    await expect(port.delete('brs-n1', { uid: 'older' })).rejects.toThrow(ConflictError);
    await port.delete('brs-n1', { uid: created.metadata.uid });
    await expect(port.get('brs-n1')).resolves.toBeUndefined();
    await expect(port.delete('brs-n1', { uid: created.metadata.uid })).rejects.toThrow(NotFoundError);
  });

  test('their CRD says in which versions they are stored', async () => {
    const { admin } = await shadows();
    const crds = crdsOf(admin);
    const crd = await crds.get('bottlerocketshadows.brupop.bottlerocket.aws');
    if (!crd) throw new Error('no CRD');
    await crds.patchStatus(crd.metadata.name, { status: { storedVersions: ['v2'] } });
    await expect(crds.get(crd.metadata.name)).resolves.toMatchObject({ status: { storedVersions: ['v2'] } });
  });
});

describe('token reviews', () => {
  test('a token is known by its user, in its audience only', async () => {
    const { admin } = world();
    const account = '/api/v1/namespaces/default/serviceaccounts';
    await post(admin, account, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'agent' } });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['ours'] } };
    const issued = await post<{ status: { token: string } }>(admin, `${account}/agent/token`, request);
    const reviews = tokenReviewPort(admin);
    await expect(reviews.review(issued.status.token, 'ours')).resolves.toMatchObject({
      authenticated: true,
      audiences: ['ours'],
      user: { username: 'system:serviceaccount:default:agent' },
    });
    expect((await reviews.review(issued.status.token, 'theirs')).authenticated ?? false).toBe(false);
    expect((await reviews.review('nonsense', 'ours')).authenticated ?? false).toBe(false);
  });
});

describe('events', () => {
  const regarding = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
  const halted = { regarding, type: 'Warning', reason: 'RolloutHalted', message: 'two nodes failed' } as const;
  const written = async (admin: KubeTransport) =>
    ((await admin.request({ method: 'GET', path: '/api/v1/namespaces/default/events' })) as KubeList<KubeObject>).items;

  test('the same one again counts up, another one stands beside it, a forgotten one comes anew', async () => {
    const { admin, clock } = world();
    const options = { component: 'brupop-controller', instance: 'pod-1', clock, logger: silentLogger };
    const events = eventRecorder(admin, options);
    await events.record(halted);
    await clock.advance(60_000);
    await events.record(halted);
    await events.record({ ...halted, message: 'three nodes failed' });
    const [first, second] = await written(admin);
    expect(first).toMatchObject({
      involvedObject: regarding,
      reason: 'RolloutHalted',
      count: 2,
      type: 'Warning',
    });
    expect(first).toMatchObject({ firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:01:00Z' });
    expect(second).toMatchObject({
      message: 'three nodes failed',
      count: 1,
      source: { component: 'brupop-controller' },
    });
    const path = '/api/v1/namespaces/default/events';
    await admin.request({ method: 'DELETE', path: `${path}/${first?.metadata.name}` });
    await events.record(halted);
    expect(await written(admin)).toHaveLength(2);
  });

  test('of one occasion there is one, whichever process tells of it', async () => {
    const { admin, clock } = world();
    const lost = { ...halted, reason: 'NotReturned', occasion: 'notreturned.18c' };
    for (const instance of ['pod-1', 'pod-1', 'pod-2']) {
      const events = eventRecorder(admin, { component: 'brupop-controller', instance, clock, logger: silentLogger });
      expect([await events.record(lost), await events.record(lost)]).toEqual([true, true]);
    }
    expect(await written(admin)).toMatchObject([{ metadata: { name: 'n1.notreturned.18c' }, count: 1 }]);
    const events = eventRecorder(admin, { component: 'c', instance: 'i', clock, logger: silentLogger });
    await events.record({ ...lost, occasion: 'notreturned.18d' });
    expect(await written(admin)).toHaveLength(2);
  });

  test('one that cannot be written fails nobody', async () => {
    const { clock, tap } = world();
    const transport = tap();
    transport.before = () => {
      throw new UnreachableError('refused');
    };
    const options = { component: 'c', instance: 'i', clock, logger: silentLogger };
    await expect(eventRecorder(transport, options).record(halted)).resolves.toBe(false);
    expect(transport.requests).toHaveLength(1);
  });
});

describe('paths', () => {
  test('a name cannot lead elsewhere', () => {
    const nodes = collectionPath({ version: 'v1', plural: 'nodes' });
    expect(objectPath(nodes, 'n1/../../secrets?x')).toBe('/api/v1/nodes/n1%2F..%2F..%2Fsecrets%3Fx');
    for (const name of ['', '.', '..']) expect(() => objectPath(nodes, name)).toThrow(RangeError);
  });
});

test.each([
  ['10', '9', true],
  ['9', '10', false],
  ['9007199254740993', '9007199254740992', true],
  ['9007199254740992', '9007199254740993', false],
  [undefined, '1', false],
  ['abc', 'abc', true],
  ['abc', '1', false],
])('version %s is as new as %s: %s', (seen, wanted, expected) => {
  expect(isAsNewAs(seen, wanted)).toBe(expected);
});
