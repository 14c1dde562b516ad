import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { FairLimiter } from './fair-limiter.ts';
import type { Logger } from './log.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export type HttpRoute = () => HttpAnswer | Promise<HttpAnswer>;

interface ServeHttpOptions {
  /** TCP port; 0 lets the system choose one. */
  readonly port: number;
  /** Address to listen on. @default every address of the machine */
  readonly host?: string;
  /** Answers to GET and HEAD by exact path; a query is ignored. A route that throws answers 500 and is logged. */
  readonly routes: Readonly<Record<string, HttpRoute>>;
  readonly logger: Logger;
  /** Closes the server and its connections. */
  readonly signal: AbortSignal;
}

/** Several times what the kubelet's probes, some scrapers and a person need. */
const MAX_CONNECTIONS = 16;

/** A short answer in plain text. */
export function textAnswer(status: number, body: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${body}\n` };
}

/** `/healthz` is 200 as long as the process answers, `/readyz` while `ready()` is true. */
export function probeRoutes(ready: () => boolean): Readonly<Record<'/healthz' | '/readyz', HttpRoute>> {
  return {
    '/healthz': () => textAnswer(200, 'ok'),
    '/readyz': () => (ready() ? textAnswer(200, 'ok') : textAnswer(503, 'not ready')),
  };
}

/**
 * A plain HTTP server for probes and metrics. Everybody who can reach the pod can reach it. Each connection is for one request. Resolves once
 * it listens.
 * @throws the system's error (EADDRINUSE, EACCES) when it cannot
 */
export async function serveHttp(options: ServeHttpOptions): Promise<{ readonly port: number }> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    const path = (request.url ?? '/').replace(/\?.*$/, '');
    void answer(options, path, request.method).then((ready) => send(response, ready));
  });
  server.maxRequestsPerSocket = 1;
  boundConnections(server, MAX_CONNECTIONS);
  await listen(server, options);
  options.signal.addEventListener('abort', () => close(server), { once: true });
  if (options.signal.aborted) close(server);
  return { port: (server.address() as AddressInfo).port };
}

/**
 * Keeps at most `max` connections open. Somebody who held all of them would keep others out, the kubelet's probes above all, so the oldest of
 * the address that has the most is closed for the newest.
 * @param onClose told of each that is closed for that
 */
export function boundConnections(server: NetServer, max: number, onClose: () => void = () => undefined): void {
  const connections = new FairLimiter({ max });
  server.on('connection', (socket: Socket) => {
    const makeWay = (): void => {
      onClose();
      socket.destroy();
    };
    const place = connections.hold(socket.remoteAddress ?? '', makeWay);
    socket.once('close', () => place.release());
    if (!place.add(1)) makeWay();
  });
}

async function answer(
  { routes, logger }: ServeHttpOptions,
  path: string,
  method: string | undefined,
): Promise<HttpAnswer> {
  const route = routes[path];
  if (!route) return textAnswer(404, 'not found');
  if (method !== 'GET' && method !== 'HEAD') return textAnswer(405, 'only GET and HEAD');
  try {
    return await route();
  } catch (error) {
    logger.error('route failed', { path, error });
    return textAnswer(500, 'failed');
  }
}

function send(response: ServerResponse, { status, contentType, body }: HttpAnswer): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': contentType, 'content-length': length, connection: 'close' }).end(body);
}

/**
 * Without a host Node listens on `::`, which has the addresses of IPv4 too, and on `0.0.0.0` where there is no IPv6. Which of them a pod has cannot
 * be told from what the API server is called.
 * @throws the system's error (EADDRINUSE, EACCES) when it cannot
 */
export function listen(server: NetServer, { port, host }: Pick<ServeHttpOptions, 'port' | 'host'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): void {
  server.close();
  server.closeAllConnections();
}

/** Reads `chunks` to their end, or until they are longer than `maxBytes`. A result longer than that may be cut off. */
export async function readUpTo(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const read: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    read.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(read);
}

/**
 * For how long an answer asks to be left alone, milliseconds: `Retry-After` is seconds, or a time, which passes by another machine's clock and may
 * be over. Undefined where it says neither.
 * @param now milliseconds since the Unix epoch
 */
export function retryAfterMs(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
