import type { IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request as httpsRequest } from 'node:https';
import { unlessAborted, withDeadline } from '../lib/abort.ts';
import { instantOf, systemClock } from '../lib/clock.ts';
import { VERSION } from '../lib/version.ts';
import type { ClusterAccess, AccessCredentials } from './access.ts';
import { askingAgain } from './asking-again.ts';
import {
  type KubeRequest,
  type KubeTransport,
  type KubeWatch,
  MAX_REQUESTS,
  MAX_SLOW_REQUESTS,
  REQUEST_TIMEOUT_MS,
  type WatchEvent,
} from './transport.ts';
import { readBody, statusError, translated, watchEvents } from './response.ts';

const WATCH_INACTIVITY_MS = 180_000;
/** An idle connection is closed after this time: many load balancers drop one after a minute without telling either side. */
const IDLE_SOCKET_MS = 50_000;
/** After this much silence the system probes whether the other side is still there. It also keeps those load balancers from dropping a watch. */
const KEEPALIVE_MS = 30_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface HttpsOptions {
  /** See `userAgent`. */
  readonly userAgent: string;
  /** Asks for answers in gzip, which makes lists a tenth as large and costs time to unpack. @default false */
  readonly gzip?: boolean;
  /** See `askingAgain`. */
  readonly timeoutMs?: number;
  /** An answer, or a watch event, above this many bytes is refused; default 64 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * Most connections for requests. Further requests wait for a free one, so that a burst costs a bounded number of handshakes. Watches
   * have connections of their own, each a new one: a load balancer then leads them to a server that is ready. Default MAX_REQUESTS.
   */
  readonly maxRequestSockets?: number;
  /** The same for requests that are `slow`, which have connections of their own. Default MAX_SLOW_REQUESTS. */
  readonly maxSlowSockets?: number;
  /** See `askingAgain`. */
  readonly drains?: boolean | undefined;
}

/** e.g. `brupop-agent/0.1.0`. */
export function userAgent(component: string): string {
  return `brupop-${component}/${VERSION}`;
}

/** The Kubernetes API over TLS. Connections are kept alive and used again; see `askingAgain`. */
export function httpsTransport(access: ClusterAccess, options: HttpsOptions): KubeTransport {
  const { drains, timeoutMs } = options;
  const terms = { clock: systemClock, random: Math.random, drains, timeoutMs };
  return askingAgain(new HttpsTransport(access, options), terms);
}

/** One request as it is sent. */
interface OutgoingRequest {
  readonly call: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  readonly agent: Agent;
  /** Milliseconds without a byte after which the connection counts as dead: before the answer begins (`answerMs`), and within it. */
  readonly answerMs: number;
  readonly silenceMs: number;
}

class HttpsTransport implements KubeTransport {
  readonly #access: ClusterAccess;
  /** Path of the server's address; empty for most. */
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #gzip: Readonly<Record<string, string>>;
  readonly #maxBytes: number;
  readonly #requests: Agent;
  readonly #slow: Agent;
  readonly #watches: Agent;

  constructor(access: ClusterAccess, options: HttpsOptions) {
    const { createAgent = plainAgent } = access;
    this.#access = access;
    this.#basePath = new URL(access.server).pathname.replace(/\/+$/, '');
    this.#headers = { accept: 'application/json', 'user-agent': options.userAgent };
    this.#gzip = options.gzip ? { 'accept-encoding': 'gzip' } : {};
    this.#maxBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;
    this.#requests = createAgent(keepAliveOptions(options.maxRequestSockets ?? MAX_REQUESTS));
    this.#slow = createAgent(keepAliveOptions(options.maxSlowSockets ?? MAX_SLOW_REQUESTS));
    this.#watches = createAgent({ keepAlive: false });
  }

  async request(request: KubeRequest): Promise<unknown> {
    const { method, path, timeoutMs = REQUEST_TIMEOUT_MS } = request;
    const deadline = { ms: timeoutMs, clock: systemClock, signal: request.signal };
    try {
      // Node reacts to an abort only once the request has a connection. `unlessAborted` also ends the wait for one.
      return await withDeadline(deadline, (signal) => unlessAborted(this.#answer(request, timeoutMs, signal), signal));
    } catch (error) {
      throw translated(`${method} ${path}`, error);
    }
  }

  async #answer(request: KubeRequest, timeoutMs: number, signal: AbortSignal): Promise<unknown> {
    const { method, path, query, body, contentType = 'application/json', text, slow, onDate } = request;
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const accepted = text ? { accept: 'application/json, */*' } : {};
    const headers = { ...this.#headers, ...accepted, ...this.#gzip, ...bodyHeaders(content.body, contentType) };
    const line = { call: `${method} ${path}`, method, path: pathWithQuery(path, query), headers, ...content };
    const agent = slow ? this.#slow : this.#requests;
    const response = await this.#authorized({ ...line, agent, signal, answerMs: timeoutMs, silenceMs: timeoutMs });
    const date = instantOf(response.headers.date);
    if (date !== undefined) onDate?.(date);
    const answered = await readBody(response, this.#maxBytes);
    return text ? answered : (JSON.parse(answered) as unknown);
  }

  async *watch(watch: KubeWatch): AsyncGenerator<WatchEvent> {
    const { path, query, signal, inactivityMs = WATCH_INACTIVITY_MS, onOpen } = watch;
    const call = `WATCH ${path}`;
    const line = {
      call,
      method: 'GET',
      path: pathWithQuery(path, { ...query, watch: 'true' }),
      headers: this.#headers,
    };
    // The head of the answer comes at once, even where nothing changes for long.
    const patience = { answerMs: Math.min(REQUEST_TIMEOUT_MS, inactivityMs), silenceMs: inactivityMs };
    try {
      const response = await this.#authorized({ ...line, ...patience, signal, agent: this.#watches });
      onOpen?.();
      yield* watchEvents(call, response, this.#maxBytes);
    } catch (error) {
      if (!signal?.aborted) throw translated(call, error);
    }
  }

  /** The response, if it is a success. @throws ApiStatusError if not */
  async #authorized(outgoing: OutgoingRequest): Promise<IncomingMessage> {
    let response = await this.#send(outgoing, await this.#access.credentials());
    if (response.statusCode === 401) {
      // A request with a refused token had no effect, so it can be sent again with the token that has replaced it.
      response.resume();
      response = await this.#send(outgoing, await this.#access.credentials(true));
    }
    if ((response.statusCode ?? 0) < 300) return response;
    throw statusError(outgoing.call, response, await readBody(response, this.#maxBytes));
  }

  /** The server can close a kept connection just as it is used. Only a GET is then sent once more, because it changes nothing. */
  async #send(outgoing: OutgoingRequest, credentials: AccessCredentials): Promise<IncomingMessage> {
    try {
      return await this.#sendOnce(outgoing, credentials);
    } catch (error) {
      if (outgoing.method !== 'GET' || !(error instanceof StaleConnectionError)) throw error;
      return this.#sendOnce(outgoing, credentials);
    }
  }

  /** The deadline covers name lookup, connecting and the handshake: each may hang for ever. */
  #sendOnce(outgoing: OutgoingRequest, { tls, headers }: AccessCredentials): Promise<IncomingMessage> {
    const { method, path, body, signal, agent, answerMs, silenceMs } = outgoing;
    const options = {
      ...tls,
      agent,
      method,
      path: this.#basePath + path,
      headers: { ...outgoing.headers, ...headers },
    };
    const answered = (inner: AbortSignal): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const request = httpsRequest(this.#access.server, { ...options, ...(signal && { signal }) });
        inner.addEventListener('abort', () => request.destroy(inner.reason as Error), { once: true });
        request.once('response', (response) => {
          request.setSocketKeepAlive(true, KEEPALIVE_MS);
          request.setTimeout(silenceMs, () => request.destroy(new Error('silent for too long')));
          resolve(response);
        });
        request.once('error', (error: NodeJS.ErrnoException) => {
          const stale = request.reusedSocket && error.code === 'ECONNRESET';
          reject(stale ? new StaleConnectionError('ECONNRESET', { cause: error }) : error);
        });
        request.end(body);
      });
    return withDeadline({ ms: answerMs, clock: systemClock, signal }, answered);
  }
}

const plainAgent = (kept: AgentOptions): Agent => new Agent(kept);

/** Keeps up to `maxSockets` connections. */
function keepAliveOptions(maxSockets: number): AgentOptions {
  return { keepAlive: true, keepAliveMsecs: KEEPALIVE_MS, timeout: IDLE_SOCKET_MS, maxSockets };
}

/** States the length, which Node leaves out for DELETE: the server would take the body for the next request. */
function bodyHeaders(body: string | undefined, contentType: string): Readonly<Record<string, string>> {
  return body === undefined ? {} : { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) };
}

class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError';
}

function pathWithQuery(path: string, query: Readonly<Record<string, string>> | undefined): string {
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}
