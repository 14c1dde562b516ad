import { afterEach, beforeAll } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { httpsTransport, userAgent } from '../../runtime/kube/https.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { type Identity, ScriptedServer, type Seen, selfSigned } from './tls-server.ts';

type Answer = (seen: Seen, response: ServerResponse) => void;

export let identity: Identity;
/** The API server of the test that runs. */
export let server: ScriptedServer;
const listening: ScriptedServer[] = [];

beforeAll(async () => {
  identity = await selfSigned();
});
afterEach(() => listening.splice(0).forEach((one) => one.close()));

export async function serve(answer: Answer): Promise<ScriptedServer> {
  server = new ScriptedServer(identity, answer);
  await server.listen();
  listening.push(server);
  return server;
}

export async function transportTo(answer: Answer): Promise<KubeTransport> {
  return httpsTransport((await serve(answer)).access(), { userAgent: userAgent('test') });
}
