import { describe, expect, test } from '@jest/globals';
import { NODES, node, settle, world } from './harness.ts';

const label = (value: string): object => ({ metadata: { labels: { role: value } } });

describe('a watch', () => {
  test('remembers no more than it is told to', async () => {
    const { admin } = world({ historyLimit: 5 });
    const { metadata } = await admin.create(NODES, node('n1'));
    for (let step = 0; step < 20; step++) await admin.patch(`${NODES}/n1`, label(`v${step}`));
    const watch = admin.watch(NODES, { resourceVersion: metadata.resourceVersion });
    await settle();
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
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
});
