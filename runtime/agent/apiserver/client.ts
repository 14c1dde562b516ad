import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { unlessAborted, withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { readUpTo } from '../../lib/http.ts';
import { jsonObject } from '../../lib/json.ts';
import { shortened } from '../../lib/parts.ts';
import type { AgentStatus } from '../../api/shadow/model.ts';
import type { State } from '../../api/shadow/states.ts';
import { HEADERS, PATHS, type RefusalBody, type RefusalReason } from '../../api/agent/protocol.ts';

/** Who asks. Every request states it, and the apiserver compares it with the token. */
export interface Caller {
  readonly nodeName: string;
  readonly nodeUid: string;
  /** Boot id of the host. */
  readonly bootId: string;
}

/** What the apiserver does to the caller's Node, or looks at for it. Each is safe to ask for again. */
export type NodeAction = Exclude<keyof typeof PATHS, 'resource'>;

export type ApiAnswer =
  | { readonly kind: 'ok' }
  /** 409: the rules, or a newer shadow or node, do not allow it now. Look again. */
  | { readonly kind: 'refused'; readonly message: string }
  /** 401, 403: the token or the identity was not accepted. Either can be renewed. */
  | { readonly kind: 'unauthorized'; readonly message: string }
  /** No answer came. The request may have taken effect or not. Ask again. */
  | { readonly kind: 'again'; readonly message: string }
  /** 504: the drain's deadline has passed. The message names every pod that is left, and why. */
  | { readonly kind: 'deadline'; readonly message: string }
  /** A schema or an admission policy refuses this status, however often it is sent. Nothing was written. */
  | { readonly kind: 'rejected'; readonly message: string }
  /** Any other refusal. Asking again will not soon help. */
  | { readonly kind: 'failed'; readonly message: string };

/** The operator's apiserver as an agent sees it. It does not retry. Calls reject only with the signal's reason. */
export interface AgentApi {
  /** Creates the caller's shadow. Also `ok` where it exists. */
  createShadow(caller: Caller, signal?: AbortSignal): Promise<ApiAnswer>;
  /** Merges `put.status` into the shadow if that still has the resourceVersion `put.shadowVersion`. */
  putStatus(caller: Caller, put: StatusPut, signal?: AbortSignal): Promise<ApiAnswer>;
  act(caller: Caller, action: NodeAction, signal?: AbortSignal): Promise<ApiAnswer>;
}

export interface StatusPut {
  readonly status: AgentStatus;
  /** The resourceVersion of the shadow that the status was made from. */
  readonly shadowVersion: string;
  /** The state that this shadow says was reached; undefined where it says none. */
  readonly shadowState?: State | undefined;
}

interface ClientOptions {
  readonly host: string;
  readonly port: number;
  /** Address to dial where `host` cannot be resolved; empty = none. */
  readonly fallbackHost?: string;
  /** Asks DNS. @default the system's resolver */
  readonly resolve?: (name: string, terms: LookupOptions & { readonly all: true }) => Promise<LookupAddress[]>;
  /** The name that the certificate must bear. */
  readonly servername: string;
  readonly caPath: string;
  readonly tokenPath: string;
  /** The caller's own certificate; undefined where the apiserver wants none. */
  readonly certificate?: { readonly certPath: string; readonly keyPath: string } | undefined;
  readonly clock: Clock;
  /** How long one request may take, milliseconds; 60,000 by default. A drain outlives its request by ten seconds. */
  readonly timeoutMs?: number;
  /** How long a connection is kept that nobody uses, milliseconds. @default KEPT_MS */
  readonly keptMs?: number;
}

interface Ask {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly caller: Caller;
  readonly seen?: Omit<StatusPut, 'status'>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A request as it is sent. */
export interface Outgoing {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** Sends one request and resolves with its answer. Rejects where no whole answer comes, and with the signal's reason. */
export type RoundTrip = (outgoing: Outgoing, signal: AbortSignal) => Promise<Reply>;

interface ClientParts extends Pick<ClientOptions, 'clock' | 'timeoutMs'> {
  readonly roundTrip: RoundTrip;
  /** The caller's present token, which the kubelet renews. */
  readonly token: () => Promise<string>;
}

const TIMEOUT_MS = 60_000;
/** How long a connection is kept that nobody uses. Until then the replica that has answered knows who asks, and what the shadow was. */
const KEPT_MS = 10_000;
/** How long the answer to a status may take that nobody waits for any more. */
const LATE_MS = 1000;
/** A DNS lookup may take this long. If DNS drops queries, a resolver with several search domains would try for longer than a request may last. */
const DNS_PATIENCE_MS = 5000;
/** A refused drain names every pod of its node. A thousand pods with long names and reasons fit. */
const MAX_REPLY_BYTES = 1 << 20;
const MAX_PLAIN_BYTES = 1_000;

/**
 * The apiserver over TLS. Each request reads token and CA from disk, and shares a connection only with those that were decided just before. So
 * a renewed token, a rotated CA and a replica that is gone or ends need no further code.
 */
export function agentApiClient(options: ClientOptions): AgentApi {
  const token = (): Promise<string> => readFile(options.tokenPath, 'utf8');
  const { keptMs: timeout = KEPT_MS } = options;
  const via = { ...options, connections: new Agent({ keepAlive: true, maxSockets: 1, timeout }) };
  const roundTrip: RoundTrip = (outgoing, signal) => {
    // A written status ends its step as soon as the watch shows it, mostly before the answer. That still comes, and keeps the connection.
    const cut = outgoing.method === 'PUT' ? later(signal, options.clock) : signal;
    return unlessAborted(overTls(via, outgoing, cut), signal);
  };
  return agentApi({ ...options, token, roundTrip });
}

/** Aborts a while after `signal`. */
function later(signal: AbortSignal, clock: Clock): AbortSignal {
  const late = new AbortController();
  const abort = (): void => void clock.sleep(LATE_MS).then(() => late.abort(signal.reason));
  signal.addEventListener('abort', abort, { once: true });
  return late.signal;
}

/** A client of the apiserver over any transport. */
export function agentApi(parts: ClientParts): AgentApi {
  const ask = (call: Ask): Promise<ApiAnswer> => answerOf(parts, call);
  return {
    createShadow: (caller, signal) => ask({ method: 'POST', path: PATHS.resource, caller, signal }),
    putStatus: (caller, { status, ...seen }, signal) =>
      ask({ method: 'PUT', path: PATHS.resource, caller, signal, seen, body: JSON.stringify(status) }),
    act: (caller, action, signal) => ask({ method: 'POST', path: PATHS[action], caller, signal }),
  };
}

async function answerOf(
  { clock, roundTrip, token, timeoutMs: ms = TIMEOUT_MS }: ClientParts,
  call: Ask,
): Promise<ApiAnswer> {
  const { method, path, body, signal } = call;
  try {
    const reply = await withDeadline({ clock, ms, signal }, async (limited) =>
      roundTrip({ method, path, headers: headers(call, await token()), body }, limited),
    );
    return classify(reply);
  } catch (error) {
    if (signal?.aborted) throw error;
    return { kind: 'again', message: plainReason(error) };
  }
}

interface Via extends ClientOptions {
  readonly connections: Agent;
}

async function overTls(options: Via, { body, ...outgoing }: Outgoing, signal: AbortSignal): Promise<Reply> {
  const tls = await tlsFiles(options);
  const { host, port, servername, connections } = options;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(signal.aborted ? signal.reason : error);
    const asked = request(
      {
        ...outgoing,
        host,
        port,
        servername,
        // Node asks for a list, because by default it chooses between IPv4 and IPv6 itself.
        lookup: callbackify((name: string, terms: LookupOptions) => resolved(options, name, terms)) as LookupFunction,
        ...tls,
        signal,
        agent: connections,
      },
      (incoming) => {
        readReply(incoming).then(resolve, fail);
      },
    );
    asked.on('error', fail);
    asked.end(body);
  });
}

/**
 * Resolves the name by DNS, or to `fallbackHost`. The cluster DNS may have no running pod: where its pods fit only on the cordoned node,
 * they wait until it is uncordoned, and only the apiserver does that.
 */
async function resolved(options: ClientOptions, name: string, terms: LookupOptions): Promise<LookupAddress[]> {
  const { clock, fallbackHost: address = '', resolve = lookup } = options;
  const family = isIP(address);
  const answer = resolve(name, { ...terms, all: true });
  if (family === 0) return answer;
  try {
    return await withDeadline({ clock, ms: DNS_PATIENCE_MS }, (signal) => unlessAborted(answer, signal));
  } catch {
    return [{ address, family }];
  }
}

/** A longer body is cut and not refused, because its HTTP status says what matters. */
async function readReply(incoming: IncomingMessage): Promise<Reply> {
  const { statusCode: status = 0, socket } = incoming;
  const body = await readUpTo(incoming, MAX_REPLY_BYTES);
  // Another replica may have time, or reach the Kubernetes API, where this one has not.
  if (status >= 429) socket.destroy();
  return { status, body: body.toString() };
}

async function tlsFiles({ caPath, certificate }: ClientOptions): Promise<Record<string, Buffer>> {
  const ca = await readFile(caPath);
  if (!certificate) return { ca };
  const [cert, key] = await Promise.all([readFile(certificate.certPath), readFile(certificate.keyPath)]);
  return { ca, cert, key };
}

function headers({ caller, seen, body }: Ask, token: string): Record<string, string> {
  return {
    [HEADERS.nodeName]: caller.nodeName,
    [HEADERS.nodeUid]: caller.nodeUid,
    [HEADERS.bootId]: caller.bootId,
    [HEADERS.token]: token.trim(),
    ...(seen && { [HEADERS.shadowVersion]: seen.shadowVersion }),
    ...(seen?.shadowState && { [HEADERS.shadowState]: seen.shadowState }),
    ...(body === undefined
      ? { 'content-length': '0' }
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  };
}

/** Reasons that concern the status itself: of the Kubernetes API, or of an apiserver with an older model. */
const REJECTIONS: ReadonlySet<string> = new Set<RefusalReason>(['StatusRefused', 'InvalidStatus']);

const KINDS: Readonly<Record<number, Exclude<ApiAnswer['kind'], 'ok'>>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  409: 'refused',
  429: 'again',
  503: 'again',
  504: 'deadline',
};

/** What an answer means. The older implementation's apiserver answers in plain text, or with a bare 500. */
export function classify({ status, body }: Reply): ApiAnswer {
  if (status >= 200 && status < 300) return { kind: 'ok' };
  const { error, reason } = readRefusal(body);
  const message = `${status}: ${error}`;
  if (reason !== undefined && REJECTIONS.has(reason)) return { kind: 'rejected', message };
  return { kind: KINDS[status] ?? 'failed', message };
}

function readRefusal(body: string): { readonly error: string; readonly reason?: string } {
  const { error, reason } = jsonObject(body) as Partial<Record<keyof RefusalBody, unknown>>;
  if (typeof error === 'string') return { error, ...(typeof reason === 'string' && { reason }) };
  return { error: shortened(body.trim(), MAX_PLAIN_BYTES) || 'no reason given' };
}

/** The system's code for a failed connection, e.g. `ECONNREFUSED`, because its message also holds addresses and paths. */
function plainReason(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code ?? message ?? 'no answer';
}
