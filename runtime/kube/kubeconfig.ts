import type { RequestOptions } from 'node:https';
import { systemClock } from '../lib/clock.ts';
import { NAMESPACE } from '../shadow/names.ts';
import type { KubeConfig } from './client-node.ts';
import { AccessError, type ClusterAccess, type Credentials, refreshed } from './credentials.ts';

/**
 * Access by a kubeconfig, with everything that its users may bring (client certificates, tokens, exec and OIDC plug-ins), and the
 * namespace of its context. Proxies are not supported.
 * @throws AccessError
 */
export async function kubeconfigAccess(path: string): Promise<{ access: ClusterAccess; namespace: string }> {
  // Loaded where it is needed only: client-node costs memory and half a second, and a pod has no kubeconfig.
  const { KubeConfig: Config } = await import('./client-node.ts');
  const load = (): KubeConfig => loaded(new Config(), path);
  const config = load();
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new AccessError(`${path}: its current context names no cluster`);
  if (!server.startsWith('https://')) throw new AccessError(`${path}: expected an https:// server, got ${server}`);
  const credentials = refreshed(
    () => credentialsOf(load()),
    () => systemClock.monotonic(),
  );
  await credentials();
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace ?? NAMESPACE;
  return { access: { server, credentials }, namespace };
}

function loaded(config: KubeConfig, path: string): KubeConfig {
  try {
    config.loadFromFile(path);
  } catch (cause) {
    throw new AccessError(`${path} is not a readable kubeconfig`, { cause });
  }
  return config;
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized, auth } = options;
  const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
  const basic = auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
  return {
    tls: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
    headers: { ...(options.headers as Record<string, string>), ...basic },
  };
}
