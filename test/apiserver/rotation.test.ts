import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Agent } from 'node:https';
import { HttpsWorld, RESOURCE, servingCertificate } from './https-world.ts';

let https: HttpsWorld;

beforeEach(async () => {
  https = await HttpsWorld.create();
});
afterEach(() => https.close());

test('under load, on new connections and kept ones, no request is lost while the certificate is replaced', async () => {
  const kept = new Agent({ keepAlive: true });
  const over = new AbortController();
  const load = async (agent: Agent | false): Promise<number[]> => {
    const codes: number[] = [];
    while (!over.signal.aborted) {
      codes.push((await https.send('POST', RESOURCE, { headers: https.identity(), tls: { agent } })).status);
    }
    return codes;
  };
  const loads = [...Array.from({ length: 8 }, () => load(false)), ...Array.from({ length: 8 }, () => load(kept))];
  for (let rotation = 0; rotation < 20; rotation++) {
    https.server.use(await servingCertificate());
    await https.send('GET', '/ping');
  }
  over.abort();
  const answered = (await Promise.all(loads)).flat();
  kept.destroy();
  expect(answered.length).toBeGreaterThan(50);
  expect(answered.filter((code) => code !== 200)).toEqual([]);
});
