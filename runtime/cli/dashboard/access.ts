import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Why a request is refused, with its HTTP status. */
interface Denial {
  readonly status: 401 | 403;
  readonly text: string;
}

interface AccessTerms {
  readonly port: number;
  readonly token: string;
}

/** The names by which a browser on this machine may call the dashboard. Any other name is a foreign DNS name that points here (DNS rebinding). */
const hostsOf = (port: number): readonly string[] => [`127.0.0.1:${port}`, `localhost:${port}`];

/** Checks the Host header. Every request must pass, also for the files of the page. */
export function denyHost({ host }: IncomingHttpHeaders, { port }: Pick<AccessTerms, 'port'>): Denial | undefined {
  if (host !== undefined && hostsOf(port).includes(host)) return undefined;
  return { status: 403, text: 'This is not the address of the dashboard.' };
}

/** Checks a request for data: no other site may have sent it, and it must have the token. */
export function denyCaller(headers: IncomingHttpHeaders, { port, token }: AccessTerms): Denial | undefined {
  const { origin, authorization = '', 'sec-fetch-site': site } = headers;
  const isForeign = origin !== undefined && !hostsOf(port).some((host) => origin === `http://${host}`);
  if (isForeign || (site !== undefined && site !== 'same-origin'))
    return { status: 403, text: 'Only the dashboard itself may ask for this.' };
  const given = /^Bearer (.+)$/.exec(authorization)?.[1] ?? '';
  return isSame(given, token) ? undefined : { status: 401, text: 'The token is missing, or it is another one.' };
}

/** Compares in a time that tells neither where the texts differ nor their lengths. */
function isSame(given: string, token: string): boolean {
  const [one, other] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

/** The page loads only files from here, runs no inline script, cannot be framed, and sends no referrer. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
