import { describe, expect, test } from '@jest/globals';
import { Informer } from '../../runtime/kube/informer.ts';
import { apiStatusError, UnreachableError } from '../../runtime/kube/errors.ts';
import { PAGE_SIZE } from '../../runtime/kube/collection.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import { listAndWatch } from '../../runtime/kube/reflector.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { createNode, deleteNode, patchNode, random, type Tapped, world } from './world.ts';

const gone = () => apiStatusError('WATCH /api/v1/nodes', { code: 410, reason: 'Expired' });

interface Seen {
  readonly cordoned: boolean;
}

const seen = (node: Node): Seen => ({ cordoned: node.spec?.unschedulable === true });

interface Watched {
  readonly keepsDeleted?: number;
  readonly query?: Record<string, string>;
  readonly project?: (node: Node) => Seen;
  readonly currentForMs?: number;
}

function start(
  transport: Tapped,
  clock: ReturnType<typeof world>['clock'],
  { query = {}, project = seen, currentForMs, keepsDeleted = 0 }: Watched = {},
) {
  const current: number[] = [];
  const limits = { ...(currentForMs !== undefined && { currentForMs }), onCurrent: (at: number) => current.push(at) };
  const parts = { transport, path: NODES_PATH, query, project, clock, random, logger: silentLogger };
  const options = { ...parts, keepsDeleted, ...limits };
  const cache = new Informer<Node, Seen>(options);
  const stop = new AbortController();
  let changes = 0;
  cache.onChange(() => changes++);
  const ended = cache.run(stop.signal);
  return { cache, stop, ended, changes: () => changes, current };
}

const names = (cache: { items(): ReadonlyMap<string, unknown> }) => [...cache.items().keys()].toSorted();

describe('a cache', () => {
  test('holds the projection of each object, as it is now', async () => {
    const { clock, admin, tap } = world();
    await createNode(admin, 'n1');
    const { cache } = start(tap(), clock);
    await clock.advance(0);
    await cache.synced;
    await createNode(admin, 'n2');
    await patchNode(admin, 'n1', { spec: { unschedulable: true } });
    await clock.advance(0);
    expect([...cache.items()]).toEqual([
      ['n1', { cordoned: true }],
      ['n2', { cordoned: false }],
    ]);
    await deleteNode(admin, 'n1');
    await clock.advance(0);
    expect(names(cache)).toEqual(['n2']);
  });

  test('tells what was deleted last as it was then, until a list may have missed something', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    const { cache } = start(transport, clock, { keepsDeleted: 2 });
    for (const name of ['n1', 'n2', 'n3']) await createNode(admin, name);
    await clock.advance(0);
    await patchNode(admin, 'n3', { spec: { unschedulable: true } });
    for (const name of ['n1', 'n2', 'n3']) await deleteNode(admin, name);
    await createNode(admin, 'n3');
    await clock.advance(0);
    expect(cache.deleted).toEqual([{ cordoned: false }, { cordoned: true }]);
    cache.relist();
    await clock.advance(0);
    expect(cache.deleted).toEqual([]);
  });

  test('lets go what a list brought while it waits for the next change', async () => {
    const { clock, admin, tap } = world();
    await createNode(admin, 'n1');
    const stop = new AbortController();
    const options = { transport: tap(), path: NODES_PATH, project: seen, clock, random };
    const changes = listAndWatch<Node, Seen>(options, stop.signal);
    const { value: listed } = await changes.next();
    expect(listed).toMatchObject({ kind: 'replaced', items: [{ key: 'n1' }] });
    const next = changes.next();
    await clock.advance(0);
    expect(listed).toMatchObject({ kind: 'replaced', items: [] });
    stop.abort();
    await next;
  });

  test('reads a large collection in pages', async () => {
    const { clock, admin, tap } = world();
    const count = 2 * PAGE_SIZE + 1;
    for (let i = 0; i < count; i++) await createNode(admin, `n${i}`);
    const transport = tap();
    const { cache } = start(transport, clock);
    await clock.advance(0);
    expect(cache.items().size).toBe(count);
    expect(transport.requests).toHaveLength(3);
  });

  test('follows only what its selector selects', async () => {
    const { clock, admin, tap } = world();
    await createNode(admin, 'n1', { managed: 'yes' });
    await createNode(admin, 'n2');
    const { cache } = start(tap(), clock, { query: { labelSelector: 'managed=yes' } });
    await clock.advance(0);
    expect(names(cache)).toEqual(['n1']);
    await patchNode(admin, 'n1', { metadata: { labels: { managed: null } } });
    await patchNode(admin, 'n2', { metadata: { labels: { managed: 'yes' } } });
    await clock.advance(0);
    expect(names(cache)).toEqual(['n2']);
  });

  test('a change that no reader sees wakes nobody', async () => {
    const { clock, admin, tap } = world();
    await createNode(admin, 'n1');
    const { changes } = start(tap(), clock);
    await clock.advance(0);
    const before = changes();
    await patchNode(admin, 'n1', { metadata: { annotations: { beat: '1' } } });
    await clock.advance(0);
    expect(changes()).toBe(before);
    await patchNode(admin, 'n1', { spec: { unschedulable: true } });
    await clock.advance(0);
    expect(changes()).toBe(before + 1);
  });

  test('goes on where a broken watch ended, without another list', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    const { cache } = start(transport, clock);
    await clock.advance(0);
    const { metadata } = await createNode(admin, 'n1');
    await clock.advance(0);
    transport.cut(new UnreachableError('reset'));
    await createNode(admin, 'n2');
    await clock.advance(1000);
    expect(names(cache)).toEqual(['n1', 'n2']);
    expect(transport.requests).toHaveLength(1);
    expect(transport.watches).toHaveLength(2);
    expect(transport.watches[1]?.query).toMatchObject({ resourceVersion: metadata.resourceVersion });
  });

  test('takes in later what it could not take in at once', async () => {
    const { clock, admin, tap } = world();
    let broken = true;
    const project = (node: Node): Seen => {
      if (broken) throw new TypeError('cannot read');
      return seen(node);
    };
    const { cache } = start(tap(), clock, { project });
    await clock.advance(0);
    await createNode(admin, 'n1');
    await clock.advance(1000);
    expect(names(cache)).toEqual([]);
    broken = false;
    await clock.advance(60_000);
    expect(names(cache)).toEqual(['n1']);
  });

  test('lists again where its version is too old, and misses neither what came nor what went', async () => {
    const { clock, admin, tap } = world();
    await createNode(admin, 'n1');
    await createNode(admin, 'n2');
    const transport = tap();
    const { cache } = start(transport, clock);
    await clock.advance(0);
    await patchNode(admin, 'n2', { metadata: { labels: { a: 'b' } } });
    await clock.advance(0);
    await deleteNode(admin, 'n1').then(() => transport.cut(gone()));
    await createNode(admin, 'n3');
    await clock.advance(0);
    expect(names(cache)).toEqual(['n2', 'n3']);
    expect(transport.requests).toHaveLength(2);
  });

  test('an outage of an hour costs few requests, and ends with what is true then', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    const { cache, stop } = start(transport, clock);
    transport.before = () => {
      // Without pauses it would never end.
      if (transport.requests.length > 1000) stop.abort();
      throw new UnreachableError('refused');
    };
    await clock.advance(3_600_000);
    expect(transport.requests.length).toBeLessThan(140);
    expect(cache.items().size).toBe(0);
    await createNode(admin, 'n1');
    transport.before = () => undefined;
    await clock.advance(40_000);
    expect(names(cache)).toEqual(['n1']);
  });

  test('asks for bookmarks and long watches, and ends with its signal', async () => {
    const { clock, tap } = world();
    const transport = tap();
    const { stop, ended } = start(transport, clock);
    await clock.advance(0);
    expect(transport.watches[0]?.query).toMatchObject({ allowWatchBookmarks: 'true', timeoutSeconds: '3000' });
    stop.abort();
    await ended;
  });
});

describe('what is known to be current', () => {
  const limited = { currentForMs: 90_000 };

  test('is a list as of when it was asked for, a watch once it is open, and each event', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    transport.after = () => clock.sleep(2000);
    const { current } = start(transport, clock);
    await clock.advance(1000);
    expect(current).toEqual([]);
    await clock.advance(9000);
    await createNode(admin, 'n1');
    await clock.advance(0);
    const began = clock.monotonic() - 10_000;
    expect(current.map((at) => at - began)).toEqual([0, 2000, 10_000]);
  });

  test('is nothing by bookmarks: a server that has lost its store goes on sending them', async () => {
    const { clock, tap } = world();
    const { current } = start(tap(), clock);
    await clock.advance(0);
    const before = current.length;
    await clock.advance(1_200_000);
    expect(current).toHaveLength(before);
  });

  test('lasts, because the watch is opened anew in time, where it ended', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    const { current, cache } = start(transport, clock, limited);
    await clock.advance(0);
    for (let minute = 0; minute < 10; minute++) {
      await createNode(admin, `n${minute}`);
      await clock.advance(60_000);
      expect(clock.monotonic() - current.at(-1)!).toBeLessThan(90_000);
    }
    expect(names(cache)).toHaveLength(10);
    expect(transport.requests).toHaveLength(1);
    expect(transport.watches.length).toBeLessThan(13);
  });

  test('is a list again after a gap: a watch brings what was missed by and by', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    const { current, cache } = start(transport, clock, limited);
    await clock.advance(0);
    transport.beforeWatch = () => {
      throw new UnreachableError('refused');
    };
    transport.cut(new UnreachableError('reset'));
    await createNode(admin, 'n1');
    await clock.advance(100_000);
    const before = current.length;
    transport.beforeWatch = () => undefined;
    await clock.advance(40_000);
    expect(current.length).toBeGreaterThan(before);
    expect(names(cache)).toEqual(['n1']);
    expect(transport.requests).toHaveLength(2);
  });

  test('is what was listed anew, where somebody asks for that, and never what a watch of before brings', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    const { current, cache } = start(transport, clock);
    await clock.advance(0);
    await createNode(admin, 'n1');
    cache.relist();
    const before = current.length;
    await clock.advance(0);
    expect(transport.requests).toHaveLength(2);
    expect(names(cache)).toEqual(['n1']);
    expect(current.length - before).toBe(2);
  });

  test('is nothing by a watch that its server neither answers nor ends', async () => {
    const { clock, tap } = world();
    const transport = tap();
    const { current } = start(transport, clock, limited);
    await clock.advance(0);
    const before = current.length;
    transport.hang();
    await clock.advance(600_000);
    expect(current).toHaveLength(before);
    expect(transport.watches.length).toBeGreaterThan(5);
  });
});
