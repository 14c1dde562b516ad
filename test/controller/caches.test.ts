import { expect, test } from '@jest/globals';
import { Caches } from '../../runtime/controller/seeing/caches.ts';
import { shadowsPath } from '../../runtime/api/resources.ts';
import { NAMESPACES_PATH } from '../../runtime/kube/resources.ts';
import { Expectations } from '../../runtime/controller/seeing/expectations.ts';
import { Freshness } from '../../runtime/controller/seeing/freshness.ts';
import { momentOf } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { API_VERSION, KIND, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { createNode, random, world } from '../kube/world.ts';
import { shadowCrd } from '../shadow-crd.ts';
import { config } from './stage.ts';

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };

/** Caches of a cluster with one node, filled, and how often they have asked for the time. */
async function filled() {
  const { clock, admin, tap } = world();
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await admin.request({ method: 'POST', path: crds, body: shadowCrd() });
  await createNode(admin, 'n0');
  let asked = 0;
  const counted = {
    now: () => {
      asked++;
      return clock.now();
    },
    monotonic: () => clock.monotonic(),
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
  };
  const expectations = new Expectations({ clock });
  const freshness = new Freshness({ clock: counted, config: config() });
  const parts = { random, logger: silentLogger, expectations, freshness };
  const caches = new Caches({ ...parts, transport: tap(), namespace: NAMESPACE, clock: counted });
  const stop = new AbortController();
  const ended = caches.run(stop.signal);
  await clock.advance(2000);
  const end = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  return { caches, clock, admin, expectations, asked: () => asked, end };
}

test('many changes are observed together, because each observation is of the whole fleet', async () => {
  const { caches, clock, admin, asked, end } = await filled();
  const before = asked();
  for (let index = 1; index <= 100; index++) await createNode(admin, `n${index}`);
  await clock.advance(0);
  expect(asked() - before).toBeLessThan(10);
  expect(caches.look(momentOf(clock), []).nodes).toHaveLength(101);
  await end();
});

test('a change that nobody asks about is observed within two seconds', async () => {
  const { caches, clock, admin, end } = await filled();
  for (const status of ['True', 'False', 'True'] as const) {
    await admin.request({
      method: 'PATCH',
      path: '/api/v1/nodes/n0/status',
      body: { status: { conditions: [{ type: 'Ready', status }] } },
      contentType: 'application/merge-patch+json',
    });
    await clock.advance(500);
  }
  const changed = clock.now();
  await clock.advance(600_000);
  expect(caches.look(momentOf(clock), []).nodes).toMatchObject([{ ready: true }]);
  expect(caches.look(momentOf(clock), []).nodes[0]?.readinessSeenAt).toBeLessThanOrEqual(changed + 2000);
  await end();
});

test('a shadow that has not changed is the same object at each look, until the view of it is known to be stale', async () => {
  const { caches, clock, admin, expectations, end } = await filled();
  await admin.request({ method: 'POST', path: NAMESPACES_PATH, body: namespace });
  const body = { apiVersion: API_VERSION, kind: KIND, metadata: { name: 'brs-n0' }, spec: { state: 'Idle' } };
  await admin.request({ method: 'POST', path: shadowsPath(NAMESPACE), body });
  await clock.advance(2000);
  const [shadow] = caches.look(momentOf(clock), []).shadows;
  await createNode(admin, 'n1');
  await clock.advance(2000);
  expect(caches.look(momentOf(clock), []).shadows[0]).toBe(shadow);
  expectations.written('brs-n0', String(Number(shadow?.resourceVersion) + 100));
  expect([shadow?.stale, caches.look(momentOf(clock), []).shadows[0]?.stale]).toEqual([false, true]);
  await end();
});
