import { request as httpRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as HttpsAgent } from 'node:https';
import { withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { readUpTo } from '../../lib/http.ts';
import { VERSION } from '../../lib/version.ts';

/** One request to somebody outside. */
export interface Outgoing {
  readonly method: 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whom to go through. @default nobody */
  readonly proxy?: string | undefined;
  /** The only authorities that are trusted, PEM. @default those of Node */
  readonly ca?: string | undefined;
}

/** What somebody outside has answered. */
export interface Reply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The beginning of the body, as far as it came. */
  readonly body: string;
}

/** From the first byte of the request to the last of the answer. */
const DEADLINE_MS = 10_000;
/** Nobody has more to say. */
const MAX_BYTES = 64 * 1024;

/**
 * Sends one request on a connection of its own. A redirect is an answer like any other: whoever is named there gets no secrets. Once the status
 * is there, it counts, whatever becomes of the rest.
 * @throws DeadlineError, and the system's errors
 */
export function exchange(
  outgoing: Outgoing,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Reply> {
  return withDeadline({ clock, ms: DEADLINE_MS, signal }, async (inner) => {
    const response = await responseTo(outgoing, inner);
    const body = await readUpTo(response as AsyncIterable<Buffer>, MAX_BYTES).catch(() => Buffer.alloc(0));
    response.destroy();
    const { 'retry-after': retryAfter } = response.headers;
    return { status: response.statusCode ?? 0, retryAfter, body: body.subarray(0, MAX_BYTES).toString('utf8') };
  });
}

function responseTo(
  { method, url, headers, body, proxy, ca }: Outgoing,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isPlain = url.protocol === 'http:';
  const proxyEnv = proxy === undefined ? {} : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  const agent = isPlain ? new HttpAgent({ proxyEnv }) : new HttpsAgent({ proxyEnv });
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const described = { 'user-agent': `brupop-controller/${VERSION}`, ...headers, ...length };
  const options = { method, agent, signal, headers: described, ...(ca !== undefined && { ca }) };
  return new Promise((resolve, reject) => {
    const request = (isPlain ? httpRequest : httpsRequest)(url, options, resolve);
    // It may fail once more after the answer has begun.
    request.on('error', reject);
    request.end(body);
  });
}
