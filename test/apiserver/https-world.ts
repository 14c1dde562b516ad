import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import { type ServeOptions, serveTls, type TlsServer } from '../../runtime/apiserver/serve.ts';
import type { ServingCertificate } from '../../runtime/apiserver/tls.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { createCa, type KeyPair } from '../../lab/sim/cluster/pki.ts';
import { inTime } from '../in-time.ts';
import { addAccounts, addAgentPod, projectedToken } from './agents.ts';
import { type Replica, type ReplicaSettings, World } from './world.ts';

export const SERVICE = 'brupop-apiserver.ns.svc';
export const RESOURCE = '/bottlerocket-node-resource';

export const ca = await createCa(systemClock);
export const issue = (): Promise<KeyPair> => ca.issue({ commonName: 'apiserver', dnsNames: [SERVICE] });

export async function servingCertificate(): Promise<ServingCertificate> {
  const { certPem, keyPem } = await issue();
  return { cert: certPem, key: keyPem, expires: Infinity };
}

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Ask {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Options of the request, of the connection above all. */
  readonly tls?: object;
}

export interface HttpsSettings extends ReplicaSettings {
  readonly limits?: NonNullable<ServeOptions['limits']>;
}

/** A replica behind real TLS on the loopback, with one agent and its token. */
export class HttpsWorld {
  readonly world: World;
  readonly replica: Replica;
  readonly server: TlsServer;
  readonly agent: VerifiedAgent;
  readonly token: string;
  readonly #inside: Server;

  private constructor(
    parts: Pick<HttpsWorld, 'world' | 'replica' | 'server' | 'agent' | 'token'> & { readonly inside: Server },
  ) {
    ({ world: this.world, replica: this.replica, server: this.server, agent: this.agent, token: this.token } = parts);
    this.#inside = parts.inside;
  }

  static async create(settings: HttpsSettings = {}): Promise<HttpsWorld> {
    const world = await World.create();
    const replica = world.replica(settings);
    const certificate = {
      ...(await servingCertificate()),
      ...(settings.requireCertificate && { clientCa: ca.certPem }),
    };
    const { limits = {} } = settings;
    const servers: Server[] = [];
    const guard = (inside: Server, maxConnections: number): void => {
      servers.push(inside);
      replica.guard(inside, maxConnections);
    };
    const place = { host: '127.0.0.1', port: 0 };
    const server = await serveTls({ handle: replica.handle, guard, ...place, certificate, limits });
    const [inside] = servers as [Server];
    const agent = await world.agent();
    await addAccounts(world);
    await addAgentPod(world, 'agent-1');
    return new HttpsWorld({ world, replica, server, inside, agent, token: await projectedToken(world) });
  }

  close(): Promise<void> {
    return this.server.close(systemClock, 0);
  }

  /** How many connections the server still knows of. */
  connections(): Promise<number> {
    return promisify(this.#inside.getConnections.bind(this.#inside))();
  }

  identity(): Record<string, string> {
    const { nodeName, nodeUid } = this.agent;
    return { BrupopNodeName: nodeName, BrupopNodeUid: nodeUid, BrupopK8sAuthToken: this.token };
  }

  /** A connection without requests. @param localAddress of the client */
  async socket(localAddress = '127.0.0.1'): Promise<TLSSocket> {
    const place = { host: '127.0.0.1', port: this.server.port, localAddress };
    const socket = connect({ ...place, ca: ca.certPem, servername: SERVICE });
    socket.on('error', () => undefined);
    await inTime('the handshake', once(socket, 'secureConnect'));
    return socket;
  }

  send(method: string, path: string, { body, headers = {}, tls }: Ask = {}): Promise<Reply> {
    const { port } = this.server;
    const target = { host: '127.0.0.1', port, servername: SERVICE, ca: ca.certPem, agent: false, method, path };
    const reply = new Promise<Reply>((resolve, reject) => {
      const outgoing = request({ ...target, headers, ...tls }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text, headers: incoming.headers }));
        incoming.on('error', reject);
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
    // A test that has failed meanwhile waits for no answer: the end of its server must not end the whole test process.
    reply.catch(() => undefined);
    return reply;
  }
}

/** Refusals with this reason, as the metric counts them. */
export async function counted({ replica }: HttpsWorld, reason: string): Promise<number | undefined> {
  const { values } = await replica.metrics.refusals.get();
  return values.find(({ labels }) => labels.reason === reason)?.value;
}

/** Status and reason of a refusal. */
export async function refusal(reply: Promise<Reply>): Promise<string> {
  const { status, body } = await reply;
  return `${status} ${(JSON.parse(body) as { reason: string }).reason}`;
}

/** Files by name in a folder of their own, for as long as `work` runs. */
export async function withFiles<T>(
  files: Readonly<Record<string, string>>,
  work: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'apiserver-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}
