import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { AccessError, type ClusterAccess, type Impersonation, impersonating, refreshed } from './access.ts';
import { type HttpsOptions, httpsTransport } from './https.ts';
import type { KubeTransport } from './transport.ts';

/** Where a pod finds its cluster, by the names of the environment variables. */
export interface InClusterConfig {
  readonly KUBERNETES_SERVICE_HOST: string;
  readonly KUBERNETES_SERVICE_PORT: string;
  /** Folder with `ca.crt`, `token` and `namespace`. */
  readonly SERVICE_ACCOUNT_DIR: string;
}

/** The cluster that a process works on. */
export interface ClusterConnection {
  readonly transport: KubeTransport;
  /** The operator's own namespace. */
  readonly namespace: string;
  /** Name of the kubeconfig's context; undefined in a pod. */
  readonly context?: string;
}

/** Reaches the cluster as a pod does. @throws AccessError when a file is missing or empty */
export async function connectInCluster(
  config: InClusterConfig,
  client: HttpsOptions,
  as?: Impersonation,
): Promise<ClusterConnection> {
  const namespace = await readAccountFile(config, 'namespace');
  return { transport: httpsTransport(impersonating(inClusterAccess(config), as), client), namespace };
}

/** Access with the pod's own service account. */
export function inClusterAccess(config: InClusterConfig, clock: { monotonic(): number } = systemClock): ClusterAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = config;
  const load = async (): ReturnType<ClusterAccess['credentials']> => {
    const [ca, token] = await Promise.all([readAccountFile(config, 'ca.crt'), readAccountFile(config, 'token')]);
    return { tls: { ca }, headers: { authorization: `Bearer ${token}` } };
  };
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    credentials: refreshed(load, () => clock.monotonic()),
  };
}

async function readAccountFile(
  { SERVICE_ACCOUNT_DIR: folder }: Pick<InClusterConfig, 'SERVICE_ACCOUNT_DIR'>,
  name: string,
): Promise<string> {
  const path = join(folder, name);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new AccessError(`cannot read ${path}`, { cause });
  });
  if (text.trim() === '') throw new AccessError(`${path} is empty`);
  return text.trim();
}
