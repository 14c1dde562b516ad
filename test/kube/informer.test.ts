import { describe, expect, test } from '@jest/globals';
import { Informer } from '../../runtime/kube/informer.ts';
import { apiStatusError, UnreachableError } from '../../runtime/kube/errors.ts';
import { PAGE_SIZE } from '../../runtime/kube/collection.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { createNode, deleteNode, patchNode, random, type Tapped, world } from './world.ts';

const gone = () => apiStatusError('WATCH /api/v1/nodes', { code: 410, reason: 'Expired' });

interface Seen {
  readonly cordoned: boolean;
}

const seen = (node: Node): Seen => ({ cordoned: node.spec?.unschedulable === true });

interface Watched {
  readonly query?: Record<string, string>;
  readonly project?: (node: Node) => Seen;
}

function start(
  transport: Tapped,
  clock: ReturnType<typeof world>['clock'],
  { query = {}, project = seen }: Watched = {},
) {
  const options = { transport, path: NODES_PATH, query, project, clock, random, logger: silentLogger };
  const cache = new Informer<Node, Seen>(options);
  const stop = new AbortController();
  let changes = 0;
  cache.onChange(() => changes++);
  const ended = cache.run(stop.signal);
  return { cache, stop, ended, changes: () => changes };
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

  test('a server that calls every version too old is not asked without pause', async () => {
    const { clock, tap } = world();
    const transport = tap();
    transport.beforeWatch = () => {
      throw gone();
    };
    start(transport, clock);
    await clock.advance(60_000);
    expect(transport.requests.length).toBeLessThan(130);
  });

  test('an outage of an hour costs few requests, and ends with what is true then', async () => {
    const { clock, admin, tap } = world();
    const transport = tap();
    transport.before = () => {
      throw new UnreachableError('refused');
    };
    const { cache } = start(transport, clock);
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
