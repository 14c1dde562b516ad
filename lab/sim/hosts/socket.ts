import { chmod, chown, link, rename, rm } from 'node:fs/promises';
import http from 'node:http';
import type { Socket } from 'node:net';
import { DROPPED, type HostAnswer, text } from './answer.ts';
import type { SimulatedHost } from './host.ts';

/** As the host's own server has them. */
const TIMEOUTS = { keepAliveTimeout: 5000, headersTimeout: 5000, connectionsCheckingInterval: 1000 };
/** Bottlerocket's group of those who may use its API. */
const API_GROUP = 274;
const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** A simulated host's API on a unix socket. While the host's API server is away its file stays, as a real one's does; the next one unlinks it. */
export class HostSocket {
  readonly #host: SimulatedHost;
  readonly #path: string;
  #server: http.Server | undefined;
  #change: Promise<void> = Promise.resolve();
  #unobserve: (() => void) | undefined;
  /** Whether the file is that of a server that is away. */
  #left = false;

  constructor(host: SimulatedHost, path: string) {
    this.#host = host;
    this.#path = path;
  }

  /** Resolves when the socket can be connected to, or at once while the host is down. @throws where the path cannot be bound */
  async start(): Promise<void> {
    // One after the other: a socket that vanishes while it is being made must not outlive its host.
    this.#unobserve = this.#host.observe({
      onSocket: (listening) => {
        this.#change = this.#change.then(() => (listening ? this.#listen() : this.#close()));
      },
    });
    if (this.#host.listening) this.#change = this.#listen();
    await this.#change;
  }

  /** Closes all connections and removes the socket file. */
  async stop(): Promise<void> {
    this.#unobserve?.();
    await this.#change;
    await this.#close();
    await rm(this.#path, { force: true });
  }

  async #listen(): Promise<void> {
    const server = http.createServer(TIMEOUTS, (request, response) => {
      this.#serve(request).then(
        (answer) => send(response, answer),
        () => response.destroy(),
      );
    });
    if (this.#left) await rm(this.#path, { force: true });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#path, resolve);
    });
    await chmod(this.#path, 0o660);
    // Only root can. Whoever else runs the simulation owns the socket, and runs the agents.
    await chown(this.#path, -1, API_GROUP).catch(() => undefined);
  }

  /** Node removes a server's socket file with it, so the file has a second name meanwhile. */
  async #close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const kept = `${this.#path}.kept`;
    await link(this.#path, kept);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    await rename(kept, this.#path);
    this.#left = true;
  }

  async #serve(request: http.IncomingMessage): Promise<HostAnswer> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return text(413, '');
      chunks.push(chunk);
    }
    if (!request.method || !request.url) return DROPPED;
    const body = Buffer.concat(chunks).toString('utf8');
    return this.#host.handle({ method: request.method, path: request.url, body });
  }
}

function send(response: http.ServerResponse, answer: HostAnswer): void {
  if (answer.kind === 'dropped') return void response.destroy();
  if (answer.kind === 'never') return;
  const body = Buffer.from(answer.body);
  if (answer.status === 204 && body.length > 0) return sendOddly(response, answer.body);
  response.statusCode = answer.status;
  if (answer.status !== 204) response.setHeader('content-length', body.length);
  if (answer.kind === 'cut') {
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
    return;
  }
  if (answer.contentType !== undefined) response.setHeader('content-type', answer.contentType);
  response.end(body);
}

/** A body where HTTP allows none, as the host's own server sends it. */
function sendOddly(response: http.ServerResponse, body: string): void {
  const { socket } = response;
  response.detachSocket(socket as Socket);
  socket?.end(`HTTP/1.1 204 No Content\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${body}`);
}
