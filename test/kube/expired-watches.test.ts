import { expect, test } from '@jest/globals';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import { Informer } from '../../runtime/kube/informer.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { createNode, patchNode, random, type Tapped, world } from './world.ts';

const gone = () => apiStatusError('WATCH /api/v1/nodes', { code: 410, reason: 'Expired' });

type Storm = (of: {
  readonly transport: Tapped;
  readonly soon: () => Promise<void>;
  readonly admin: KubeTransport;
}) => void;
const storms: Record<string, Storm> = {
  'as its answer': () => {
    throw gone();
  },
  'once the watch has begun': ({ transport, soon }) => void soon().then(() => transport.cut(gone())),
  'after an event': ({ transport, soon, admin }) =>
    void soon()
      .then(() => patchNode(admin, 'n1', { metadata: { labels: { n: String(transport.watches.length) } } }))
      .then(() => transport.cut(gone())),
};
test.each(Object.entries(storms))(
  'lists ever less often where every version is called too old %s, and then goes on',
  async (_, storm) => {
    const { clock, admin, tap } = world();
    await createNode(admin, 'n1');
    const transport = tap();
    transport.beforeWatch = () => storm({ transport, admin, soon: () => clock.sleep(100) });
    const options = { transport, path: NODES_PATH, clock, random, logger: silentLogger };
    const cache = new Informer<Node, object>({ ...options, project: ({ metadata }) => ({ labels: metadata.labels }) });
    void cache.run(new AbortController().signal);
    await clock.advance(60_000);
    expect(transport.requests.length).toBeLessThanOrEqual(8);
    await clock.advance(600_000);
    expect(transport.requests.length).toBeLessThanOrEqual(30);
    transport.beforeWatch = () => undefined;
    await clock.advance(40_000);
    await createNode(admin, 'n2');
    await clock.advance(0);
    expect([...cache.items().keys()]).toEqual(['n1', 'n2']);
    // The watch that has lived ends the storm: what comes then is the first of its kind.
    const before = transport.requests.length;
    transport.cut(gone());
    await clock.advance(0);
    expect(transport.requests).toHaveLength(before + 1);
  },
);
