import { createServer as createPlain, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Identity } from '../../kube/tls-server.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that is told how to answer, and remembers what it was sent. */
export class Receiver {
  readonly received: Received[] = [];
  readonly #server: Server;

  constructor(answer: RequestListener, identity?: Identity) {
    const listener: RequestListener = (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        this.received.push({ method, path, headers, body });
        answer(request, response);
      });
    };
    this.#server = identity ? createSecure(identity, listener) : createPlain(listener);
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A proxy that connects, and remembers to where and with which credentials. */
export class ConnectProxy {
  readonly asked: string[] = [];
  readonly #server = createPlain((_, response) => response.writeHead(501).end());

  constructor(isOpen: (credentials: string | undefined) => boolean = () => true) {
    this.#server.on('connect', ({ url = '', headers }: IncomingMessage, client) => {
      this.asked.push(url);
      if (!isOpen(headers['proxy-authorization'])) {
        client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        return;
      }
      const upstream = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      for (const socket of [upstream, client]) socket.on('error', () => [upstream, client].map((one) => one.destroy()));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
