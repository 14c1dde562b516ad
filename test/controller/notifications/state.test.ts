import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Memory } from '../../../runtime/controller/telling/notifications/memory.ts';
import { NOTHING } from '../../../runtime/controller/telling/notifications/memory.ts';
import { StateStore } from '../../../runtime/controller/telling/notifications/state.ts';
import type { ConfigMap } from '../../../runtime/kube/objects.ts';
import type { NotifierParts } from '../../../runtime/controller/telling/notifier.ts';
import type { Collection } from '../../../runtime/kube/collection.ts';
import { configMapsOf } from '../../../runtime/kube/resources.ts';
import { unlessAborted } from '../../../runtime/lib/abort.ts';
import { silentLogger } from '../../../runtime/lib/log.ts';
import { NOTIFICATIONS_STATE } from '../../../runtime/api/notifications/names.ts';
import { NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { Stage } from '../stage.ts';

let stage: Stage;
let configMaps: Collection<ConfigMap>;
let stop: AbortController;
let terms: Promise<unknown>[];

beforeEach(async () => {
  [stage, stop, terms] = [await Stage.with(), new AbortController(), []];
  configMaps = configMapsOf(stage.transport, NAMESPACE);
});
afterEach(async () => {
  stop.abort();
  await stage.end();
  await Promise.all(terms);
});

/** A process that leads, or believes so, and remembers that it has told this. */
async function leader(identity: string, more: Partial<NotifierParts> = {}) {
  const parts = { configMaps, clock: stage.clock, random: () => 0.5, logger: silentLogger, identity, ...more };
  const memory: Memory = { ...NOTHING, told: new Map([[identity, ['told', 1]]]) };
  const store = new StateStore(parts as NotifierParts, () => memory);
  const recalled = await store.recall(stop.signal);
  terms.push(store.keep(stop.signal));
  return { store, recalled };
}

/** Who has written what is remembered. */
async function author(): Promise<string | undefined> {
  const found = await configMaps.get(NOTIFICATIONS_STATE);
  return /told":{"(\w+)"/.exec(found?.data?.['state.json'] ?? '')?.[1];
}

test('what a leader has sent before its term was over undoes nothing of the next, and neither does it try again', async () => {
  const gate = Promise.withResolvers<void>();
  let isSlow = false;
  const slow: Pick<Collection<ConfigMap>, 'get' | 'create' | 'patch'> = {
    get: (name) => configMaps.get(name),
    create: (object) => configMaps.create(object),
    // It is on its way, whoever waits for it.
    patch: (name, patch, signal) => {
      const sent = isSlow ? gate.promise.then(() => configMaps.patch(name, patch)) : configMaps.patch(name, patch);
      return signal ? unlessAborted(sent, signal) : sent;
    },
  };
  const before = await leader('before', { configMaps: slow });
  isSlow = true;
  before.store.note();
  await stage.pass(1000);
  const { store, recalled } = await leader('next');
  expect(recalled?.memory.told).toBeUndefined();
  store.note();
  await stage.pass(1000);
  gate.resolve();
  await stage.pass(10_000);
  expect(await author()).toBe('next');
});

test('what others change in the ConfigMap keeps no leader from writing', async () => {
  const { store } = await leader('a');
  await configMaps.patch(NOTIFICATIONS_STATE, { metadata: { annotations: { x: 'y' } }, data: { 'test.json': '{}' } });
  store.note();
  await stage.pass(5000);
  expect(await author()).toBe('a');
});

test('the leader writes last, even if somebody has overwritten its memory', async () => {
  const { store } = await leader('a');
  await configMaps.patch(NOTIFICATIONS_STATE, { data: { leader: 'nobody' } });
  store.note();
  await stage.pass(60_000);
  expect(await author()).toBe('a');
});
