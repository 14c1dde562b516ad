import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { GoneError } from '../../runtime/kube/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { eventually } from '../contract/eventually.ts';
import { Tapped } from '../kube/world.ts';
import { seeded } from '../random.ts';
import { History } from './history.ts';

const TWO = ['blue', 'green'];

let ending: AbortController;
let admin: KubeTransport;
let tap: Tapped;
let history: History;
let watched: Promise<void>;

beforeEach(async () => {
  // Each pod needs a uid of its own.
  const cluster = new EmbeddedCluster({ clock: new VirtualClock(), random: seeded(1) });
  admin = cluster.transport(ADMIN);
  tap = new Tapped(admin);
  for (const namespace of TWO) {
    await create('/api/v1/namespaces', { kind: 'Namespace', metadata: { name: namespace } });
    const spec = { containers: [{ name: 'web', image: 'example.com/web:1' }] };
    await create(podsIn(namespace), { kind: 'Pod', metadata: { name: 'web', namespace }, spec });
  }
  history = new History();
  ending = new AbortController();
  watched = history.run(tap, ending.signal);
  await history.until(({ sightings }) => sightings.length === 2);
});

afterEach(async () => {
  ending.abort(new Error('the test is over'));
  await watched;
});

const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const create = (path: string, object: object): Promise<unknown> =>
  admin.request({ method: 'POST', path, body: { apiVersion: 'v1', ...object } });
const deleteGreen = (): Promise<unknown> =>
  admin.request({ method: 'DELETE', path: `${podsIn('green')}/web`, body: { gracePeriodSeconds: 0 } });
const namespaceOf = ({ metadata }: KubeObject): unknown => metadata.namespace;

async function greenIsGone(): Promise<void> {
  await history.until(({ pods }) => pods.size < 2);
  expect([...history.pods.values()].map(namespaceOf)).toEqual(['blue']);
  const gone = history.sightings.filter(({ gone: isGone }) => isGone);
  expect(gone.map(({ object }) => namespaceOf(object))).toEqual(['green']);
}

test('pods of one name in two namespaces are two', () => {
  expect([...history.pods.keys()]).toEqual(['blue/web', 'green/web']);
});

test('the end of one of them leaves the other', async () => {
  await deleteGreen();
  await greenIsGone();
});

test('so does an end that no watch told of', async () => {
  await eventually(() => expect(tap.watches.map(({ path }) => path)).toContain('/api/v1/pods'));
  tap.cut(new GoneError('watch', { code: 410, reason: 'Expired' }));
  await deleteGreen();
  await greenIsGone();
  expect(tap.requests.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(2);
});
