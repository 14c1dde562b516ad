import { request as httpRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as HttpsAgent } from 'node:https';
import { withDeadline } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { readUpTo } from '../../../lib/http.ts';
import { VERSION } from '../../../lib/version.ts';

/** One request to a server outside of the cluster. */
export interface Outgoing {
  readonly method: 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** URL of the proxy. @default none */
  readonly proxy?: string | undefined;
  /** The only authorities that are trusted, PEM. @default those of Node */
  readonly ca?: string | undefined;
}

/** The answer of such a server. */
export interface Reply {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The beginning of the body, as far as it came. */
  readonly body: string;
}

/** From the first byte of the request to the last of the answer. */
const DEADLINE_MS = 10_000;
/** Most bytes of an answer that are read: no useful answer is longer. */
const MAX_BYTES = 64 * 1024;

/**
 * Sends one request on a connection of its own. A redirect is not followed, so that no other server gets the secrets. Once the status has come, it
 * counts, also if the rest of the answer fails.
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
    // Not `once`: it may fail again after the answer has begun.
    request.on('error', reject);
    request.end(body);
  });
}
