import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isServed } from '../../runtime/kube/discovery.ts';
import { Informer } from '../../runtime/kube/informer.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import { CRDS, definition, version } from './gadget.ts';

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
});
afterAll(() => cluster.stop());

/** A group that serves gizmos, and may serve gadgets besides: in a version that lists others. */
async function group() {
  const name = `${await cluster.namespace()}.example.com`;
  const gizmos = { names: { kind: 'Gizmo', plural: 'gizmos' }, versions: [version('v1', true), version('v2', false)] };
  await cluster.admin.create(CRDS, { ...definition(gizmos, name), metadata: { name: `gizmos.${name}` } });
  const path = `/apis/${name}/v2/gadgets`;
  const served = (signal?: AbortSignal): Promise<boolean> =>
    isServed(cluster.admin.transport, { group: name, version: 'v2', plural: 'gadgets' }, signal);
  // Objects of a version are served a moment before its document is.
  await eventually(() => served());
  return {
    path,
    isServed: served,
    define: () => cluster.admin.create(CRDS, definition({ scope: 'Cluster', versions: [version('v2', true)] }, name)),
    undefine: () => cluster.admin.delete(`${CRDS}/gadgets.${name}`),
    make: (gadget: string) =>
      eventually(() =>
        cluster.admin.create(path, {
          apiVersion: `${name}/v2`,
          kind: 'Gadget',
          metadata: { name: gadget },
          spec: { state: 'Idle' },
        }),
      ),
  };
}

describe('of a kind that is not defined', () => {
  test('a list and a watch are answered 404 in plain text, and only discovery says what that means', async () => {
    const { path, isServed: served, define } = await group();
    const notThere = { name: 'UnexpectedAnswerError', status: { code: 404 } };
    await expect(cluster.admin.list(path)).rejects.toMatchObject(notThere);
    const watched = async (): Promise<void> => {
      for await (const _ of cluster.admin.transport.watch({ path, query: { resourceVersion: '1' } })) return;
    };
    await expect(watched()).rejects.toMatchObject(notThere);
    expect(await served()).toBe(false);
    await define();
    await eventually(async () => expect(await served()).toBe(true));
  });

  test('an informer has no objects, until the definition comes, and again from when it goes', async () => {
    const { path, isServed: served, define, undefine, make } = await group();
    const informer = new Informer<KubeObject, string>({
      transport: cluster.admin.transport,
      path,
      project: ({ metadata }) => metadata.uid,
      optional: { isServed: served, retryMs: 50 },
      clock: systemClock,
      random: Math.random,
      logger: silentLogger,
    });
    const names = (): string[] => [...informer.items().keys()];
    const stop = new AbortController();
    const ended = informer.run(stop.signal);
    await informer.synced;
    expect(names()).toEqual([]);
    await define();
    await make('a');
    await eventually(() => expect(names()).toEqual(['a']));
    await undefine();
    await eventually(() => expect(names()).toEqual([]));
    await eventually(async () => expect(await served()).toBe(false));
    await define();
    await make('b');
    await eventually(() => expect(names()).toEqual(['b']));
    stop.abort();
    await ended;
  });
});
