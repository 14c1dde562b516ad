import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { createCa } from '../../lab/sim/cluster/pki.ts';
import { eventually } from '../contract/eventually.ts';
import { realCluster } from '../contract/real.ts';
import { Client } from '../kube/client.ts';
import { FRONT_PROXY } from './controlplane/pki.ts';
import { kubectl } from './kubectl.ts';

const GROUP = 'aggregated.example.com';
const SERVICE = { namespace: 'default', name: 'aggregated' };

test('an aggregated API of a Service is asked by the API server, which shows who it is and for whom it asks', async () => {
  const cluster = await realCluster(process.env);
  const ca = await createCa(systemClock, 'aggregated-ca');
  const leaf = await ca.issue({ commonName: 'aggregated', dnsNames: ['aggregated.default.svc'] });
  const clients = await readFile(join(process.env['CONTROLPLANE_DIR'] ?? '', 'pki', 'ca.crt'));
  const options = { cert: leaf.certPem, key: leaf.keyPem, ca: clients, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, ({ url, headers, socket }, response) => {
    const peer = socket as TLSSocket;
    const proxy = peer.authorized && peer.getPeerCertificate().subject.CN;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ url, user: headers['x-remote-user'], proxy }));
  });
  await new Promise<void>((resolve) => server.listen(0, cluster.webhookHost, resolve));
  try {
    await cluster.serve(SERVICE, (server.address() as AddressInfo).port);
    await new Client(httpsTransport(cluster.access, { userAgent: 'e2e' })).create(
      '/apis/apiregistration.k8s.io/v1/apiservices',
      {
        metadata: { name: `v1.${GROUP}` },
        spec: {
          group: GROUP,
          version: 'v1',
          groupPriorityMinimum: 1000,
          versionPriority: 10,
          service: SERVICE,
          caBundle: Buffer.from(ca.certPem).toString('base64'),
        },
      },
    );
    const path = `/apis/${GROUP}/v1/things`;
    const { stdout } = await eventually(() => kubectl('get', '--raw', path));
    expect(JSON.parse(stdout)).toEqual({ url: path, user: 'controlplane-admin', proxy: FRONT_PROXY });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
