import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { systemClock } from '../../../runtime/lib/clock.ts';
import type { ApiRequest, EventStream, PlainResponse, UserInfo } from './api.ts';
import type { EmbeddedCluster } from './cluster.ts';
import { actingUser } from './impersonation.ts';
import { decodeProtobuf } from './kubectl/protobuf.ts';
import { createCa } from './pki.ts';
import { badRequest, statusBody, StatusError, unsupportedMediaType } from './status.ts';

export interface ServedCluster {
  readonly url: string;
  /** Certificate of the authority that signed the server's. */
  readonly caPem: string;
  /** A kubeconfig (JSON, which is YAML) for a user, with a random token of its own, or for a token that exists. */
  kubeconfig(identity: UserInfo | { readonly token: string }): string;
  /** Ends all watches and connections. */
  close(): Promise<void>;
}

/** The embedded cluster is for this machine only. */
const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 3 * 1024 * 1024;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** What HTTPS is put in front of. */
export type Servable = Pick<EmbeddedCluster, 'handle' | 'authenticateToken'>;

/** Puts HTTPS in front of the cluster, with a certificate of its own. */
export async function serveCluster(cluster: Servable): Promise<ServedCluster> {
  const ca = await createCa(systemClock);
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const leaf = await ca.issue({ commonName: 'kube-apiserver', dnsNames: names, ips: [HOST] });
  const front = new Front(cluster, createServer({ cert: leaf.certPem, key: leaf.keyPem, keepAliveTimeout: 90_000 }));
  const url = `https://${HOST}:${await front.listen()}`;
  return {
    url,
    caPem: ca.certPem,
    kubeconfig: (identity) => kubeconfig({ url, caPem: ca.certPem, token: front.tokenFor(identity) }),
    close: () => front.close(),
  };
}

class Front {
  readonly #cluster: Servable;
  readonly #server: Server;
  readonly #users = new Map<string, UserInfo>();
  readonly #streams = new Set<EventStream>();
  /** Those in a handshake, too, which the server itself does not end. */
  readonly #sockets = new Set<Socket>();

  constructor(cluster: Servable, server: Server) {
    this.#cluster = cluster;
    this.#server = server;
  }

  async listen(): Promise<number> {
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch((error: unknown) =>
        response.destroy(error instanceof Error ? error : undefined),
      );
    });
    // exec, attach and port-forward ask for another protocol.
    this.#server.on('upgrade', (_request, socket) =>
      socket.end('HTTP/1.1 501 Not Implemented\r\nconnection: close\r\n\r\n'),
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.listen(0, HOST);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  tokenFor(identity: UserInfo | { readonly token: string }): string {
    if ('token' in identity) return identity.token;
    const token = randomBytes(24).toString('base64url');
    this.#users.set(token, identity);
    return token;
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.close();
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const user = actingUser(this.#authenticate(request.headers.authorization), request.headers);
      const answer = await this.#cluster.handle(await read(request), user);
      if ('stream' in answer) await this.#stream(answer.stream, response);
      else send(response, answer, request.headers['accept-encoding']);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      send(response, { status: error.status.code, body: statusBody(error.status) });
    }
  }

  #authenticate(authorization: string | undefined): UserInfo {
    const token = /^bearer +(\S.*)$/i.exec(authorization ?? '')?.[1];
    // What shows no token, be it in another scheme, is nobody's in particular.
    if (token === undefined) return ANONYMOUS;
    const user = this.#users.get(token) ?? this.#cluster.authenticateToken(token);
    if (!user) throw new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
    return user;
  }

  /** One JSON document a line, for as long as both sides want. */
  async #stream(stream: EventStream, response: ServerResponse): Promise<void> {
    this.#streams.add(stream);
    response.on('close', () => stream.close());
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    try {
      for await (const event of stream) {
        // A client that is gone closes the stream, which ends the loop.
        if (!response.write(`${JSON.stringify(event)}\n`) && !response.destroyed) await drained(response);
      }
    } finally {
      this.#streams.delete(stream);
    }
    response.end();
  }
}

/** When the client has read on, or has gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}

async function read(request: IncomingMessage): Promise<ApiRequest> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://cluster');
  const { accept = '*/*', 'content-type': contentType = '', 'user-agent': userAgent = '' } = request.headers;
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { accept, 'content-type': contentType, 'user-agent': userAgent },
    body: parse(await readBody(request), contentType),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      const message = `Request entity too large: limit is ${MAX_BODY_BYTES}`;
      throw new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws StatusError 400, 415. An apply patch is YAML; it is refused further on, in words of its own. */
function parse(body: Buffer, contentType: string): unknown {
  if (body.length === 0 || contentType.startsWith('application/apply-patch')) return undefined;
  const decoded = contentType === PROTOBUF ? decodeProtobuf(body) : undefined;
  if (decoded !== undefined) return decoded;
  if (contentType !== '' && !/json/i.test(contentType)) throw unsupportedMediaType(['application/json']);
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    throw badRequest('the object provided is unrecognized: the body of the request is not JSON');
  }
}

/** As kube-apiserver does: a smaller answer is not worth it. */
const GZIP_FROM_BYTES = 128 * 1024;

function send(
  response: ServerResponse,
  { status, body, headers }: PlainResponse,
  accepted: string | string[] = '',
): void {
  const plain = typeof body === 'string';
  const text = Buffer.from(plain ? body : JSON.stringify(body));
  const isPacked = accepted.includes('gzip') && text.length >= GZIP_FROM_BYTES;
  const content = isPacked ? gzipSync(text, { level: 1 }) : text;
  response.writeHead(status, {
    'content-type': plain ? 'text/plain; charset=utf-8' : 'application/json',
    'content-length': content.length,
    ...(isPacked && { 'content-encoding': 'gzip' }),
    ...headers,
  });
  response.end(content);
}

function kubeconfig({ url, caPem, token }: { url: string; caPem: string; token: string }): string {
  const name = 'embedded';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
