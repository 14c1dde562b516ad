import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions, SecureVersion, TLSSocket } from 'node:tls';
import type { Clock } from '../lib/clock.ts';
import { listen } from '../lib/http.ts';
import type { Apiserver } from './apiserver.ts';
import type { ServingCertificate } from './tls.ts';

export interface ServeOptions {
  readonly handle: Apiserver['handle'];
  readonly guard: Apiserver['guard'];
  readonly port: number;
  /** Address to listen on. @default every address of the pod */
  readonly host?: string;
  readonly certificate: ServingCertificate;
  /** Bounds on what a client may cost. @default LIMITS */
  readonly limits?: Partial<typeof LIMITS>;
}

export interface TlsServer {
  readonly port: number;
  /** New connections get this certificate. Open ones keep theirs. */
  use(certificate: ServingCertificate): void;
  /** Takes no more connections, lets requests end for up to `graceMs` milliseconds and closes all. */
  close(clock: Clock, graceMs: number): Promise<void>;
}

/**
 * What clients may cost, in milliseconds and bytes: slow handshakes, headers and bodies, large headers. An answer may take as long as a
 * drain. A connection costs up to 80 KB of memory, handshake included: so many fit into what the manifest allows.
 */
export const LIMITS = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** How often the two above are looked at. */
  connectionsCheckingInterval: 5_000,
  /**
   * The Kubernetes API closes an idle connection after 90 s. If this server closed it at that moment, a conversion that is being sent would
   * be lost.
   */
  keepAliveTimeout: 100_000,
  /** A client whose machine or network is gone never closes its connection. Unless it is probed, its drain would go on for ever. */
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  maxHeaderSize: 16 * 1024,
  maxConnections: 1_500,
};
const MIN_VERSION: SecureVersion = 'TLSv1.2';

function context({ cert, key, clientCa }: ServingCertificate): SecureContextOptions {
  return { cert, key, minVersion: MIN_VERSION, ...(clientCa && { ca: clientCa }) };
}

/**
 * Serves the API over TLS. Where the certificate comes with a CA of clients, they are asked for theirs, and the routes decide who needs one:
 * the Kubernetes API has none when it asks for conversions.
 * @throws the system's error when the port cannot be had
 */
export async function serveTls(options: ServeOptions): Promise<TlsServer> {
  const { handle, guard, port, host, certificate, limits } = options;
  const asking = { requestCert: certificate.clientCa !== undefined, rejectUnauthorized: false };
  const { maxConnections, ...timesAndSizes } = { ...LIMITS, ...limits };
  const server = createServer({ ...timesAndSizes, ...asking, ...context(certificate) }, (request, response) => {
    void handle(request, response);
  });
  guard(server, maxConnections);
  const unused = new Set<TLSSocket>();
  server.on('secureConnection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket as TLSSocket));
  await listen(server, { port, ...(host !== undefined && { host }) });
  return {
    port: (server.address() as AddressInfo).port,
    use: (next) => server.setSecureContext(context(next)),
    close: (clock, graceMs) => close(server, unused, { clock, graceMs }),
  };
}

/** @param unused connections that have asked for nothing, which Node does not count as idle. The Kubernetes API opens some that it does not need */
async function close(
  server: Server,
  unused: ReadonlySet<TLSSocket>,
  { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
): Promise<void> {
  const ended = new AbortController();
  server.close(() => ended.abort());
  server.closeIdleConnections();
  for (const socket of unused) socket.destroy();
  server.on('secureConnection', (socket) => socket.destroy());
  await clock.sleep(graceMs, ended.signal).catch(() => undefined);
  server.closeAllConnections();
}
