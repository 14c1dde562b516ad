import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ClusterAccess } from '../../runtime/kube/access.ts';
import type { WatchEvent } from '../../runtime/kube/transport.ts';

export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for 127.0.0.1 that signs itself. */
export async function selfSigned(): Promise<Identity> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=127.0.0.1',
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true),
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  });
  const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { cert: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` };
}

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An API server that says what it is told to, and remembers what it was asked. */
export class ScriptedServer {
  readonly seen: Seen[] = [];
  connections = 0;
  readonly server: Server;
  readonly #identity: Identity;

  constructor(identity: Identity, answer: (seen: Seen, response: ServerResponse) => void) {
    this.#identity = identity;
    this.server = createServer(identity, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const seen = { method, url, headers, body: Buffer.concat(chunks).toString() };
        this.seen.push(seen);
        answer(seen, response);
      });
    });
    this.server.on('secureConnection', () => this.connections++);
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  access(token = 'secret'): ClusterAccess {
    return {
      server: this.url,
      credentials: async () => ({ tls: { ca: this.#identity.cert }, headers: { authorization: `Bearer ${token}` } }),
    };
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Every event of a watch, until it ends. */
export async function collect(events: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const all: WatchEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** A line of a watch. */
export const event = (type: string, resourceVersion: string, name = 'n1'): string =>
  `${JSON.stringify({ type, object: { metadata: { name, resourceVersion } } })}\n`;
