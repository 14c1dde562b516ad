import type { Agent, AgentOptions, RequestOptions } from 'node:https';

/** How to reach one API server, and as whom. */
export interface ClusterAccess {
  /** e.g. `https://10.0.0.1:443`, or `https://rancher.example/k8s/clusters/c-1` where others share the address. */
  readonly server: string;
  /** Makes the agent that keeps the connections, where they go through a proxy. */
  readonly createAgent?: ((kept: AgentOptions) => Agent) | undefined;
  /**
   * What the next request is sent with.
   * @param fresh the last ones were refused, so they are read again
   * @throws AccessError
   */
  credentials(fresh?: boolean): Promise<AccessCredentials>;
}

export interface AccessCredentials {
  readonly tls: TlsOptions;
  /** `authorization`, and other headers that say who asks. */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

type TlsOptions = Pick<
  RequestOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'
>;

/** Files or settings do not say how to reach the cluster. The message names the file and never quotes it. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}

/** Tokens and certificates on disk are replaced while a process runs. The old ones stay valid for minutes after that. */
const MAX_AGE_MS = 60_000;

/**
 * Loads credentials again when they are a minute old or were refused. After a load that fails, the last good ones stay in use.
 * @param load `fresh` says that the last ones were refused
 */
export function refreshed(
  load: (fresh: boolean) => Promise<AccessCredentials>,
  monotonic: () => number,
): (fresh?: boolean) => Promise<AccessCredentials> {
  let last: { readonly value: AccessCredentials; readonly at: number } | undefined;
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

/** The user to impersonate. The API server checks that the sender may do that. */
export interface Impersonation {
  readonly user: string;
  readonly groups: readonly string[];
}

/** @see https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ */
export function impersonating(access: ClusterAccess, as: Impersonation | undefined): ClusterAccess {
  if (!as) return access;
  const added = {
    'Impersonate-User': as.user,
    ...(as.groups.length > 0 && { 'Impersonate-Group': [...as.groups] }),
  };
  const credentials: ClusterAccess['credentials'] = async (fresh) => {
    const { tls, headers } = await access.credentials(fresh);
    return { tls, headers: { ...headers, ...added } };
  };
  return { ...access, credentials };
}
