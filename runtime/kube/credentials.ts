import type { RequestOptions } from 'node:https';

/** How to reach one API server, and as whom. */
export interface ClusterAccess {
  /** e.g. `https://10.0.0.1:443`, or `https://rancher.example/k8s/clusters/c-1` where others share the address. */
  readonly server: string;
  /** URL of an HTTP proxy on the way there. @default none */
  readonly proxy?: string | undefined;
  /**
   * What the next request goes out with.
   * @param fresh the last ones were refused: read them again
   * @throws AccessError
   */
  credentials(fresh?: boolean): Promise<Credentials>;
}

export interface Credentials {
  readonly tls: TlsOptions;
  /** `authorization`, and whatever else says who asks. */
  readonly headers: Readonly<Record<string, string>>;
}

export type TlsOptions = Pick<
  RequestOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'
>;

/** The way to the cluster cannot be made out from the files and settings that there are. The message names the file, never its content. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}

/** Tokens and certificates on disk are replaced while a process runs; the old ones hold for minutes after that. */
const MAX_AGE_MS = 60_000;

/**
 * Credentials that are loaded again when they are a minute old or were refused. A load that fails leaves the last good ones in use.
 * @param load `fresh` says that the last ones were refused
 */
export function refreshed(
  load: (fresh: boolean) => Promise<Credentials>,
  monotonic: () => number,
): (fresh?: boolean) => Promise<Credentials> {
  let last: { readonly value: Credentials; readonly at: number } | undefined;
  return async (fresh = false) => {
    if (last && !fresh && monotonic() - last.at < MAX_AGE_MS) return last.value;
    try {
      last = { value: await load(fresh), at: monotonic() };
    } catch (error) {
      if (!last) throw error;
    }
    return last.value;
  };
}
