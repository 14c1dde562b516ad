import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { agentApiClient } from '../../runtime/agent/apiserver/client.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { createCa, type KeyPair } from '../../lab/sim/cluster/pki.ts';
import { ca, HttpsWorld, issue, refusal, RESOURCE, SERVICE, withFiles } from './https-world.ts';

let https: HttpsWorld;

beforeAll(async () => {
  https = await HttpsWorld.create({ requireCertificate: true });
});
afterAll(() => https.close());

const ask = ({ certPem: cert, keyPem: key }: Partial<KeyPair>) =>
  https.send('POST', RESOURCE, { headers: https.identity(), tls: { cert, key } });

test('an agent is heard with a certificate of the CA and its token', async () => {
  expect(await ask(await issue())).toMatchObject({ status: 200 });
});

test('a good token without a certificate, or with one of another CA, is refused', async () => {
  expect(await refusal(ask({}))).toBe('401 Unauthorized');
  const other = await createCa(systemClock, 'another');
  expect(await refusal(ask(await other.issue({ commonName: 'agent' })))).toBe('401 Unauthorized');
});

test('a certificate alone opens nothing', async () => {
  const { certPem: cert, keyPem: key } = await issue();
  expect(await refusal(https.send('POST', RESOURCE, { tls: { cert, key } }))).toBe('401 Unauthorized');
});

test('the Kubernetes API and Prometheus need none', async () => {
  expect(await https.send('POST', '/crdconvert', { body: '{}' })).toMatchObject({ status: 200 });
  expect(await https.send('GET', '/metrics')).toMatchObject({ status: 200 });
});

test('the agents’ client shows the certificate that it has been given', async () => {
  const { certPem, keyPem } = await issue();
  const files = { 'ca.crt': ca.certPem, 'tls.crt': certPem, 'tls.key': keyPem, token: https.token };
  const { nodeName, nodeUid } = https.agent;
  await withFiles(files, async (dir) => {
    const [caPath = '', certPath = '', keyPath = '', tokenPath = ''] = Object.keys(files).map((name) =>
      join(dir, name),
    );
    const target = { host: '127.0.0.1', port: https.server.port, servername: SERVICE };
    const options = { ...target, caPath, tokenPath, clock: systemClock };
    const caller = { nodeName, nodeUid, bootId: 'boot-1' };
    expect(await agentApiClient({ ...options, certificate: { certPath, keyPath } }).createShadow(caller)).toEqual({
      kind: 'ok',
    });
    expect(await agentApiClient(options).createShadow(caller)).toMatchObject({ kind: 'unauthorized' });
  });
});
