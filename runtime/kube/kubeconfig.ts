import { existsSync, readFileSync } from 'node:fs';
import type { AgentOptions, RequestOptions } from 'node:https';
import { delimiter, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { KubeConfig } from './client-node.ts';
import { preparePlugin, resolvePlugins } from './exec-plugin.ts';
import { type HttpsOptions, httpsTransport } from './https.ts';
import { type ClusterConnection, connectInCluster, type InClusterConfig } from './in-cluster.ts';
import {
  type AccessCredentials,
  AccessError,
  type ClusterAccess,
  type Impersonation,
  impersonating,
  refreshed,
} from './access.ts';

interface AccessConfig extends InClusterConfig {
  /** Path of a kubeconfig; empty = the service account. */
  readonly KUBECONFIG: string;
  /** Name of a context of the kubeconfig. @default its current one */
  readonly context?: string | undefined;
  /** Where the context names none. @default as with kubectl */
  readonly namespace?: string;
  readonly proxyFor?: ProxyFor;
  /** The user to impersonate. @default none: requests are made as the owner of the credentials */
  readonly as?: Impersonation | undefined;
  readonly server?: string | undefined;
  readonly token?: string | undefined;
}

/** The proxy on the way to a server for which the kubeconfig names none. @default there is none */
type ProxyFor = (server: string) => string | undefined;

/**
 * Reaches the cluster as the environment says: by kubeconfig, else as a pod does.
 * @throws AccessError when a file is missing or makes no sense
 */
export async function connect(config: AccessConfig, client: HttpsOptions): Promise<ClusterConnection> {
  if (config.KUBECONFIG === '') return connectInCluster(config, client, config.as);
  const { access, ...named } = await kubeconfigAccess(config.KUBECONFIG, config);
  return { transport: httpsTransport(impersonating(access, config.as), client), ...named };
}

interface KubeconfigOptions {
  /** Name of a context. @default the kubeconfig's current one */
  readonly context?: string | undefined;
  /** Where the context names none. @default as with kubectl */
  readonly namespace?: string;
  readonly proxyFor?: ProxyFor;
  /** Takes the place of the server that the kubeconfig names. */
  readonly server?: string | undefined;
  /** Takes the place of the credentials that the kubeconfig's user has. */
  readonly token?: string | undefined;
  readonly clock?: Pick<Clock, 'monotonic'>;
}

/**
 * Access by a kubeconfig and the namespace of its context. Its users may bring client certificates, tokens, exec and OIDC plug-ins, and an
 * HTTP proxy.
 * @param paths one path, or several as in KUBECONFIG. Like kubectl, it takes what the first file says of a name, and passes over files that do
 *   not exist.
 * @throws AccessError
 */
export async function kubeconfigAccess(
  paths: string,
  { context, namespace = 'default', proxyFor = () => undefined, clock = systemClock, ...given }: KubeconfigOptions = {},
): Promise<{ access: ClusterAccess; namespace: string; context: string }> {
  // Loaded only here: client-node costs memory and half a second, and a pod has no kubeconfig.
  const { KubeConfig: Config, HttpsProxyAgent } = await import('./client-node.ts');
  const load = (files: readonly KubeconfigFile[]) => {
    const config = merged(files, () => new Config());
    if (context !== undefined) choose(config, context);
    override(config, given);
    preparePlugin(config);
    return { files, config };
  };
  let current = load(readFiles(paths));
  const { server, proxy } = clusterOf(current.config, paths, proxyFor);
  const credentials = refreshed(
    (fresh) => {
      // To run a plug-in again takes seconds, or asks a person. Its credentials are kept until they expire, are refused, or the files change.
      const files = readFiles(paths);
      if (fresh || !isDeepStrictEqual(files, current.files)) current = load(files);
      return credentialsOf(current.config);
    },
    () => clock.monotonic(),
  );
  await credentials();
  const name = current.config.getCurrentContext();
  // Node's own way through proxies came with Node 24, and people have older ones.
  const createAgent = proxy === undefined ? undefined : (kept: AgentOptions) => new HttpsProxyAgent({ ...kept, proxy });
  const own = current.config.getContextObject(name)?.namespace;
  return { access: { server, createAgent, credentials }, namespace: own ?? namespace, context: name };
}

/** What the command line says instead of the kubeconfig, as with kubectl: a token takes the place of other credentials. */
function override(config: KubeConfig, { server, token }: Pick<KubeconfigOptions, 'server' | 'token'>): void {
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  if (server !== undefined && cluster)
    config.clusters = config.clusters.map((one) => (one === cluster ? { ...one, server } : one));
  if (token !== undefined && user)
    config.users = config.users.map((one) => (one === user ? { name: one.name, token } : one));
}

/** The contexts of kubeconfigs, for completion. @throws AccessError */
export async function contextsOf(paths: string): Promise<readonly string[]> {
  const { KubeConfig: Config } = await import('./client-node.ts');
  return merged(readFiles(paths), () => new Config()).contexts.map(({ name }) => name);
}

function choose(config: KubeConfig, context: string): void {
  const names = config.contexts.map(({ name }) => name);
  if (!names.includes(context)) {
    throw new AccessError(
      `there is no context ${JSON.stringify(context)}, only ${names.join(', ') || 'an empty kubeconfig'}`,
    );
  }
  config.setCurrentContext(context);
}

interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
}

/** The files that are there. @param paths as in KUBECONFIG @throws AccessError */
export function readFiles(paths: string): readonly KubeconfigFile[] {
  const listed = paths.split(delimiter).filter((path) => path !== '');
  const present = listed.length > 1 ? listed.filter((path) => existsSync(path)) : listed;
  if (present.length === 0) throw new AccessError(`${paths}: none of these kubeconfigs exists`);
  return present.map((path) => ({ path, text: readable(path, () => readFileSync(path, 'utf8')) }));
}

function merged(files: readonly KubeconfigFile[], empty: () => KubeConfig): KubeConfig {
  const configs = files.map(({ path, text }) => {
    const config = empty();
    readable(path, () => config.loadFromString(text));
    config.makePathsAbsolute(dirname(path));
    resolvePlugins(config, dirname(path));
    return config;
  });
  const config = empty();
  config.loadFromOptions({
    clusters: firstOfEach(configs.flatMap(({ clusters }) => clusters)),
    users: firstOfEach(configs.flatMap(({ users }) => users)),
    contexts: firstOfEach(configs.flatMap(({ contexts }) => contexts)),
    currentContext: configs.find(({ currentContext }) => currentContext)?.currentContext ?? '',
  });
  return config;
}

/** @throws AccessError that names the file */
export function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new AccessError(`${path} is not a readable kubeconfig`, { cause });
  }
}

function firstOfEach<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()];
}

interface Reached {
  readonly server: string;
  readonly proxy: string | undefined;
}

function clusterOf(config: KubeConfig, paths: string, proxyFor: ProxyFor): Reached {
  if (!config.getCurrentContext()) {
    const names = config.contexts.map(({ name }) => name).join(', ') || 'none';
    throw new AccessError(`${paths}: no context is current (there are: ${names}): kubectl config use-context sets one`);
  }
  const { server, proxyUrl } = config.getCurrentCluster() ?? {};
  if (server === undefined)
    throw new AccessError(`${paths}: context ${JSON.stringify(config.getCurrentContext())} names no cluster`);
  if (!server.startsWith('https://')) throw new AccessError(`${paths}: expected an https:// server, got ${server}`);
  const proxy = proxyUrl || proxyFor(server);
  // Its value may hold a password.
  if (proxy !== undefined && !/^https?:\/\//.test(proxy)) {
    const named = proxyUrl ? `${paths}: proxy-url` : 'HTTPS_PROXY';
    throw new AccessError(`${named}: expected an http:// or https:// URL, got another scheme`);
  }
  return { server, proxy };
}

async function credentialsOf(config: KubeConfig): Promise<AccessCredentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options).catch((cause: unknown) => {
    throw new AccessError('the kubeconfig gives no credentials', { cause });
  });
  const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized, auth } = options;
  const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
  const basic = auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
  return {
    tls: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
    headers: { ...(options.headers as Record<string, string>), ...basic },
  };
}
