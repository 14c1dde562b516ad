import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { denyCaller, SECURITY_HEADERS, denyHost } from './access.ts';
import { Listener, type MessageSource } from './stream.ts';
import type { MessageBody, NodePast } from './wire.ts';

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

interface Serving extends MessageSource {
  /** 0 for any that is free. */
  readonly port: number;
  readonly token: string;
  /** A token for one use, in `urlForOnce`. */
  readonly ticket: string;
  /** Files of the page by path. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** @throws as `KubeTransport.request`, and RefusedCommandError where there is no such node */
  pastOf(node: string): Promise<NodePast>;
  /** An error in words. */
  explain(error: unknown): string;
}

/** Most pages that may be connected, and most connections. */
const MAX = { listeners: 16, connections: 64 } as const;
const LOOPBACK = '127.0.0.1';
const NODES = '/api/nodes/';
const TOKEN = '/api/token';

/** Serves the dashboard on the loopback address. It only answers GET, so nothing can be changed through it. */
export class DashboardServer {
  readonly #server: Server;
  readonly #serving: Serving;
  readonly #listeners = new Set<Listener>();
  readonly #connections = new EventEmitter();
  #ticket: string | undefined;

  private constructor(serving: Serving) {
    this.#serving = serving;
    this.#ticket = serving.ticket;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.maxConnections = MAX.connections;
  }

  /** @throws Error where the port is taken */
  static async listening(serving: Serving): Promise<DashboardServer> {
    const dashboard = new DashboardServer(serving);
    dashboard.#server.listen(serving.port, LOOPBACK);
    await once(dashboard.#server, 'listening');
    return dashboard;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address for the user. The browser sends what follows # to no server. */
  get url(): string {
    return `http://${LOOPBACK}:${this.port}/#token=${this.#serving.token}`;
  }

  /** The address for the program that opens the browser. Other users can see its arguments, so its ticket is good for one page only. */
  get urlForOnce(): string {
    return `http://${LOOPBACK}:${this.port}/#ticket=${this.#serving.ticket}`;
  }

  /** Resolves when a page is connected, or when the signal aborts. */
  async connected(signal: AbortSignal): Promise<void> {
    while (this.#listeners.size === 0 && !signal.aborted)
      await once(this.#connections, 'listener', { signal }).catch(() => undefined);
  }

  send(body: MessageBody): void {
    for (const listener of this.#listeners) listener.send(body);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    for (const listener of this.#listeners) listener.close();
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer({ method, headers, url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const [path = '/'] = url.split('?');
    const route = this.#routeTo(path);
    const { port } = this;
    const denial =
      denyHost(headers, { port }) ??
      denyRoute(route, method) ??
      (route?.token === undefined ? undefined : denyCaller(headers, { port, token: route.token }));
    if (denial) refuse(response, denial);
    else await route?.answer(response);
  }

  #routeTo(path: string): Route | undefined {
    const file = this.#serving.files.get(path);
    if (file) return { token: undefined, answer: (response) => send(response, 200, file) };
    const { token } = this.#serving;
    if (path === '/api/stream') return { token, answer: (response) => this.#listen(response) };
    if (path.startsWith(NODES))
      return { token, answer: (response) => this.#sendPast(path.slice(NODES.length), response) };
    if (path !== TOKEN || this.#ticket === undefined) return undefined;
    return { token: this.#ticket, answer: (response) => this.#sendToken(response) };
  }

  #sendToken(response: ServerResponse): void {
    this.#ticket = undefined;
    send(response, 200, { type: 'text/plain', text: this.#serving.token });
  }

  #listen(response: ServerResponse): void {
    if (this.#listeners.size >= MAX.listeners)
      return refuse(response, { status: 503, text: 'Too many pages are open.' });
    const listener = new Listener(response, this.#serving);
    this.#listeners.add(listener);
    this.#connections.emit('listener');
    response.on('close', () => this.#listeners.delete(listener));
  }

  async #sendPast(name: string, response: ServerResponse): Promise<void> {
    try {
      const past = await this.#serving.pastOf(decodeURIComponent(name));
      send(response, 200, { type: 'application/json', text: JSON.stringify(past) });
    } catch (error) {
      refuse(response, { status: error instanceof URIError ? 400 : 502, text: this.#serving.explain(error) });
    }
  }
}

interface Route {
  /** The token that the request must have; undefined for files of the page, which hold no data of the cluster. */
  readonly token: string | undefined;
  answer(response: ServerResponse): void | Promise<void>;
}

interface Refusal {
  readonly status: number;
  readonly text: string;
}

function denyRoute(route: Route | undefined, method: string | undefined): Refusal | undefined {
  if (!route) return { status: 404, text: 'There is nothing here.' };
  return method === 'GET' ? undefined : { status: 405, text: 'The dashboard can only be read.' };
}

function refuse(response: ServerResponse, { status, text }: Refusal): void {
  if (status === 405) response.setHeader('allow', 'GET');
  send(response, status, { type: 'text/plain', text: `${text}\n` });
}

function send(response: ServerResponse, status: number, { type, text }: PageFile): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
