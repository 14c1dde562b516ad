import { basename, join } from 'node:path';
import type { Pod } from '../../runtime/kube/objects.ts';
import { collectionPath, objectPath } from '../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { PodToken, type PodTokenOptions } from './pod-token.ts';
import type { ReadinessProbe } from './readiness.ts';
import { type VolumeFiles, writeVolume } from './volume.ts';

/** The parts of a pod's spec that say what its container finds in its files and its environment, and how it is probed. */
export interface PodTemplate {
  readonly serviceAccountName?: string;
  readonly nodeName?: string;
  readonly containers: readonly {
    readonly name: string;
    readonly args?: readonly string[];
    readonly command?: readonly string[];
    readonly env?: readonly EnvEntry[];
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
    readonly readinessProbe?: ReadinessProbe;
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
      readonly serviceAccountToken?: {
        readonly audience?: string;
        readonly expirationSeconds?: number;
        readonly path: string;
      };
    }[];
  };
  readonly hostPath?: { readonly path: string };
}

export interface PodFilesOptions extends PodTokenOptions {
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
  /** Brings Secrets and tokens to what they are now. @throws the transport's errors; what could not be had stays as it was */
  readonly refresh: () => Promise<void>;
}

/** A real API server adds a volume of its own to every pod there; it is the service account, which is written anyway. */
const ACCOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What the files of a folder should be now. */
type Contents = () => Promise<VolumeFiles>;

/** Pause in milliseconds. */
const MOUNT = { tries: 40, pauseMs: 250 };

/**
 * `writePodFiles`, tried for ten seconds: a node may read what its pods name only once the API server has heard itself of their binding.
 * @throws what the last try threw
 */
export async function mountPodFiles(pod: Pod, options: PodFilesOptions & { readonly clock: Clock }): Promise<PodFiles> {
  for (let left = MOUNT.tries; ; left--) {
    try {
      return await writePodFiles(pod, options);
    } catch (error) {
      if (left === 1) throw error;
    }
    await options.clock.sleep(MOUNT.pauseMs);
  }
}

/** Writes what the kubelet would mount: the service account, Secrets, projected tokens; host files are where they are. */
export async function writePodFiles(pod: Pod, options: PodFilesOptions): Promise<PodFiles> {
  const { dir, hostFiles } = options;
  const template = pod.spec as PodTemplate;
  const serviceAccountDir = join(dir, 'serviceaccount');
  const folders = new Map<string, Contents>([[serviceAccountDir, serviceAccount(pod, options)]]);
  const mounts: Record<string, string> = {};
  for (const { name, mountPath } of template.containers[0]?.volumeMounts ?? []) {
    const volume = template.volumes?.find((candidate) => candidate.name === name);
    if (!volume || mountPath === ACCOUNT_PATH) continue;
    mounts[mountPath] = volume.hostPath ? hostFile(volume.hostPath.path, hostFiles) : join(dir, basename(mountPath));
    if (!volume.hostPath) folders.set(mounts[mountPath], contents(pod, volume, options));
  }
  const refresh = async (): Promise<void> => {
    for (const [folder, files] of folders) await writeVolume(folder, await files());
  };
  await refresh();
  return { serviceAccountDir, mounts, refresh };
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

function serviceAccount(pod: Pod, options: PodFilesOptions): Contents {
  const token = new PodToken({ pod, expirationSeconds: accountSeconds(pod.spec as PodTemplate) }, options);
  const fixed = { 'ca.crt': options.caPem, namespace: pod.metadata.namespace ?? 'default' };
  return async () => ({ ...fixed, token: await token.current() });
}

/** By the API server's own volume, where that is. */
function accountSeconds({ containers, volumes = [] }: PodTemplate): number | undefined {
  const mount = containers[0]?.volumeMounts?.find(({ mountPath }) => mountPath === ACCOUNT_PATH);
  const sources = volumes.find(({ name }) => name === mount?.name)?.projected?.sources ?? [];
  return sources.find(({ serviceAccountToken }) => serviceAccountToken)?.serviceAccountToken?.expirationSeconds;
}

function contents(pod: Pod, volume: Volume, options: PodFilesOptions): Contents {
  const { secret, projected } = volume;
  if (secret) return () => secretFiles(pod, secret.secretName, options.transport);
  const tokens = (projected?.sources ?? []).flatMap(({ serviceAccountToken: source }) =>
    source ? [{ path: source.path, token: new PodToken({ pod, ...source }, options) }] : [],
  );
  return async () => {
    const files = await Promise.all(tokens.map(async ({ path, token }) => [path, await token.current()] as const));
    return Object.fromEntries(files);
  };
}

async function secretFiles(pod: Pod, name: string, transport: KubeTransport): Promise<VolumeFiles> {
  const secrets = collectionPath({ version: 'v1', plural: 'secrets', namespace: pod.metadata.namespace });
  const secret = (await transport.request({ method: 'GET', path: objectPath(secrets, name) })) as {
    data?: Record<string, string>;
  };
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([file, data]) => [file, Buffer.from(data, 'base64').toString('utf8')]),
  );
}
