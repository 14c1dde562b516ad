import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Pod } from '../../runtime/kube/objects.ts';
import { collectionPath, objectPath } from '../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';

/** The parts of a pod's spec that say what its container finds in its files and its environment. */
export interface PodTemplate {
  readonly serviceAccountName?: string;
  readonly nodeName?: string;
  readonly containers: readonly {
    readonly name: string;
    readonly args?: readonly string[];
    readonly command?: readonly string[];
    readonly env?: readonly EnvEntry[];
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes?: readonly Volume[];
}

interface EnvEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string };
  readonly projected?: {
    readonly sources: readonly {
      readonly serviceAccountToken?: { readonly audience?: string; readonly path: string };
    }[];
  };
  readonly hostPath?: { readonly path: string };
}

export interface PodFilesOptions {
  readonly transport: KubeTransport;
  /** CA of the Kubernetes API, PEM. */
  readonly caPem: string;
  /** Folder to write into; it must exist. */
  readonly dir: string;
  /** Where a file of the host is on this machine, by its path there. */
  readonly hostFiles: Readonly<Record<string, string>>;
}

/** What a pod's container would find mounted, written below one folder of this machine. */
export interface PodFiles {
  /** Folder with the service account's token, ca.crt and namespace. */
  readonly serviceAccountDir: string;
  /** Path on this machine by the path inside the container. */
  readonly mounts: Readonly<Record<string, string>>;
}

/** A simulation lasts hours at the most, so tokens are made to outlive it instead of being renewed. */
const TOKEN_SECONDS = 7 * 24 * 3600;

/** Writes what the kubelet would mount: the service account, Secrets, projected tokens; host files are where they are. */
export async function writePodFiles(pod: Pod, options: PodFilesOptions): Promise<PodFiles> {
  const { dir, caPem, hostFiles } = options;
  const template = pod.spec as PodTemplate;
  const serviceAccountDir = join(dir, 'serviceaccount');
  await writeAll(serviceAccountDir, {
    token: await requestToken(pod, options),
    'ca.crt': caPem,
    namespace: pod.metadata.namespace ?? 'default',
  });
  const mounts: Record<string, string> = {};
  for (const { name, mountPath } of template.containers[0]?.volumeMounts ?? []) {
    const volume = template.volumes?.find((candidate) => candidate.name === name);
    if (!volume) continue;
    mounts[mountPath] = volume.hostPath ? hostFile(volume.hostPath.path, hostFiles) : join(dir, basename(mountPath));
    if (!volume.hostPath) await writeAll(mounts[mountPath], await contents(pod, volume, options));
  }
  return { serviceAccountDir, mounts };
}

function hostFile(path: string, hostFiles: Readonly<Record<string, string>>): string {
  const file = hostFiles[path];
  if (file === undefined) throw new Error(`the simulated host has no file ${path}`);
  return file;
}

/** The container's environment as its pod states it. */
export function podEnv(pod: Pod): Record<string, string> {
  const template = pod.spec as PodTemplate;
  const entries = template.containers[0]?.env ?? [];
  return Object.fromEntries(
    entries.map((entry) => [entry.name, entry.value ?? field(pod, entry.valueFrom?.fieldRef?.fieldPath)]),
  );
}

function field(pod: Pod, path: string | undefined): string {
  const value = path
    ?.split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], pod);
  return typeof value === 'string' ? value : '';
}

async function contents(pod: Pod, volume: Volume, options: PodFilesOptions): Promise<Record<string, string>> {
  if (volume.secret) return secretFiles(pod, volume.secret.secretName, options.transport);
  const files: Record<string, string> = {};
  for (const { serviceAccountToken: token } of volume.projected?.sources ?? []) {
    if (token) files[token.path] = await requestToken(pod, options, token.audience);
  }
  return files;
}

async function secretFiles(pod: Pod, name: string, transport: KubeTransport): Promise<Record<string, string>> {
  const secrets = collectionPath({ version: 'v1', plural: 'secrets', namespace: pod.metadata.namespace });
  const secret = (await transport.request({ method: 'GET', path: objectPath(secrets, name) })) as {
    data?: Record<string, string>;
  };
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([file, data]) => [file, Buffer.from(data, 'base64').toString('utf8')]),
  );
}

async function requestToken(pod: Pod, { transport }: PodFilesOptions, audience?: string): Promise<string> {
  const { name, namespace, uid } = pod.metadata;
  const accounts = collectionPath({ version: 'v1', plural: 'serviceaccounts', namespace });
  const answer = (await transport.request({
    method: 'POST',
    path: objectPath(accounts, pod.spec?.serviceAccountName ?? 'default', 'token'),
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        ...(audience && { audiences: [audience] }),
        expirationSeconds: TOKEN_SECONDS,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    },
  })) as { status: { token: string } };
  return answer.status.token;
}

async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content, { mode: 0o600 });
}
