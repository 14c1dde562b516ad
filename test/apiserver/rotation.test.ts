import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Agent } from 'node:https';
import { HttpsWorld, RESOURCE, servingCertificate } from './https-world.ts';

let https: HttpsWorld;
/** Ends the load, also of a test that has failed or was given up: it must not go on against a server that is gone. */
let over: AbortController;

beforeEach(async () => {
  over = new AbortController();
  https = await HttpsWorld.create();
});
afterEach(async () => {
  over.abort();
  await https.close();
});

test('under load, on new connections and kept ones, no request is lost while the certificate is replaced', async () => {
  const kept = new Agent({ keepAlive: true });
  const send = async (agent: Agent | false): Promise<number | string> => {
    // Nobody waits for the loads before all the rotations are done: what goes wrong until then is kept as an answer.
    const asked = https.send('POST', RESOURCE, { headers: https.identity(), tls: { agent } });
    return asked.then(({ status }) => status).catch(String);
  };
  const load = async (agent: Agent | false): Promise<(number | string)[]> => {
    const answers: (number | string)[] = [];
    while (!over.signal.aborted) answers.push(await send(agent));
    return answers;
  };
  const loads = [...Array.from({ length: 8 }, () => load(false)), ...Array.from({ length: 8 }, () => load(kept))];
  for (let rotation = 0; rotation < 20; rotation++) {
    https.server.use(await servingCertificate());
    await https.send('GET', '/ping');
  }
  over.abort();
  const answers = (await Promise.all(loads)).flat();
  kept.destroy();
  expect(answers.length).toBeGreaterThan(50);
  expect(answers.filter((answer) => answer !== 200)).toEqual([]);
  // Twenty times sixteen requests, half of them with a handshake, in one process: a busy machine takes its time.
});
