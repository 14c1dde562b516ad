import { basename, join } from 'node:path';
import type { V1Volume } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../runtime/kube/objects.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { PodTokenOptions } from './pod-token.ts';
import { type Contents, contentsOf } from './pod-volumes.ts';
import { type VolumeAccess, writeVolume } from './volume.ts';

export interface PodFilesOptions extends PodTokenOptions {
  /** Folder to write into; it must exist. */
  readonly dir: string;
  /** Where a file of the host is on this machine, by its path there. */
  readonly hostFiles: Readonly<Record<string, string>>;
}

/** What a pod's container would find mounted, written below one folder of this machine. */
export interface PodFiles {
  /** Path on this machine by the path inside the container. */
  readonly mounts: Mounts;
  /** Brings Secrets and tokens to what they are now. @throws the transport's errors; what could not be had stays as it was */
  readonly refresh: () => Promise<void>;
}

export type Mounts = Readonly<Record<string, string>>;

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

/** Writes what the kubelet would mount, and no more: the volumes that the container mounts; files of the host are where they are. */
export async function writePodFiles(pod: Pod, options: PodFilesOptions): Promise<PodFiles> {
  const { dir, hostFiles } = options;
  const { spec = {} } = pod;
  const folders = new Map<string, { readonly contents: Contents; readonly access: VolumeAccess }>();
  const mounts: Record<string, string> = {};
  for (const { name, mountPath } of spec.containers?.[0]?.volumeMounts ?? []) {
    const volume = spec.volumes?.find((candidate) => candidate.name === name);
    if (!volume) continue;
    mounts[mountPath] = volume.hostPath ? hostFile(volume.hostPath.path, hostFiles) : join(dir, basename(mountPath));
    if (volume.hostPath) continue;
    folders.set(mounts[mountPath], { contents: contentsOf(pod, volume, options), access: accessOf(volume, spec) });
  }
  const refresh = async (): Promise<void> => {
    for (const [folder, { contents, access }] of folders) await writeVolume(folder, await contents(), access);
  };
  await refresh();
  return { mounts, refresh };
}

/** As a kubelet has it: the pod's group may read what is mounted for it, and others what the volume says. */
function accessOf({ secret, projected }: Json<V1Volume>, { securityContext }: NonNullable<Pod['spec']>): VolumeAccess {
  const mode = secret?.defaultMode ?? projected?.defaultMode ?? 0o644;
  const group = securityContext?.fsGroup;
  return group === undefined ? { mode } : { mode: mode | 0o440, group };
}

function hostFile(path: string, hostFiles: Readonly<Record<string, string>>): string {
  const file = hostFiles[path];
  if (file === undefined) throw new Error(`the simulated host has no file ${path}`);
  return file;
}
