import { expect, test } from '@jest/globals';
import { httpsTransport } from '../../../runtime/kube/https.ts';
import { embeddedCluster } from '../../contract/embedded.ts';
import { collect } from '../../kube/tls-server.ts';

test('the cluster that ends ends its watches', async () => {
  const cluster = await embeddedCluster();
  const transport = httpsTransport(cluster.access, { userAgent: 'test' });
  const path = '/api/v1/nodes';
  const over = collect(transport.watch({ path })).catch(() => []);
  await transport.request({ method: 'GET', path });
  await cluster.stop();
  expect(await over).toEqual([]);
});
