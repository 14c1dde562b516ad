import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { DownloadHTTPError } from 'tuf-js/dist/error.js';
import { readUpTo } from '../lib/http.ts';
import { VERSION } from '../lib/version.ts';

/** A repository answers what is not taken from it. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
}

/** Bytes of one file. The largest of a repository has about 200 KB. */
export const MAX_BYTES = 4 * 1024 * 1024;

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly ca?: string | undefined;
  /** `HTTPS_PROXY` and `NO_PROXY` of it count. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @default the system's */
  readonly lookup?: typeof systemLookup | undefined;
}

/** Addresses at which a machine is told its secrets, and which no repository has. */
const REFUSED = new BlockList();
REFUSED.addSubnet('169.254.0.0', 16);
REFUSED.addSubnet('0.0.0.0', 8);
REFUSED.addSubnet('224.0.0.0', 3);
REFUSED.addAddress('100.100.100.200');
REFUSED.addAddress('168.63.129.16');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addSubnet('ff00::', 8, 'ipv6');
REFUSED.addAddress('::', 'ipv6');
REFUSED.addAddress('fd00:ec2::254', 'ipv6');

const isRefused = (address: string): boolean => REFUSED.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * One file of a repository, over a connection of its own. No redirect is followed, because it may lead anywhere.
 * @throws DownloadHTTPError of another status than 200; FetchError; the system's errors
 */
export async function fetchFile(text: string, options: FetchOptions): Promise<Buffer> {
  const url = new URL(text);
  if (url.protocol !== 'https:') throw new FetchError(`${url.protocol}// is not taken: https:// alone`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isRefused(host)) throw refused(host, host);
  const response = await responseTo(url, options);
  try {
    const { statusCode: status = 0 } = response;
    if (status >= 300 && status < 400) throw new FetchError(`it redirects (${status}), which is not followed`);
    if (status !== 200) throw new DownloadHTTPError(`${url.pathname.split('/').at(-1)}: ${status}`, status);
    const body = await readUpTo(response as AsyncIterable<Buffer>, MAX_BYTES);
    if (body.length > MAX_BYTES) throw new FetchError(`a file has more than ${MAX_BYTES / 1024 / 1024} MiB`);
    return body;
  } finally {
    response.destroy();
  }
}

function responseTo(url: URL, { signal, ca, env, lookup = systemLookup }: FetchOptions): Promise<IncomingMessage> {
  const proxyEnv = { HTTPS_PROXY: of(env, 'HTTPS_PROXY'), NO_PROXY: of(env, 'NO_PROXY') };
  const agent = new Agent({ proxyEnv });
  const headers = { 'user-agent': `brupop-controller/${VERSION}` };
  const trusted = ca !== undefined && { ca };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, { agent, signal, headers, lookup: lookupBy(lookup), ...trusted }, resolve);
    // Not `once`: it may fail again after the answer has begun.
    request.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error));
    request.end();
  });
}

const of = (env: FetchOptions['env'], name: string): string | undefined => env[name] || env[name.toLowerCase()];

/** A name that leads to a refused address leads nowhere, also by one of several. Through a proxy it is the proxy that looks it up. */
const lookupBy =
  (lookup: typeof systemLookup): LookupFunction =>
  (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return done(error, '', 0);
      const bad = found.find(({ address }) => isRefused(address));
      if (bad) return done(refused(host, bad.address), '', 0);
      if (options.all) return done(null, found);
      const [first] = found;
      return done(null, first?.address ?? '', first?.family ?? 0);
    });
  };

const refused = (host: string, address: string): FetchError =>
  new FetchError(`${host} is ${address}, an address that no repository has`);
