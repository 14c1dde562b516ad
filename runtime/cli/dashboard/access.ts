import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Why a request is not answered, by its status. */
export interface Denial {
  readonly status: 401 | 403;
  readonly text: string;
}

interface Doors {
  readonly port: number;
  readonly token: string;
}

/** By which names a browser of this machine may call us. Any other leads here by somebody else's DNS. */
const hostsOf = (port: number): readonly string[] => [`127.0.0.1:${port}`, `localhost:${port}`];

/** What every request has to show, files of the page included. */
export function strangerAt({ host }: IncomingHttpHeaders, { port }: Pick<Doors, 'port'>): Denial | undefined {
  if (host !== undefined && hostsOf(port).includes(host)) return undefined;
  return { status: 403, text: 'This is not the address of the dashboard.' };
}

/** What a request for data has to show besides: no other site has sent it, and whoever sent it knows the token. */
export function intruder(headers: IncomingHttpHeaders, { port, token }: Doors): Denial | undefined {
  const { origin, authorization = '', 'sec-fetch-site': site } = headers;
  const isForeign = origin !== undefined && !hostsOf(port).some((host) => origin === `http://${host}`);
  if (isForeign || (site !== undefined && site !== 'same-origin'))
    return { status: 403, text: 'Only the dashboard itself may ask for this.' };
  const given = /^Bearer (.+)$/.exec(authorization)?.[1] ?? '';
  return isSame(given, token) ? undefined : { status: 401, text: 'The token is missing, or it is another one.' };
}

/** In a time that says nothing of where they differ, nor of their lengths. */
function isSame(given: string, token: string): boolean {
  const [one, other] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

/** The page loads from here alone, runs nothing that is written into it, and is in no other page. Nobody learns where it came from. */
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
