import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket, connect } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { ADMIN } from '../../lab/sim/cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../../lab/sim/cluster/https.ts';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';

/** Answers over the wire, counted by a relay before the API server. */

const PATH = '/api/v1/namespaces/default/configmaps';
/** Of the large answer. */
const LENGTH = 400_000;

let stage: Stage;
let served: ServedCluster;
let bytes = 0;
const relay = createServer((client: Socket) => {
  const upstream = connect(Number(new URL(served.url).port), '127.0.0.1');
  upstream.on('data', (chunk: Buffer) => (bytes += chunk.length));
  client.pipe(upstream).pipe(client);
  for (const end of [client, upstream]) end.on('error', () => undefined);
});

beforeEach(async () => {
  stage = await Stage.with();
  await stage.create(PATH, { metadata: { name: 'large' }, data: { text: 'node '.repeat(LENGTH / 5) } });
  served = await serveCluster(stage.cluster);
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
});
afterEach(async () => {
  relay.close();
  await served.close();
  await stage.end();
});

test('a large answer comes in gzip where that is asked for, and says the same', async () => {
  const path = join(folder, 'config');
  const { port } = relay.address() as AddressInfo;
  await writeFile(path, served.kubeconfig(ADMIN).replace(served.url, `https://127.0.0.1:${port}`));
  const { access } = await kubeconfigAccess(path);
  const answerOf = async (gzip: boolean) => {
    bytes = 0;
    const answer = await httpsTransport(access, { userAgent: 'test', gzip }).request({ method: 'GET', path: PATH });
    return { answer, bytes };
  };
  const [packed, plain] = [await answerOf(true), await answerOf(false)];
  expect(packed.answer).toEqual(plain.answer);
  expect(plain.bytes).toBeGreaterThan(LENGTH);
  expect(packed.bytes).toBeLessThan(LENGTH / 10);
});
