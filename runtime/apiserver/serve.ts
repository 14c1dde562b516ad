import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import type { Apiserver } from './apiserver.ts';
import type { ServingCertificate } from './tls.ts';

export interface ServeOptions {
  readonly handle: Apiserver['handle'];
  readonly port: number;
  /** Address to listen on. */
  readonly host: string;
  readonly certificate: ServingCertificate;
}

export interface TlsServer {
  readonly port: number;
  /** New connections get this certificate; those that there are go on. */
  use(certificate: ServingCertificate): void;
  /** Takes no more connections, lets requests end for up to `graceMs` milliseconds and closes all. */
  close(clock: Clock, graceMs: number): Promise<void>;
}

/** Bounds on what a client may cost: slow headers, slow bodies, large headers. An answer may take as long as a drain. */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000, maxHeaderSize: 16 * 1024 };
const MIN_VERSION = 'TLSv1.2';

/** Serves the API over TLS. @throws the system's error when the port cannot be had */
export async function serveTls({ handle, port, host, certificate }: ServeOptions): Promise<TlsServer> {
  const { cert, key } = certificate;
  const server = createServer({ ...LIMITS, cert, key, minVersion: MIN_VERSION }, (request, response) => {
    void handle(request, response);
  });
  await listen(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    use: ({ cert: newCert, key: newKey }) =>
      server.setSecureContext({ cert: newCert, key: newKey, minVersion: MIN_VERSION }),
    close: (clock, graceMs) => close(server, clock, graceMs),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function close(server: Server, clock: Clock, graceMs: number): Promise<void> {
  const ended = new AbortController();
  server.close(() => ended.abort());
  server.closeIdleConnections();
  await clock.sleep(graceMs, ended.signal).catch(() => undefined);
  server.closeAllConnections();
}
