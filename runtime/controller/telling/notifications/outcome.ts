import { retryAfterMs } from '../../../lib/http.ts';
import type { Reply } from './exchange.ts';

/** What became of one attempt. The words never hold an address, a header or a body: an address may be a secret itself. */
export type DeliveryOutcome =
  | { readonly kind: 'accepted'; readonly status: number }
  /** Another attempt would end the same way. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'later'; readonly why: string; readonly afterMs: number };

/** Answers of 4xx that a later attempt may not get. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);
/** What `Retry-After` may ask for at most. */
const LONGEST_PAUSE_MS = 3_600_000;

/** @param now milliseconds since the Unix epoch */
export function outcomeOf({ status, retryAfter }: Reply, now: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted', status };
  const isTransient = status >= 500 || TRANSIENT.has(status);
  const afterMs = Math.min(retryAfterMs(retryAfter, now) ?? 0, LONGEST_PAUSE_MS);
  if (isTransient) return { kind: 'later', why: `it answers ${status}`, afterMs };
  const redirects = status >= 300 && status < 400;
  return {
    kind: 'refused',
    why: redirects ? `it redirects (${status}), which is not followed` : `it answers ${status}`,
  };
}

/** The outcome of a request that got no answer. Only the error's code is shown, because its message names the address. */
export function failureOf(error: unknown): Extract<DeliveryOutcome, { kind: 'later' }> {
  const { code, name } = error as NodeJS.ErrnoException;
  const isLate = name === 'AbortError' || name === 'DeadlineError' || code === 'ABORT_ERR';
  const why = isLate
    ? 'no answer in time'
    : (WORDS[code ?? ''] ?? `no answer${code === undefined ? '' : ` (${code})`}`);
  return { kind: 'later', why, afterMs: 0 };
}

const WORDS: Readonly<Record<string, string>> = {
  ERR_PROXY_TUNNEL: 'the proxy does not let it through',
  ENOTFOUND: 'no such host',
  ECONNREFUSED: 'nobody listens there',
};
