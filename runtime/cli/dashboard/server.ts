import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { intruder, SECURITY_HEADERS, strangerAt } from './access.ts';
import { Listener } from './stream.ts';
import type { Message, Past } from './wire.ts';

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

interface Serving {
  /** 0 for any that is free. */
  readonly port: number;
  readonly token: string;
  /** What `urlForOnce` has in place of it. */
  readonly ticket: string;
  /** By path. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** All that is known, for a page that has just come. */
  whole(): Message;
  /** @throws as `KubeTransport.request`, and RefusedCommandError where there is no such node */
  pastOf(node: string): Promise<Past>;
  /** What went wrong, in words. */
  explained(error: unknown): string;
}

/** Pages that may listen at a time, and connections of theirs. */
const MOST = { listeners: 16, connections: 64 } as const;
const LOOPBACK = '127.0.0.1';
const NODES = '/api/nodes/';
const TOKEN = '/api/token';

/** The dashboard on this machine's own address: nothing can be changed through it. */
export class DashboardServer {
  readonly #server: Server;
  readonly #serving: Serving;
  readonly #listeners = new Set<Listener>();
  readonly #came = new EventEmitter();
  #ticket: string | undefined;

  private constructor(serving: Serving) {
    this.#serving = serving;
    this.#ticket = serving.ticket;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.maxConnections = MOST.connections;
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

  /** What comes after # stays in the browser: no server is told of it, and no other page. */
  get url(): string {
    return `http://${LOOPBACK}:${this.port}/#token=${this.#serving.token}`;
  }

  /** For one page alone: others can read the arguments of the program that opens a browser, for as long as that runs. */
  get urlForOnce(): string {
    return `http://${LOOPBACK}:${this.port}/#ticket=${this.#serving.ticket}`;
  }

  /** Resolves while a page listens, or when the signal aborts. */
  async listenedTo(signal: AbortSignal): Promise<void> {
    while (this.#listeners.size === 0 && !signal.aborted)
      await once(this.#came, 'listener', { signal }).catch(() => undefined);
  }

  tell(message: Message): void {
    for (const listener of this.#listeners) listener.tell(message);
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
      strangerAt(headers, { port }) ??
      wrongWay(route, method) ??
      (route?.token === undefined ? undefined : intruder(headers, { port, token: route.token }));
    if (denial) refuse(response, denial);
    else await route?.answer(response);
  }

  #routeTo(path: string): Route | undefined {
    const file = this.#serving.files.get(path);
    if (file) return { token: undefined, answer: (response) => send(response, 200, file) };
    const { token } = this.#serving;
    if (path === '/api/stream') return { token, answer: (response) => this.#listen(response) };
    if (path.startsWith(NODES))
      return { token, answer: (response) => this.#tellPast(path.slice(NODES.length), response) };
    if (path !== TOKEN || this.#ticket === undefined) return undefined;
    return { token: this.#ticket, answer: (response) => this.#tellToken(response) };
  }

  #tellToken(response: ServerResponse): void {
    this.#ticket = undefined;
    send(response, 200, { type: 'text/plain', text: this.#serving.token });
  }

  #listen(response: ServerResponse): void {
    if (this.#listeners.size >= MOST.listeners)
      return refuse(response, { status: 503, text: 'Too many pages are open.' });
    const listener = new Listener(response, () => this.#serving.whole());
    this.#listeners.add(listener);
    this.#came.emit('listener');
    response.on('close', () => this.#listeners.delete(listener));
  }

  async #tellPast(name: string, response: ServerResponse): Promise<void> {
    try {
      const past = await this.#serving.pastOf(decodeURIComponent(name));
      send(response, 200, { type: 'application/json', text: JSON.stringify(past) });
    } catch (error) {
      refuse(response, { status: error instanceof URIError ? 400 : 502, text: this.#serving.explained(error) });
    }
  }
}

interface Route {
  /** What has to be shown; undefined for what says nothing of the cluster: it is there for whoever is on this machine. */
  readonly token: string | undefined;
  answer(response: ServerResponse): void | Promise<void>;
}

interface Refusal {
  readonly status: number;
  readonly text: string;
}

function wrongWay(route: Route | undefined, method: string | undefined): Refusal | undefined {
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
