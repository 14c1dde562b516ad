import { expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readApiserverConfig } from '../../runtime/apiserver/config.ts';
import { listenAddress, runApiserver } from '../../runtime/apiserver/run.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { createLogger } from '../../runtime/lib/log.ts';
import { createCa } from '../../sim/cluster/pki.ts';

test('the process serves with the certificate of its folder, and ends when it is asked to', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'apiserver-'));
  const ca = await createCa(systemClock);
  const { certPem, keyPem } = await ca.issue({ commonName: 'a', dnsNames: ['a.svc'] });
  const files = { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': ca.certPem, token: 't', namespace: 'ns' };
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  const config = readApiserverConfig({
    TLS_DIR: dir,
    SERVICE_ACCOUNT_DIR: dir,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    APISERVER_INTERNAL_PORT: '0',
    HTTP_PORT: '0',
  });
  const listening = Promise.withResolvers<number>();
  const logger = createLogger({
    format: 'json',
    ansi: false,
    level: 'info',
    clock: systemClock,
    write: (line) => {
      const { message, port } = JSON.parse(line) as { message: string; port: number };
      if (message === 'listening') listening.resolve(port);
    },
  });
  const stop = new AbortController();
  const ended = runApiserver(config, { signal: stop.signal, logger, clock: systemClock, random: Math.random });
  const port = await Promise.race([listening.promise, ended]);
  const status = await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: port as number, servername: 'a.svc', ca: ca.certPem, path: '/ping' };
    request(options, (incoming) => resolve(incoming.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(200);
  stop.abort();
  await ended;
  await rm(dir, { recursive: true });
});

test.each([
  ['10.0.0.1', '0.0.0.0'],
  ['kubernetes.default.svc', '0.0.0.0'],
  ['fd00::1', '::'],
  ['[fd00::1]', '::'],
])('with the API server at %s it listens on %s', (KUBERNETES_SERVICE_HOST, address) => {
  expect(listenAddress({ KUBERNETES_SERVICE_HOST })).toBe(address);
});
