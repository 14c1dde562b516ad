import { spawn, type SpawnOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import type { KubeConfig } from './client-node.ts';

/** What a kubeconfig says of a plug-in that gives credentials. client-node hands it on as it stands in the file. */
interface ExecPlugin {
  readonly apiVersion?: string;
  command?: string;
  env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
  readonly provideClusterInfo?: boolean;
}

type Users = Pick<KubeConfig, 'users'>;

const pluginsOf = ({ users }: Users): readonly ExecPlugin[] =>
  users.flatMap(({ exec }) => (exec ? [exec as ExecPlugin] : []));

/** A command with a slash is relative to the folder of its kubeconfig; one without is looked for on the PATH. */
export function resolvePlugins(config: Users, folder: string): void {
  for (const plugin of pluginsOf(config)) {
    const { command = '' } = plugin;
    if (/[/\\]/.test(command) && !isAbsolute(command)) plugin.command = join(folder, command);
  }
}

/**
 * Runs the plug-in of the current user as kubectl does: with KUBERNETES_EXEC_INFO, and with the terminal, so that it can ask for a password.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
export function preparePlugin(config: KubeConfig): void {
  const plugin = config.getCurrentUser()?.exec as ExecPlugin | undefined;
  if (!plugin) return;
  const interactive = plugin.interactiveMode !== 'Never' && isatty(0);
  const spec = { interactive, ...(plugin.provideClusterInfo && { cluster: clusterOf(config) }) };
  const info = JSON.stringify({ apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec });
  plugin.env = [...(plugin.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: info }];
  const { authenticators } = config as unknown as { readonly authenticators: readonly { execFn?: unknown }[] };
  for (const one of authenticators) if (one.execFn) one.execFn = onTerminal(interactive);
}

function clusterOf(config: KubeConfig): object {
  const { server, caData, caFile, skipTLSVerify, tlsServerName, proxyUrl } = config.getCurrentCluster() ?? {};
  return {
    server,
    'certificate-authority-data': caData ?? (caFile && readFileSync(caFile).toString('base64')),
    'insecure-skip-tls-verify': skipTLSVerify || undefined,
    'tls-server-name': tlsServerName,
    'proxy-url': proxyUrl,
  };
}

/** What it says on a terminal stands there. Elsewhere it becomes part of the error. */
const onTerminal =
  (interactive: boolean) => (command: string, args: readonly string[] | null | undefined, options: SpawnOptions) => {
    const stdin = interactive ? 'inherit' : 'ignore';
    const stderr = process.stderr.isTTY ? 'inherit' : 'pipe';
    const child = spawn(command, args ?? [], { ...options, stdio: [stdin, 'pipe', stderr] });
    // client-node reads it for its error.
    return child.stderr ? child : Object.assign(child, { stderr: Readable.from(['the plug-in has said why']) });
  };
